// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// limit is the timeout of each wait.
	limit = 2 * time.Minute
	// quietFor is how long there must be no requests until the provider is idle.
	quietFor = 3 * time.Second
)

// A usage is what the provider has sent and done since its start.
type usage struct{ control, target, reconciles map[string]int }

// sampleUsage returns the usage. The target is the cluster with the name.
func sampleUsage(t *testing.T, name string) usage {
	t.Helper()
	u := usage{control: recorded.snapshot(), target: sampleTarget(name)}
	var err error
	if u.reconciles, err = installer.reconciles(t.Context()); err != nil {
		t.Fatal(err)
	}
	return u
}

func sampleTarget(name string) map[string]int {
	out := map[string]int{}
	for call, n := range simulator.Count(name).Requests {
		out[call.Verb+" "+call.Resource] = n
	}
	return out
}

// awaitIdle waits until the provider sends no requests, and returns its usage.
func awaitIdle(t *testing.T, name string) usage {
	t.Helper()
	last, begin := sampleUsage(t, name), time.Now()
	for since := time.Now(); time.Since(since) < quietFor; time.Sleep(quietFor / 20) {
		now := sampleUsage(t, name)
		if !maps.Equal(now.control, last.control) || !maps.Equal(now.target, last.target) {
			last, since = now, time.Now()
		}
		if time.Since(begin) > limit {
			t.Fatalf("the provider is not idle after %s", limit)
		}
	}
	return last
}

// awaitReady waits until a Kyma is Ready.
func awaitReady(t *testing.T, name string) {
	t.Helper()
	k := &v1alpha1.Kyma{}
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if err := control.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, k); err != nil {
			t.Fatal(err)
		}
		if k.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			return
		}
		if time.Since(begin) > limit {
			t.Fatalf("Kyma %s is not Ready: %+v", name, k.Status)
		}
	}
}

// await waits until a condition is met.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	for begin := time.Now(); !met(); time.Sleep(100 * time.Millisecond) {
		if time.Since(begin) > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// within checks an upper bound.
func within(t *testing.T, what string, got, bound int) {
	t.Helper()
	t.Logf("%s: %d (at most %d)", what, got, bound)
	if got > bound {
		t.Errorf("%s: want at most %d, got %d", what, bound, got)
	}
}

// calls limits the requests to the control plane whose number does not depend on time. The events are one of the Kyma, and one of each
// Manifest.
var calls = []struct {
	call  string
	bound int
}{
	{"PATCH manifests", modules}, {"PUT manifests", modules}, {"PUT kymas", 1}, {"POST providerconfigusages", 1}, {"PUT providerconfigs", 0},
	{"POST events", modules + 1}, {"PATCH events", 0},
}

// TestInstall limits what the installation of a Kyma into a new cluster costs, and what a restart of the provider costs after it.
// It installs a first Kyma for what the provider does only once, such as starting informers.
func TestInstall(t *testing.T) {
	install := func(name string) usage {
		before := awaitIdle(t, name)
		if err := control.Create(t.Context(), newKyma(name)); err != nil {
			t.Fatal(err)
		}
		awaitReady(t, name)
		after := awaitIdle(t, name)
		return usage{
			control: since(before.control, after.control), target: since(before.target, after.target),
			reconciles: since(before.reconciles, after.reconciles),
		}
	}
	if err := startProvider(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		if err := connect(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	first := install("first")
	t.Logf("first Kyma: control plane:\n%s", table(first.control))
	u := install("second")
	t.Logf("control plane:\n%starget:\n%sreconciles:\n%s", table(u.control), table(u.target), table(u.reconciles))
	for _, c := range calls {
		within(t, c.call, u.control[c.call], c.bound)
	}
	// On a slow machine, the objects are seen in more states, each of which causes a reconcile and is written to a status.
	within(t, "requests to the control plane", sum(u.control), 21+modules+1)
	within(t, "requests to the target", sum(u.target), modules*(objects+5)+6)
	within(t, "reconciles", u.reconciles["managed/kyma.kyma.m.crossplane.io"]+u.reconciles["managed/manifest.kyma.m.crossplane.io"], 10+modules)
	if unknown := simulator.Unknown(); len(unknown) > 0 {
		t.Errorf("the simulator does not implement: %v", unknown)
	}

	installer.process.Stop()
	before := usage{control: recorded.snapshot(), target: sampleTarget("second")}
	if err := installer.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := awaitIdle(t, "second")
	restart := usage{control: since(before.control, after.control), target: since(before.target, after.target), reconciles: after.reconciles}
	t.Logf("restart: control plane:\n%starget:\n%sreconciles:\n%s", table(restart.control), table(restart.target), table(restart.reconciles))
	within(t, "writes to the control plane on restart", writes(restart.control), 0)
	within(t, "writes to the target on restart", writes(restart.target), 0)
	within(t, "requests to the target on restart", sum(restart.target), 3)
}
