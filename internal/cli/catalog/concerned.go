// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// concerned are the Manifests that a command is about: the one that was named, or those of a Kyma.
type concerned struct {
	environment *command.Environment
	client      client.WithWatch
	of          *subject
	// modules of the Kyma; none means all that it has enabled.
	modules []string
}

// await each of the Manifests. Judge says whether one is as it should be. They are returned sorted by name, and with them
// the names of those whose modules the Kyma no longer has.
func (c *concerned) await(ctx context.Context, state string, judge func(m *v1alpha1.Manifest) (verdict, error)) (out, gone []v1alpha1.Manifest, err error) {
	f := &follower{
		client: c.client, list: func() client.ObjectList { return &v1alpha1.ManifestList{} },
		options: []client.ListOption{client.InNamespace(c.of.Namespace)},
	}
	if !c.of.isKyma() {
		f.options = append(f.options, client.MatchingFields{"metadata.name": c.of.Name})
	}
	w := &waiter{environment: c.environment, client: c.client, namespace: c.of.Namespace, kyma: c.of.Name}
	if c.of.isKyma() {
		if err := w.until(ctx, state, c.made); err != nil {
			return nil, nil, err
		}
	}
	err = w.followed(ctx, c.of.String(), f, state, func(all objects) (verdict, error) {
		var v verdict
		out, gone, v, err = c.among(ctx, all)
		if err != nil || !v.met {
			return v, err
		}
		for i := range out {
			if v, err := judge(&out[i]); err != nil || !v.met {
				if c.of.isKyma() {
					v.message = "Manifest " + out[i].Name + ": " + v.message
				}
				return v, err
			}
		}
		return verdict{met: true}, nil
	})
	return out, gone, err
}

// made says whether the provider has seen a Kyma as it is now, and has a Manifest for each module.
func (c *concerned) made(k *v1alpha1.Kyma) (verdict, error) {
	if k == nil {
		return verdict{}, noKyma(c.of.Namespace, c.of.Name)
	}
	if v, ok := observed(k); !ok {
		return v, nil
	}
	for _, name := range c.wanted(k) {
		i := slices.IndexFunc(k.Status.AtProvider.Modules, func(m v1alpha1.ModuleStatus) bool { return m.Name == name })
		if i < 0 || k.Status.AtProvider.Modules[i].Manifest == "" {
			return notYet("%s: %s", name, message(moduleMessage(k, name), "it has no Manifest yet")), nil
		}
	}
	return verdict{met: true}, nil
}

// among all Manifests of the namespace. It is met where each that there should be is there.
func (c *concerned) among(ctx context.Context, all objects) (out, gone []v1alpha1.Manifest, v verdict, err error) {
	if !c.of.isKyma() {
		m, ok := all[c.of.NamespacedName].(*v1alpha1.Manifest)
		if !ok {
			return nil, nil, verdict{}, command.NotFoundf("%s is gone", c.of)
		}
		return []v1alpha1.Manifest{*m}, nil, verdict{met: true}, nil
	}
	k := &v1alpha1.Kyma{}
	if err := c.client.Get(ctx, c.of.NamespacedName, k); err != nil {
		return nil, nil, verdict{}, explainGet(err, c.of.Namespace, c.of.Name)
	}
	if v, err := c.made(k); err != nil || !v.met {
		return nil, nil, v, err
	}
	byModule := manifestsIn(all, k)
	for _, name := range c.wanted(k) {
		m := byModule[name]
		if m == nil {
			return nil, nil, notYet("%s: %s", name, message(moduleMessage(k, name), "it has no Manifest yet")), nil
		}
		out = append(out, *m)
		delete(byModule, name)
	}
	for name, m := range byModule {
		if !wants(k, name) {
			gone = append(gone, *m)
		}
	}
	byName := func(a, b v1alpha1.Manifest) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(out, byName)
	slices.SortFunc(gone, byName)
	return out, gone, verdict{met: true}, nil
}

// manifestsIn a namespace that are of a Kyma, by module.
func manifestsIn(all objects, k *v1alpha1.Kyma) map[string]*v1alpha1.Manifest {
	out := map[string]*v1alpha1.Manifest{}
	for _, o := range all {
		if m, ok := o.(*v1alpha1.Manifest); ok && owns(k.UID, m) {
			out[moduleOf(k, m)] = m
		}
	}
	return out
}

func (c *concerned) wanted(k *v1alpha1.Kyma) []string {
	if len(c.modules) > 0 {
		return once(c.modules)
	}
	var out []string
	for i := range k.Spec.ForProvider.Modules {
		out = append(out, k.Spec.ForProvider.Modules[i].Name)
	}
	return out
}

// moduleOf a Kyma that a Manifest is for.
func moduleOf(k *v1alpha1.Kyma, m *v1alpha1.Manifest) string {
	return message(m.Labels[v1alpha1.LabelModuleName], strings.TrimPrefix(m.Name, k.Name+"-"))
}

func moduleMessage(k *v1alpha1.Kyma, name string) string {
	for i := range k.Status.AtProvider.Modules {
		if m := &k.Status.AtProvider.Modules[i]; m.Name == name {
			return m.Message
		}
	}
	return ""
}

// looked says whether the provider can look at a Manifest at all; or else why not.
func looked(m *v1alpha1.Manifest) (verdict, error) {
	synced := m.GetCondition(xpv2.TypeSynced)
	switch {
	case meta.WasDeleted(m):
		return verdict{}, errors.Errorf("Manifest %s/%s is being deleted", m.Namespace, m.Name)
	case meta.IsPaused(m):
		return notYet("it is paused: annotation %s", meta.AnnotationKeyReconciliationPaused), nil
	case synced.Reason == xpv2.ReasonReconcileError && synced.ObservedGeneration == m.Generation:
		return notYet("%s", synced.Message), nil
	}
	return verdict{met: true}, nil
}
