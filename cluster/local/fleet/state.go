// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An Installation is the module in one cluster.
type Installation struct {
	// Version is the version that the Kyma reports, and Ready whether the Kyma and its only module are Ready.
	Version string
	Ready   bool
	// Manifest identifies the spec of the Manifest: its UID and its generation.
	Manifest string
	// Object identifies the content of the ConfigMap of the module in the cluster: its UID and its resource version. It changes with
	// each write.
	Object string
	// Text is the text in the ConfigMap, which ends with the version.
	Text string
}

// Installations returns the module in each cluster, by the name of the cluster. It fails if the module is not installed in one of
// them.
func (f *Fleet) Installations(ctx context.Context) (map[string]Installation, error) {
	out := map[string]Installation{}
	for _, c := range f.Clusters {
		target, err := c.Client()
		if err != nil {
			return nil, err
		}
		k, m, cm := &v1alpha1.Kyma{}, &v1alpha1.Manifest{}, &corev1.ConfigMap{}
		name := types.NamespacedName{Namespace: Namespace, Name: c.Name()}
		if err := f.Control.Get(ctx, name, k); err != nil {
			return nil, errors.Wrapf(err, "cannot get Kyma %q", name.Name)
		}
		name.Name += "-" + Module
		if err := f.Control.Get(ctx, name, m); err != nil {
			return nil, errors.Wrapf(err, "cannot get Manifest %q", name.Name)
		}
		if err := target.Get(ctx, types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: Module}, cm); err != nil {
			return nil, errors.Wrapf(err, "cannot get the ConfigMap of the module in cluster %q", c.Name())
		}
		i := Installation{
			Manifest: fmt.Sprintf("%s generation %d", m.UID, m.Generation),
			Object:   fmt.Sprintf("%s version %s", cm.UID, cm.ResourceVersion),
			Text:     cm.Data["text"],
		}
		i.Version, i.Ready = reported(k)
		out[c.Name()] = i
	}
	return out, nil
}

// reported returns the version of the only module of a Kyma, and whether both are Ready.
func reported(k *v1alpha1.Kyma) (version string, ready bool) {
	modules := k.Status.AtProvider.Modules
	if len(modules) != 1 {
		return "", false
	}
	is := k.Status.GetCondition(xpv2.TypeReady)
	return modules[0].Version, modules[0].State == v1alpha1.StateReady && is.Status == corev1.ConditionTrue
}

// Having returns the names of the clusters whose Kyma reports a version, sorted.
func (f *Fleet) Having(ctx context.Context, version string) ([]string, error) {
	list := &v1alpha1.KymaList{}
	if err := f.Control.List(ctx, list, client.InNamespace(Namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list the Kymas of the fleet")
	}
	var out []string
	for i := range list.Items {
		if got, _ := reported(&list.Items[i]); got == version {
			out = append(out, list.Items[i].Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Release returns the ModuleReleaseMeta of the module.
func (f *Fleet) Release(ctx context.Context) (*v1alpha1.ModuleReleaseMeta, error) {
	m := &v1alpha1.ModuleReleaseMeta{}
	return m, errors.Wrapf(f.Control.Get(ctx, client.ObjectKey{Name: Module}, m), "cannot get ModuleReleaseMeta %q", Module)
}

// In reports whether the rollout of a version to all clusters of the fleet is in a phase, and describes the current one.
func In(m *v1alpha1.ModuleReleaseMeta, version string, phase v1alpha1.RolloutPhase) (is bool, seen string) {
	i := slices.IndexFunc(m.Status.Channels, func(c v1alpha1.ChannelRollout) bool { return c.Channel == Channel && c.Version == version })
	if i < 0 || m.Status.ObservedGeneration != m.Generation {
		return false, "not started yet"
	}
	c := m.Status.Channels[i]
	seen = string(c.Phase)
	if c.Phase != v1alpha1.RolloutComplete && c.WaveName != "" {
		seen += " in wave " + c.WaveName
	}
	seen += fmt.Sprintf(", %d of %d clusters have it, %d Ready", c.Updated, c.Total, c.Ready)
	for _, f := range c.Failures {
		seen = strings.TrimSuffix(fmt.Sprintf("%s, %s failed: %s", seen, f.Name, f.Message), ": ")
	}
	complete := phase != v1alpha1.RolloutComplete || c.Ready == c.Total
	return c.Phase == phase && int(c.Total) == len(names()) && complete, seen
}
