// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/forward"
)

// kinds are the kinds that a replica watches before it is the leader.
var kinds = []string{
	"kymas", "manifests", "kymasets", "moduletemplates", "modulereleasemetas", "rolloutpolicies",
	"providerconfigs", "clusterproviderconfigs", "providerconfigusages", "secrets", "configmaps",
}

// startReplica starts a provider that uses leader election, and returns it with the proxy that counts its requests.
func startReplica(t *testing.T) (*provider, *proxy) {
	t.Helper()
	counts, err := newProxy(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(counts.Close)
	dir := t.TempDir()
	p := &provider{dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig"), binary: installer.binary, elects: true}
	if err := forward.WriteKubeconfig(p.kubeconfig, counts.URL); err != nil {
		t.Fatal(err)
	}
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.process.Stop)
	return p, counts
}

// TestTakeover checks that a replica that becomes the leader does not have to list anything first: it has watched all objects while it
// waited.
func TestTakeover(t *testing.T) {
	const name = "taken"
	if installer.binary == "" {
		t.Fatal("TestInstall, which starts the servers, must run before")
	}
	installer.process.Stop()
	leader, _ := startReplica(t)
	if err := connect(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := control.Create(t.Context(), newKyma(name)); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, name)
	_, counts := startReplica(t)
	for _, kind := range kinds {
		await(t, "the other replica watches "+kind, func() bool { return counts.snapshot()["WATCH "+kind] > 0 })
	}
	if n := writes(counts.snapshot()); n > 0 {
		t.Errorf("want no writes of a replica that waits, got:\n%s", table(counts.snapshot()))
	}

	kyma := &v1alpha1.Kyma{}
	if err := control.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, kyma); err != nil {
		t.Fatal(err)
	}
	before, begin := counts.snapshot(), time.Now()
	if err := leader.process.Terminate(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("the leader ended after %s", time.Since(begin).Round(time.Millisecond))
	kyma.Spec.ForProvider.Modules = kyma.Spec.ForProvider.Modules[1:]
	begin = time.Now()
	if err := control.Update(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	await(t, "the edit is carried out", func() bool {
		l := &v1alpha1.ManifestList{}
		if err := control.List(t.Context(), l, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		left := 0
		for i := range l.Items {
			if l.Items[i].Spec.ProviderConfigReference.Name == name {
				left++
			}
		}
		return left == modules-1
	})
	t.Logf("an edit after that took %s", time.Since(begin).Round(time.Millisecond))
	calls := since(before, counts.snapshot())
	t.Logf("requests of the new leader:\n%s", table(calls))
	for _, kind := range kinds {
		within(t, "watches of "+kind+" since the takeover", calls["WATCH "+kind], 0)
	}
}
