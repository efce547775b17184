// SPDX-License-Identifier: Apache-2.0

package module

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// LabelAggregateToTarget is the label of each ClusterRole whose rules are aggregated into the ClusterRole of a target
// cluster.
const LabelAggregateToTarget = "kyma.m.crossplane.io/aggregate-to-target"

const groupRBAC = rbacv1.GroupName

// engineVerbs returns the verbs that the engine needs for an object: it reads and watches it, applies it on the
// server's side, which is a patch that may create, and deletes it. It never updates.
func engineVerbs() []string {
	return []string{"get", "list", "watch", "create", "patch", "delete"}
}

// A grant is a set of verbs for all objects of a resource, or only for those with some names.
type grant struct {
	schema.GroupResource

	verbs string
	names string
}

// Role returns a ClusterRole with the Permissions for some objects. Its label aggregates it into the ClusterRole of a
// target cluster in examples/rbac.
func Role(name string, objects []*unstructured.Unstructured) (*rbacv1.ClusterRole, error) {
	rules, err := Permissions(objects)
	if err != nil {
		return nil, err
	}
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{LabelAggregateToTarget: "true"}},
		Rules:      rules,
	}, nil
}

// Permissions returns the rules that the identity in a target cluster needs to install, observe, repair, upgrade and
// remove a module with the given objects: all that its charts render, its CRDs and its custom resource. The rules
// include neither those that every module needs, for inventories, release records and namespaces of installs, nor those
// for objects that its charts look up.
//
// A Role or a binding may grant more than the identity has: the rules allow it to escalate these Roles, and to bind the
// roles that these bindings refer to, each by name. They also allow it to list the kinds that the module defines but
// has no object of, as a removal waits for objects of other clients. The name of a resource is that in its CRD if the CRD is
// among the objects, and otherwise the plural derived from its kind. Equal objects in any order give equal rules. An
// object without apiVersion or kind, or a binding without roleRef, is an error.
func Permissions(objects []*unstructured.Unstructured) ([]rbacv1.PolicyRule, error) {
	defined := map[schema.GroupKind]string{}
	for _, o := range objects {
		if gk, plural, ok := definedKind(o); ok {
			defined[gk] = plural
		}
	}
	grants := map[grant]bool{}
	unused := maps.Clone(defined)
	for i, o := range objects {
		gvk := o.GroupVersionKind()
		if gvk.Kind == "" || gvk.Version == "" {
			return nil, errors.Errorf("object at index %d has no apiVersion or no kind", i)
		}
		delete(unused, gvk.GroupKind())
		r := schema.GroupResource{Group: gvk.Group, Resource: defined[gvk.GroupKind()]}
		if r.Resource == "" {
			plural, _ := meta.UnsafeGuessKindToResource(gvk)
			r.Resource = plural.Resource
		}
		grants[grant{GroupResource: r, verbs: strings.Join(engineVerbs(), " ")}] = true
		more, err := privileged(o, r)
		if err != nil {
			return nil, err
		}
		if more != nil {
			grants[*more] = true
		}
	}
	for gk, plural := range unused {
		grants[grant{GroupResource: schema.GroupResource{Group: gk.Group, Resource: plural}, verbs: "list"}] = true
	}
	return rules(grants), nil
}

// definedKind returns the kind that a CRD defines, and its plural. It returns false for an object that is not a complete
// CRD.
func definedKind(o *unstructured.Unstructured) (schema.GroupKind, string, bool) {
	if o.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}) {
		return schema.GroupKind{}, "", false
	}
	group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
	plural, _, _ := unstructured.NestedString(o.Object, "spec", "names", "plural")
	return schema.GroupKind{Group: group, Kind: kind}, plural, group != "" && kind != "" && plural != ""
}

// privileged returns what Kubernetes requires in addition for an object that grants permissions. It returns nil for other
// objects.
func privileged(o *unstructured.Unstructured, r schema.GroupResource) (*grant, error) {
	if r.Group != groupRBAC {
		return nil, nil //nolint:nilnil // It grants none.
	}
	switch r.Resource {
	case "roles", "clusterroles":
		return &grant{GroupResource: r, verbs: "escalate", names: o.GetName()}, nil
	case "rolebindings", "clusterrolebindings":
		kind, _, _ := unstructured.NestedString(o.Object, "roleRef", "kind")
		name, _, _ := unstructured.NestedString(o.Object, "roleRef", "name")
		if name == "" || kind != "Role" && kind != "ClusterRole" {
			return nil, errors.Errorf("%s %s: roleRef must refer to a Role or a ClusterRole", o.GetKind(), o.GetName())
		}
		to := schema.GroupResource{Group: groupRBAC, Resource: strings.ToLower(kind) + "s"}
		return &grant{GroupResource: to, verbs: "bind", names: name}, nil
	}
	return nil, nil //nolint:nilnil // It grants none.
}

// rules returns the smallest readable list of rules that allow exactly the grants, sorted: one for the resources of a
// group that have the same verbs, and one for the names of a resource that have the same verbs.
func rules(grants map[grant]bool) []rbacv1.PolicyRule {
	type subject struct{ group, verbs, named string }
	resources, names := map[subject][]string{}, map[subject][]string{}
	for g := range grants {
		if g.names == "" {
			s := subject{group: g.Group, verbs: g.verbs}
			resources[s] = append(resources[s], g.Resource)
			continue
		}
		s := subject{group: g.Group, verbs: g.verbs, named: g.Resource}
		resources[s] = []string{g.Resource}
		names[s] = append(names[s], g.names)
	}
	subjects := slices.SortedFunc(maps.Keys(resources), func(a, b subject) int {
		// Rules for all objects of a resource come before those for some.
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.named, b.named), cmp.Compare(a.verbs, b.verbs))
	})
	out := make([]rbacv1.PolicyRule, 0, len(subjects))
	for _, s := range subjects {
		out = append(out, rbacv1.PolicyRule{
			APIGroups:     []string{s.group},
			Resources:     slices.Sorted(slices.Values(resources[s])),
			ResourceNames: slices.Sorted(slices.Values(names[s])),
			Verbs:         strings.Fields(s.verbs),
		})
	}
	return out
}
