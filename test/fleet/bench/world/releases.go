// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
)

// policy is the name of the RolloutPolicy of all modules.
const policy = "batches"

// AdoptReleases makes ModuleReleaseMetas, instead of the ModuleTemplates, specify the version in the channel. It is the version that
// the clusters have.
func (w *World) AdoptReleases(ctx context.Context, version string) error {
	batch := intstr.FromString("10%")
	p := &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: policy}}
	p.Spec.Waves = []v1alpha1.RolloutWave{{Name: "all", Batch: &batch, Soak: &metav1.Duration{Duration: time.Second}}}
	if err := w.Client.Create(ctx, p); err != nil {
		return errors.Wrap(err, "cannot create the RolloutPolicy")
	}
	for i := range w.Modules {
		m := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: moduleName(i)}}
		m.Spec.ModuleName = moduleName(i)
		m.Spec.Channels = []v1alpha1.ChannelRelease{{Channel: channel, Release: v1alpha1.Release{Version: version, RolloutPolicy: policy}}}
		if err := w.Client.Create(ctx, m); err != nil {
			return errors.Wrapf(err, "cannot create ModuleReleaseMeta %q", m.Name)
		}
		if err := w.awaitRelease(ctx, m.Name, version); err != nil {
			return err
		}
		t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: moduleName(i)}}
		if err := w.Client.Patch(ctx, t, client.RawPatch(types.MergePatchType, []byte(`{"spec": {"channel": null}}`))); err != nil {
			return errors.Wrapf(err, "cannot remove the channel of ModuleTemplate %q", t.Name)
		}
	}
	return nil
}

// awaitRelease waits until the rollout of a version is complete.
func (w *World) awaitRelease(ctx context.Context, name, version string) error {
	for {
		m := &v1alpha1.ModuleReleaseMeta{}
		if err := w.Client.Get(ctx, types.NamespacedName{Name: name}, m); err != nil {
			return errors.Wrapf(err, "cannot get ModuleReleaseMeta %q", name)
		}
		if c := m.Status.Channels; len(c) == 1 && c[0].Version == version && c[0].Phase == v1alpha1.RolloutComplete {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(context.Cause(ctx), "the rollout of ModuleReleaseMeta %q is not complete", name)
		case <-time.After(100 * time.Millisecond): //nolint:mnd // It only limits the requests.
		}
	}
}

// Promote adds a version of all modules to the catalogue, and moves the channel to it.
func (w *World) Promote(ctx context.Context, version string) error {
	name := func(i int) string { return moduleName(i) + "-" + version }
	err := w.push(ctx, version, func(i int, c *v1alpha1.Component) error {
		t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: name(i)}}
		t.Spec.Component = c
		return w.Client.Create(ctx, t)
	})
	if err != nil {
		return err
	}
	if err := objects.NewPending(w.Modules, name).Await(ctx, w.Client, &v1alpha1.ModuleTemplateList{}, ""); err != nil {
		return err
	}
	for i := range w.Modules {
		releases := []v1alpha1.ChannelRelease{{Channel: channel, Release: v1alpha1.Release{Version: version, RolloutPolicy: policy}}}
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"channels": releases}})
		if err != nil {
			return errors.Wrap(err, "cannot encode the release")
		}
		m := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: moduleName(i)}}
		if err := w.Client.Patch(ctx, m, client.RawPatch(types.MergePatchType, patch)); err != nil {
			return errors.Wrapf(err, "cannot release version %s of module %q", version, moduleName(i))
		}
	}
	return nil
}
