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

// A key identifies an object.
type key struct {
	group, kind, namespace, name string
}

func (k key) String() string { return k.kind + " " + strings.TrimPrefix(k.namespace+"/"+k.name, "/") }

// clusterScoped holds the cluster-scoped kinds of Kubernetes, by group. Objects of all other kinds are namespaced,
// unless a CRD of the module defines otherwise.
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

// keys is the set of objects of one part of a module.
type keys map[key]bool

func (o keys) add(k key) error {
	if o[k] {
		return errors.Errorf("duplicate object %s", k)
	}
	o[k] = true
	return nil
}

// contents holds the content of those parts of a module that have been read.
type contents struct {
	crds crdSet
	// installs holds the name of the install of each object.
	installs map[key]string
}

// add adds the objects that an install would apply. It adds CRDs first, as other objects may be of their kinds.
func (c contents) add(ctx context.Context, install, namespace string, objects []*unstructured.Unstructured, w *warnings) error {
	own := keys{}
	for _, u := range objects {
		if !isCRD(u) {
			continue
		}
		if err := c.crds.add(ctx, u, install, own, w); err != nil {
			return err
		}
	}
	for _, u := range objects {
		if isCRD(u) {
			continue
		}
		k := c.keyOf(u, namespace)
		if err := own.add(k); err != nil {
			return err
		}
		if other, ok := c.installs[k]; ok {
			return errors.Errorf("%s is also part of install %q", k, other)
		}
		warnOfImages(u, k, w)
	}
	for k := range own {
		c.installs[k] = install
	}
	return nil
}

// keyOf returns the key that an object would have in a cluster.
func (c contents) keyOf(u *unstructured.Unstructured, namespace string) key {
	gk := u.GroupVersionKind().GroupKind()
	k := key{group: gk.Group, kind: gk.Kind, name: u.GetName()}
	if c.namespaced(gk) {
		k.namespace = or(u.GetNamespace(), namespace)
	}
	return k
}

func (c contents) namespaced(gk schema.GroupKind) bool {
	if slices.Contains(strings.Fields(clusterScoped[gk.Group]), gk.Kind) {
		return false
	}
	d := c.crds.find(gk)
	return d == nil || d.namespaced()
}
