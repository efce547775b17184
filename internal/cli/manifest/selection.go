// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// A selection selects the Manifests of a command: the named Manifest, or the Manifests of a Kyma.
type selection struct {
	environment *command.Environment
	client      client.WithWatch
	of          *resourceRef
	// modules lists the modules of the Kyma that the command covers; empty means all enabled modules.
	modules []string
}

// await waits until the condition is met for each Manifest, and returns them sorted by name. gone contains the Manifests
// of modules that the Kyma does not enable anymore. await.Until describes goal.
func (c *selection) await(
	ctx context.Context, goal string, check func(m *v1alpha1.Manifest) (await.Result, error),
) (out, gone []v1alpha1.Manifest, err error) {
	if c.of.isKyma() {
		k := &await.Kyma{Environment: c.environment, Client: c.client, Namespace: c.of.Namespace, Name: c.of.Name}
		if err := k.Until(ctx, goal, c.checkCreated); err != nil {
			return nil, nil, err
		}
	}
	err = await.Until(ctx, c.environment, c.of.String(), c.follower(), goal, func(all await.Objects) (await.Result, error) {
		var v await.Result
		out, gone, v, err = c.selectFrom(ctx, all)
		if err != nil || !v.Met {
			return v, err
		}
		for i := range out {
			if v, err := check(&out[i]); err != nil || !v.Met {
				if c.of.isKyma() {
					v.Message = "Manifest " + out[i].Name + ": " + v.Message
				}
				return v, err
			}
		}
		return await.Result{Met: true}, nil
	})
	return out, gone, err
}

// follower returns a Follower for all Manifests of the namespace, or for the named Manifest.
func (c *selection) follower() *await.Follower {
	options := []client.ListOption{client.InNamespace(c.of.Namespace)}
	if !c.of.isKyma() {
		options = append(options, client.MatchingFields{"metadata.name": c.of.Name})
	}
	return &await.Follower{Client: c.client, List: func() client.ObjectList { return &v1alpha1.ManifestList{} }, Options: options}
}

// checkCreated checks whether the provider has reconciled the current spec of a Kyma, and has created a Manifest for each module.
func (c *selection) checkCreated(k *v1alpha1.Kyma) (await.Result, error) {
	if k == nil {
		return await.Result{}, lookup.NoKyma(c.of.Namespace, c.of.Name)
	}
	if v, ok := await.Observed(k); !ok {
		return v, nil
	}
	for _, name := range c.moduleNames(k) {
		if s, _ := catalog.StatusOf(k, name); s.Manifest == "" {
			return withoutManifest(&s, name), nil
		}
	}
	return await.Result{Met: true}, nil
}

// selectFrom selects the Manifests of the command from all Manifests of the namespace. The condition is met if all of them exist.
func (c *selection) selectFrom(ctx context.Context, all await.Objects) (out, gone []v1alpha1.Manifest, v await.Result, err error) {
	if !c.of.isKyma() {
		m, ok := all[c.of.NamespacedName].(*v1alpha1.Manifest)
		if !ok {
			return nil, nil, await.Result{}, command.NotFoundf("%s was deleted", c.of)
		}
		return []v1alpha1.Manifest{*m}, nil, await.Result{Met: true}, nil
	}
	k := &v1alpha1.Kyma{}
	if err := c.client.Get(ctx, c.of.NamespacedName, k); err != nil {
		if !notfound.Is(err) && !command.Refused(err) {
			return nil, nil, await.Result{}, await.Blind(err)
		}
		return nil, nil, await.Result{}, lookup.ExplainGet(err, c.of.Namespace, c.of.Name)
	}
	if v, err := c.checkCreated(k); err != nil || !v.Met {
		return nil, nil, v, err
	}
	byModule := manifestsIn(all, k)
	for _, name := range c.moduleNames(k) {
		m := byModule[name]
		if m == nil {
			s, _ := catalog.StatusOf(k, name)
			return nil, nil, withoutManifest(&s, name), nil
		}
		out = append(out, *m)
		delete(byModule, name)
	}
	for name, m := range byModule {
		if !catalog.Enables(k, name) {
			gone = append(gone, *m)
		}
	}
	byName := func(a, b v1alpha1.Manifest) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(out, byName)
	slices.SortFunc(gone, byName)
	return out, gone, await.Result{Met: true}, nil
}

// manifestsIn returns the Manifests of a Kyma, keyed by the names of their modules.
func manifestsIn(all await.Objects, k *v1alpha1.Kyma) map[string]*v1alpha1.Manifest {
	out := map[string]*v1alpha1.Manifest{}
	for _, o := range all {
		if m, ok := o.(*v1alpha1.Manifest); ok && lookup.Owns(k.UID, m) {
			out[moduleOf(k, m)] = m
		}
	}
	return out
}

// moduleNames returns the names of the modules that the command covers.
func (c *selection) moduleNames(k *v1alpha1.Kyma) []string {
	if len(c.modules) > 0 {
		return argument.Once(c.modules)
	}
	return catalog.EnabledNames(k)
}

// moduleOf returns the name of the module of a Manifest.
func moduleOf(k *v1alpha1.Kyma, m *v1alpha1.Manifest) string {
	return cmp.Or(m.Labels[v1alpha1.LabelModuleName], strings.TrimPrefix(m.Name, k.Name+"-"))
}

// withoutManifest returns the result for a module without a Manifest.
func withoutManifest(s *v1alpha1.ModuleStatus, name string) await.Result {
	return await.NotYet("%s: %s", name, cmp.Or(s.Message, "no Manifest created yet"))
}

// checkReconciled checks whether the provider can reconcile a Manifest. The condition is not met if the Manifest is paused or its
// last reconcile failed. checkReconciled returns an error if the Manifest is being deleted.
func checkReconciled(m *v1alpha1.Manifest) (await.Result, error) {
	synced := m.GetCondition(xpv2.TypeSynced)
	switch {
	case meta.WasDeleted(m):
		return await.Result{}, errors.Errorf("Manifest %s/%s is being deleted", m.Namespace, m.Name)
	case meta.IsPaused(m):
		return await.NotYet("paused by annotation %s", meta.AnnotationKeyReconciliationPaused), nil
	case synced.Reason == xpv2.ReasonReconcileError && synced.ObservedGeneration == m.Generation:
		return await.NotYet("%s", synced.Message), nil
	}
	return await.Result{Met: true}, nil
}
