// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// removeTemplates removes the ModuleTemplates that deploy created, except those whose module is enabled in a Kyma.
func (r *removal) removeTemplates(ctx context.Context) error {
	templates, err := r.plane.List(ctx, v1alpha1.ModuleTemplateGroupVersionKind, client.MatchingLabels{apply.LabelManagedBy: command.FieldManager})
	if err != nil {
		return err
	}
	kymas, err := r.plane.List(ctx, v1alpha1.KymaGroupVersionKind)
	if err != nil {
		return err
	}
	users := enabledIn(kymas)
	for i := range templates {
		t := &v1alpha1.ModuleTemplate{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(templates[i].Object, t); err != nil {
			return errors.Wrapf(err, "cannot read ModuleTemplate %s", templates[i].GetName())
		}
		if user, ok := users[module.NameOf(t)]; ok {
			err = r.keep(apply.ObjectOf(&templates[i]), true, "the module is enabled in "+user.Words())
		} else {
			err = r.remove(ctx, &templates[i], nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enabledIn returns a map from the name of each enabled module to a Kyma that enables it.
func enabledIn(kymas []unstructured.Unstructured) map[string]apply.Object {
	out := map[string]apply.Object{}
	for i := range kymas {
		modules, _, _ := unstructured.NestedSlice(kymas[i].Object, "spec", "forProvider", "modules")
		for _, item := range modules {
			m, ok := item.(map[string]any)
			if !ok {
				continue
			}
			if name, ok := m["name"].(string); ok {
				out[name] = apply.ObjectOf(&kymas[i])
			}
		}
	}
	return out
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
