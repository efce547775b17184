// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestParkedCluster checks what happens to a quiet cluster if the provider parks clusters: it has no watches, drift is repaired at the next
// poll, and an edit is carried out before it.
func TestParkedCluster(t *testing.T) {
	const name, poll = "parked", 30 * time.Second
	if installer.binary == "" {
		t.Fatal("TestInstall, which starts the servers, must run before")
	}
	installer.process.Stop()
	if err := installer.start(t.Context(), "--park-after=2s", "--poll="+poll.String(), "--poll-jitter-percentage=0"); err != nil {
		t.Fatal(err)
	}
	if err := connect(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := control.Create(t.Context(), newKyma(name)); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, name)
	isParked := func() bool { return simulator.Count(name).OpenWatches == 0 }
	await(t, "the watches are closed", isParked)

	c := simulator.Config(name)
	c.ContentType = runtime.ContentTypeJSON
	k, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	settings := func() []corev1.ConfigMap {
		l, err := k.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{LabelSelector: manifest.Interpreter().Selector()})
		if err != nil {
			t.Fatal(err)
		}
		return l.Items
	}
	all := settings()
	if len(all) != modules {
		t.Fatalf("want a ConfigMap of each module, got %d", len(all))
	}
	drifted := all[0]
	begin := time.Now()
	if err := k.CoreV1().ConfigMaps(drifted.Namespace).Delete(t.Context(), drifted.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "drift is repaired", func() bool { return len(settings()) == modules })
	t.Logf("drift was repaired after %s, with polls each %s", time.Since(begin).Round(time.Second), poll)
	await(t, "the watches are closed again", isParked)

	kyma := &v1alpha1.Kyma{}
	if err := control.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, kyma); err != nil {
		t.Fatal(err)
	}
	kyma.Spec.ForProvider.Modules = kyma.Spec.ForProvider.Modules[1:]
	begin = time.Now()
	if err := control.Update(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	await(t, "the module is removed", func() bool { return len(settings()) == modules-1 })
	if took := time.Since(begin); took >= poll/2 {
		t.Errorf("want an edit to be carried out at once, not after %s", took)
	}
	if unknown := simulator.Unknown(); len(unknown) > 0 {
		t.Errorf("the simulator does not implement: %v", unknown)
	}
}
