// SPDX-License-Identifier: Apache-2.0

package kyma_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

const long = time.Minute

func TestWaitReady(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"}, v1alpha1.Module{Name: "m2"})
	s := start(t, "", long, k.Namespace, "wait")
	s.says(t, "has not reconciled the current spec of the Kyma")
	play(t, k, is("m1", v1alpha1.StateReady, ""))
	s.says(t, "m2: not reconciled by the provider yet")
	play(t, k, is("m1", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateError, "oh dear"))
	s.says(t, "m2: oh dear")
	one := kymactl(t, k.Namespace, "wait", "k", "--module", "m1", "-o", "json")
	one.want(t, command.ExitOK, `"condition": "ready"`, `"m1"`)
	kymactl(t, k.Namespace, "wait", "--fail-fast").want(t, command.ExitFailure, "state Error: m2: oh dear")
	kymactl(t, k.Namespace, "wait", "--fail-fast", "--module", "m2").want(t, command.ExitFailure, "m2: oh dear")
	play(t, k, is("m1", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateReady, ""))
	s.want(t, command.ExitOK, "kyma.kyma.m.crossplane.io/k ready\n")

	// The status of the previous spec does not count.
	e := start(t, "", long, k.Namespace, "module", "enable", "m3", "--wait")
	e.says(t, "has not reconciled the current spec of the Kyma")
	play(t, k, is("m1", v1alpha1.StateReady, ""), is("m3", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateProcessing, ""))
	e.want(t, command.ExitOK, "m3 enabled")
}

func TestWaitEnds(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"})
	timeOut(t, k.Namespace, "to become Ready: the provider has not reconciled", "wait")
	play(t, k, is("m1", v1alpha1.StateWarning, "hm"))
	timeOut(t, k.Namespace, "timed out waiting for Kyma "+k.Namespace+"/k to become Ready: m1: hm", "wait")
	timeOut(t, k.Namespace, "not deleted yet", "wait", "--for", "deleted")
	kymactl(t, k.Namespace, "wait", "nope").want(t, command.ExitNotFound, "kymactl deploy")
	kymactl(t, k.Namespace, "wait", "nope", "--for", "deleted").want(t, command.ExitOK, "nope deleted")
	kymactl(t, k.Namespace, "wait", "--module", "m2").want(t, command.ExitNotFound, "m2 is not enabled")
	missing := kymactl(t, k.Namespace, "wait", "nope").failure
	if diff := cmp.Diff("there is no Kyma nope in namespace "+k.Namespace+": use --namespace, or create it with 'kymactl deploy'", missing.Error()); diff != "" {
		t.Errorf("what a wait finds out stands for itself: -want, +got:\n%s", diff)
	}
	kymactl(t, k.Namespace, "wait", "--for", "happy").want(t, command.ExitUsage, "ready or deleted")
	kymactl(t, k.Namespace, "wait", "a", "--kyma", "b").want(t, command.ExitUsage, "use only one of them")
	if err := patch(t.Context(), k.DeepCopy(), `{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`); err != nil {
		t.Fatal(err)
	}
	timeOut(t, k.Namespace, "is paused", "wait")

	s := start(t, "", long, k.Namespace, "wait")
	s.says(t, "is paused")
	if err := admin.Delete(t.Context(), k.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	s.want(t, command.ExitNotFound, "there is no Kyma k")
}

func TestWaitDeleted(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"}, v1alpha1.Module{Name: "m2"})
	if err := patch(t.Context(), k, `{"metadata":{"finalizers":["example.org/test"]}}`); err != nil {
		t.Fatal(err)
	}
	m, other := install(t, k, "m1"), install(t, k, "m2")
	play(t, k, is("m1", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateReady, ""))
	s := start(t, "", long, k.Namespace, "module", "disable", "m1", "--wait")
	s.says(t, "has not reconciled the current spec of the Kyma")
	play(t, k, is("m1", v1alpha1.StateDeleting, "waits for Samples"))
	s.says(t, "m1: waits for Samples")
	play(t, k, is("m2", v1alpha1.StateReady, ""))
	s.says(t, "Manifest k-m1: removal in progress")
	if err := admin.Delete(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.want(t, command.ExitOK, "m1 disabled")
	// A module that is already removed is not an error.
	kymactl(t, k.Namespace, "module", "disable", "m1", "--wait").want(t, command.ExitOK, "m1 unchanged")

	kymas := start(t, "", long, k.Namespace, "wait", "k", "--for", "deleted")
	kymas.says(t, "not deleted yet")
	if err := admin.Delete(t.Context(), k.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	kymas.says(t, "to be deleted: m2")
	kymactl(t, k.Namespace, "wait").want(t, command.ExitFailure, "is being deleted")
	kymactl(t, k.Namespace, "module", "enable", "m5").want(t, command.ExitFailure, "is being deleted")
	if err := patch(t.Context(), current(t, k), `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	kymas.want(t, command.ExitOK, "kyma.kyma.m.crossplane.io/k deleted")
	if err := admin.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
}

// TestRestart checks that a wait continues after a restart of the API server.
func TestRestart(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"})
	play(t, k, is("m1", v1alpha1.StateProcessing, "0 of 1"))
	s := start(t, "", 2*time.Minute, k.Namespace, "wait")
	s.says(t, "0 of 1")
	server.StopAPIServer()
	s.says(t, "cannot read from the control plane, retrying")
	kymactl(t, k.Namespace, "wait").want(t, command.ExitFailure, "connection refused")
	if err := server.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server answers", func() bool { return patch(t.Context(), k.DeepCopy(), `{"metadata":{"labels":{"a":"b"}}}`) == nil })
	play(t, k, is("m1", v1alpha1.StateReady, ""))
	s.want(t, command.ExitOK, "ready")
}
