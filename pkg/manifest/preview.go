// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Preview is what one part of a set would apply, as far as that can be told without a cluster.
type Preview struct {
	// Install is the name of the install, or empty for the custom resource definitions, which come first, and for the
	// custom resource, which comes last.
	Install string
	// Chart and Version of a chart, and its default values; empty for all else.
	Chart, Version string
	Values         map[string]any
	// Objects as they would be applied, without the labels of the engine. Where only a cluster knows whether a kind has
	// namespaces, that of the object is as it is written.
	Objects []*unstructured.Unstructured
	// Err says why there are no objects.
	Err error
}

// Preview the parts of a set in the order in which they are applied. Charts are rendered as for a first install into a
// cluster of a version, such as v1.36.3, in which nothing can be looked up. The error is about the set as a whole.
func (s *Set) Preview(ctx context.Context, kubeVersion string) ([]Preview, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	// What an install is depends on the set only.
	w := &work{s: s}
	parts := s.outline()
	out := make([]Preview, 0, len(parts))
	places := scopes{}
	for i := range parts {
		p, in := w.preview(ctx, &parts[i], kubeVersion)
		if err := w.transform(ctx, p.Objects...); err != nil {
			p.Objects, p.Err = nil, err
		}
		places.learn(p.Objects)
		for _, u := range p.Objects {
			places.place(in, u)
		}
		out = append(out, p)
	}
	return out, nil
}

func (w *work) preview(ctx context.Context, p *part, kubeVersion string) (Preview, *installation) {
	var out Preview
	var in *installation
	switch {
	case p.crds != nil:
		out.Objects, out.Err = definitions(ctx, p.crds)
	case p.install != nil:
		out.Install = p.install.Name
		if in, out.Err = w.configure(ctx, p.install); out.Err != nil {
			return out, nil
		}
		if p.install.Form != FormChart {
			out.Objects, out.Err = w.asIs(ctx, p.install)
			return out, in
		}
		out.Err = in.preview(ctx, &out, kubeVersion)
	default:
		out.Objects = []*unstructured.Unstructured{p.resource.DeepCopy()}
	}
	return out, in
}

func (i *installation) preview(ctx context.Context, out *Preview, kubeVersion string) error {
	content, err := i.Fetch(ctx)
	if err != nil {
		return err
	}
	chart, err := load(content)
	if err != nil {
		return err
	}
	out.Chart, out.Version, out.Values = chart.Name(), chart.Version(), chart.Values()
	r, err := chart.Render(ctx, render.Options{
		ReleaseName: i.home.Name, Namespace: i.namespace, Values: i.Values, Overrides: i.config.Overrides,
		SkipCRDs: i.config.SkipCRDs, SkipSchema: i.config.SkipSchemaValidation, Revision: 1, KubeVersion: kubeVersion,
	})
	if err != nil {
		return err
	}
	out.Objects = append(slices.Clone(r.CRDs), r.Objects...)
	return nil
}

// scopes of kinds, true for those with namespaces, that definitions among the objects bring along.
type scopes map[schema.GroupKind]bool

func (s scopes) learn(objects []*unstructured.Unstructured) {
	for _, u := range objects {
		if u.GroupVersionKind().GroupKind() != object.CRDKind {
			continue
		}
		for gvk, m := range kindsOf(u) {
			s[gvk.GroupKind()] = m.Namespaced
		}
	}
}

// place an object in its namespace, where it is known to have one.
func (s scopes) place(in *installation, u *unstructured.Unstructured) {
	namespaced, known := s.of(u.GroupVersionKind().GroupKind())
	switch {
	case !known:
	case !namespaced:
		u.SetNamespace("")
	case u.GetNamespace() != "":
	case in != nil:
		u.SetNamespace(in.namespace)
	default:
		u.SetNamespace("default")
	}
}

func (s scopes) of(gk schema.GroupKind) (namespaced, known bool) {
	if namespaced, known = s[gk]; known {
		return namespaced, true
	}
	wide, known := clusterWide[gk.Group]
	return !slices.Contains(wide, gk.Kind), known
}

// clusterWide are the kinds without namespaces of the groups that Kubernetes itself serves; all others of these groups
// have namespaces.
var clusterWide = map[string][]string{ //nolint:gochecknoglobals // A constant table.
	"": {"Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {
		"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "MutatingAdmissionPolicy",
		"MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"apps":                         {},
	"autoscaling":                  {},
	"batch":                        {},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"coordination.k8s.io":          {},
	"discovery.k8s.io":             {},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"IngressClass", "IPAddress", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"policy":                       {},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
}
