// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/local/fleet"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestDemoIsAccepted checks that a real API server accepts the objects that the demo creates in addition to the claim, without
// the provider. make demo-check verifies what happens with them.
func TestDemoIsAccepted(t *testing.T) {
	ctx := t.Context()
	cluster, err := controlplane.Start(ctx, controlplane.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		t.Fatal(err)
	}
	registry := controlplane.RegistryFor(t, controlplane.WebOptions{})
	w := workshop(t.TempDir())
	if err := errors.Join(w.equip(ctx), w.writeKubeconfig(cluster.Kubeconfig())); err != nil {
		t.Fatal(err)
	}
	target, err := newTarget(cluster)
	if err != nil {
		t.Fatal(err)
	}
	control := target.client

	offered, err := push(ctx, w, registry)
	if err != nil {
		t.Fatal(err)
	}
	if err := controlplane.Connect(ctx, control, team, config, cluster, registry); err != nil {
		t.Fatal(err)
	}
	if err := offered.create(ctx, w, control); err != nil {
		t.Fatal(err)
	}
	templates := &v1alpha1.ModuleTemplateList{}
	if err := control.List(ctx, templates); err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(modules()); len(templates.Items) != want {
		t.Errorf("want %d ModuleTemplates, got %d", want, len(templates.Items))
	}
	if err := offerFleet(ctx, w, &fleet.Fleet{Control: control, Clusters: []*controlplane.Cluster{cluster}}, registry); err != nil {
		t.Fatal(err)
	}
	m := &v1alpha1.Manifest{}
	if err := control.Get(ctx, client.ObjectKey{Namespace: team, Name: hello}, m); err != nil {
		t.Fatal(err)
	}

	// Only objects with our label count as leftovers.
	if err := target.checkNothingLeft(ctx); err != nil {
		t.Error(err)
	}
	m.Labels = map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}
	if err := control.Update(ctx, m); err != nil {
		t.Fatal(err)
	}
	if err := target.checkNothingLeft(ctx); err == nil || err.Error() != "objects left in the target cluster: Manifest team-a/hello" {
		t.Errorf("want the labelled object left, got %v", err)
	}
}

// offerFleet creates the objects of a fleet.
func offerFleet(ctx context.Context, w workshop, f *fleet.Fleet, registry *controlplane.Registry) error {
	if err := f.Connect(ctx, registry); err != nil {
		return err
	}
	files, err := pushFleet(ctx, w, registry.Host())
	if err != nil {
		return err
	}
	return applyAll(ctx, w, files)
}

// TestBroken checks that only the broken version of the module of the fleet contains something that never becomes Ready, and that each
// version contains its own number.
func TestBroken(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{bannerFirst, bannerBroken, bannerFixed} {
		t.Run(version, func(t *testing.T) {
			files, err := bannerFiles(filepath.Join(root, "cluster", "local", "modules"), version)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, data := range files {
				text.Write(data)
			}
			if got := strings.Contains(text.String(), "kind: Deployment"); got != (version == bannerBroken) {
				t.Errorf("the module contains a Deployment: %t", got)
			}
			if !strings.Contains(text.String(), "banner "+version+"\n") {
				t.Errorf("no text ends with the version:\n%s", text.String())
			}
		})
	}
}

// TestVersions checks that the files of a module only differ in their version between channels, so that the target shows the
// version.
func TestVersions(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules() {
		t.Run(m.name, func(t *testing.T) {
			files, err := controlplane.ReadDir(filepath.Join(root, "cluster", "local", "modules", m.name))
			if err != nil {
				t.Fatal(err)
			}
			for channel, version := range m.versions {
				var text strings.Builder
				for _, data := range at(files, m.marker, version) {
					text.Write(data)
				}
				if want := m.name + ":" + version; !strings.Contains(text.String(), want) {
					t.Errorf("channel %s: nothing has the image %q", channel, want)
				}
			}
		})
	}
}
