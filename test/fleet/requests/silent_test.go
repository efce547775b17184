// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
)

// TestSilentClusters checks that the edit of a Kyma does not wait for clusters that have stopped responding without closing their connections,
// although their Kymas are edited before: it is carried out before the first request to one of the others fails. Their edits are carried out
// when they respond again.
func TestSilentClusters(t *testing.T) {
	const failing, good = 3, "good"
	if installer.binary == "" {
		t.Fatal("TestInstall, which starts the servers, must run before")
	}
	installer.process.Stop()
	// The Manifests of a namespace use one of two workers.
	if err := installer.start(t.Context(), "--max-reconcile-rate=2"); err != nil {
		t.Fatal(err)
	}
	names := []string{good}
	for i := range failing {
		names = append(names, fmt.Sprint("failing-", i))
	}
	for _, name := range names {
		if err := connect(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if err := control.Create(t.Context(), newKyma(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		awaitReady(t, name)
	}
	for message, mode := range map[string]apiserver.Mode{"black-hole": apiserver.BlackHole, "hang": apiserver.Hang} {
		t.Run(message, func(t *testing.T) {
			awaitIdle(t, good)
			for _, name := range names[1:] {
				setFault(t, name, apiserver.Fault{Mode: mode})
				edit(t, name, message)
			}
			edit(t, good, message)
			await(t, "the edit is carried out", func() bool { return shows(t, good, message) })
			for _, name := range names[1:] {
				if failed(t, name) {
					t.Errorf("want the edit to be carried out before the failure of %s is reported", name)
				}
			}
			for _, name := range names[1:] {
				await(t, "the failure of "+name+" is reported", func() bool { return failed(t, name) })
			}
			for _, name := range names[1:] {
				setFault(t, name, apiserver.Fault{})
			}
			for _, name := range names[1:] {
				await(t, "the edit of "+name+" is carried out", func() bool { return shows(t, name, message) })
				awaitReady(t, name)
			}
		})
	}
}

// edit changes a value of the first module of a Kyma.
func edit(t *testing.T, name, message string) {
	t.Helper()
	k := &v1alpha1.Kyma{}
	if err := control.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, k); err != nil {
		t.Fatal(err)
	}
	before := k.DeepCopy()
	k.Spec.ForProvider.Modules[0].Values = &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"message": %q}`, message)}
	if err := control.Patch(t.Context(), k, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// shows reports whether a module of a cluster has a value.
func shows(t *testing.T, name, message string) bool {
	t.Helper()
	c := simulator.Config(name)
	c.ContentType = runtime.ContentTypeJSON
	k, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := k.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{LabelSelector: manifest.Interpreter().Selector()})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range l.Items {
		if m.Data["message"] == message {
			return true
		}
	}
	return false
}

// failed reports whether the last reconcile of a Manifest of a cluster failed.
func failed(t *testing.T, name string) bool {
	t.Helper()
	l := &v1alpha1.ManifestList{}
	if err := control.List(t.Context(), l, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(l.Items, func(m v1alpha1.Manifest) bool {
		return m.Spec.ProviderConfigReference.Name == name && m.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionFalse
	})
}

// setFault makes a cluster fail, or work again.
func setFault(t *testing.T, name string, f apiserver.Fault) {
	t.Helper()
	if err := simulator.SetFault(name, f); err != nil {
		t.Fatal(err)
	}
}
