// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestDemoIsAccepted has a real API server accept what the demo creates, without
// the provider. What becomes of it then is for make demo-check.
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
	registry, err := controlplane.StartRegistry(controlplane.WebOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer registry.Stop()
	e := &environment{control: cluster, target: cluster, registry: registry}
	if e.controlClient, err = newClient(cluster); err != nil {
		t.Fatal(err)
	}
	e.targetClient = e.controlClient

	manifests, err := e.push(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.create(ctx, manifests); err != nil {
		t.Fatal(err)
	}
	list := &v1alpha1.ManifestList{}
	if err := e.controlClient.List(ctx, list, client.InNamespace(team)); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 3 {
		t.Errorf("want 3 Manifests, got %d", len(list.Items))
	}

	// Only what carries our label counts as left over.
	left, err := e.leftovers(ctx)
	if err != nil || len(left) > 0 {
		t.Errorf("want nothing left, got %q, %v", left, err)
	}
	labelled := manifests[0].DeepCopy()
	labelled.Labels = map[string]string{managedBy: "provider-kyma"}
	if err := e.controlClient.Update(ctx, labelled); err != nil {
		t.Fatal(err)
	}
	left, err = e.leftovers(ctx)
	if err != nil || strings.Join(left, " ") != "Manifest team-a/hello" {
		t.Errorf("want the labelled object left, got %q, %v", left, err)
	}
}
