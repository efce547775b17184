// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// removeTemplates removes the ModuleTemplates that deploy created, except those whose module is in use.
func (r *removal) removeTemplates(ctx context.Context) error {
	templates, err := r.plane.List(ctx, v1alpha1.ModuleTemplateGroupVersionKind, client.MatchingLabels{apply.LabelManagedBy: command.FieldManager})
	if err != nil {
		return err
	}
	users, err := r.usersOfModules(ctx)
	if err != nil {
		return err
	}
	for i := range templates {
		t := &v1alpha1.ModuleTemplate{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(templates[i].Object, t); err != nil {
			return errors.Wrapf(err, "cannot read ModuleTemplate %s", templates[i].GetName())
		}
		if user, ok := users[module.NameOf(t)]; ok {
			err = r.keep(apply.ObjectOf(&templates[i]), true, "the module is used by "+user.Words())
		} else {
			err = r.remove(ctx, &templates[i], nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// usersOfModules returns a map from the name of each module in use to an object that uses it: a Kyma, a KymaSet, which enables the
// module in Kymas, or a ModuleReleaseMeta, which can make the module mandatory for Kymas.
func (r *removal) usersOfModules(ctx context.Context) (map[string]apply.Object, error) {
	out := map[string]apply.Object{}
	for _, kind := range []schema.GroupVersionKind{
		v1alpha1.ModuleReleaseMetaGroupVersionKind, v1alpha1.KymaSetGroupVersionKind, v1alpha1.KymaGroupVersionKind,
	} {
		items, err := r.plane.List(ctx, kind)
		if err != nil {
			return nil, err
		}
		for i := range items {
			names, err := modulesIn(&items[i])
			if err != nil {
				return nil, errors.Wrapf(err, "cannot read the modules of %s", apply.ObjectOf(&items[i]).Words())
			}
			for _, name := range names {
				out[name] = apply.ObjectOf(&items[i])
			}
		}
	}
	return out, nil
}

// modulesIn returns the names of the modules that a Kyma, a KymaSet or a ModuleReleaseMeta uses. Those of a Kyma include mandatory
// modules, and modules that are still being removed.
func modulesIn(u *unstructured.Unstructured) ([]string, error) {
	var out []string
	name, released, err := unstructured.NestedString(u.Object, "spec", "moduleName")
	if err != nil {
		return nil, err
	}
	if released {
		out = append(out, name)
	}
	for _, path := range [][]string{
		{"spec", "forProvider", "modules"}, {"status", "atProvider", "modules"}, {"spec", "template", "spec", "forProvider", "modules"},
	} {
		modules, _, err := unstructured.NestedSlice(u.Object, path...)
		if err != nil {
			return nil, err
		}
		for _, item := range modules {
			m, ok := item.(map[string]any)
			if !ok {
				continue
			}
			if name, ok := m["name"].(string); ok {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// removeProvider removes the Provider, and the ManagedResourceActivationPolicy that deploy created.
func (r *removal) removeProvider(ctx context.Context) error {
	o := providerObject()
	u, err := r.plane.Found(ctx, o)
	switch {
	case err != nil:
		return err
	case u == nil:
		err = r.report.Add(o, apply.Unchanged)
	default:
		err = r.remove(ctx, u, nil)
	}
	if err != nil {
		return err
	}
	policy, err := r.plane.Found(ctx, apply.Object{GroupVersionKind: policyKind(), Name: providerName})
	if err != nil || policy == nil || !apply.Ours(policy) {
		return err
	}
	return r.remove(ctx, policy, nil)
}

// removeCRDs removes the CRDs that don't belong to a package. It requests all deletions before it waits for the first one,
// because each takes some time.
func (r *removal) removeCRDs(ctx context.Context) error {
	all, err := apply.ReadCRDs()
	if err != nil {
		return err
	}
	var going []*unstructured.Unstructured
	for _, d := range all {
		u, err := r.dismiss(ctx, apply.ObjectOf(d))
		if err != nil {
			return err
		}
		if u != nil {
			going = append(going, u)
		}
	}
	for _, u := range going {
		if err := r.remove(ctx, u, nil); err != nil {
			return err
		}
	}
	return nil
}

// dismiss requests the deletion of a CRD. It returns the CRD to wait for, or nil if it doesn't exist or belongs to a package.
func (r *removal) dismiss(ctx context.Context, o apply.Object) (*unstructured.Unstructured, error) {
	u, err := r.plane.Found(ctx, o)
	switch {
	case err != nil:
		return nil, err
	case u == nil:
		return nil, r.report.Add(o, apply.Unchanged)
	}
	if by, _ := apply.Packager(u); by != "" && !r.o.provider {
		return nil, r.keep(o, true, "belongs to "+by+": use --package to delete it")
	}
	// Ignore conflicts here: remove requests the deletion again.
	_, err = r.request(ctx, u)
	return u, err
}
