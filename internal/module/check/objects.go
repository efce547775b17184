// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A key names an object.
type key struct {
	group, kind, namespace, name string
}

func (k key) String() string { return k.kind + " " + strings.TrimPrefix(k.namespace+"/"+k.name, "/") }

// clusterScoped kinds of Kubernetes, by group. Objects of all other kinds are in
// a namespace, unless a definition of the module says otherwise.
var clusterScoped = map[string]string{ //nolint:gochecknoglobals // A constant table.
	"": "Namespace Node PersistentVolume",
	"admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration " +
		"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apiextensions.k8s.io":         "CustomResourceDefinition",
	"apiregistration.k8s.io":       "APIService",
	"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle",
	"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
	"networking.k8s.io":            "IngressClass IPAddress ServiceCIDR",
	"node.k8s.io":                  "RuntimeClass",
	"policy":                       "PodSecurityPolicy",
	"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding",
	"resource.k8s.io":              "DeviceClass ResourceSlice",
	"scheduling.k8s.io":            "PriorityClass",
	"storage.k8s.io":               "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
}

// take what an install would apply: definitions are learnt first, as other
// objects may be of their kinds.
func (c *checker) take(ctx context.Context, install, namespace string, objects []*unstructured.Unstructured) error {
	own := map[key]bool{}
	for _, u := range objects {
		if !isDefinition(u) {
			continue
		}
		if err := c.define(ctx, u, install, own); err != nil {
			return err
		}
	}
	for _, u := range objects {
		if isDefinition(u) {
			continue
		}
		k := c.keyOf(u, namespace)
		if own[k] {
			return errors.Errorf("%s is there twice", k)
		}
		if other, ok := c.seen[k]; ok {
			return errors.Errorf("%s is part of install %q too", k, other)
		}
		own[k] = true
		c.images(u, k)
	}
	for k := range own {
		c.seen[k] = install
	}
	return nil
}

// keyOf an object as it would be in a cluster.
func (c *checker) keyOf(u *unstructured.Unstructured, namespace string) key {
	gk := u.GroupVersionKind().GroupKind()
	k := key{group: gk.Group, kind: gk.Kind, name: u.GetName()}
	if c.namespaced(gk) {
		k.namespace = or(u.GetNamespace(), namespace)
	}
	return k
}

func (c *checker) namespaced(gk schema.GroupKind) bool {
	if slices.Contains(strings.Fields(clusterScoped[gk.Group]), gk.Kind) {
		return false
	}
	d := c.definitionOf(gk)
	return d == nil || d.namespaced()
}
