// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
)

// together runs commands concurrently, and returns their results in the same order.
func together(n int, one func(i int) result) []result {
	var wg sync.WaitGroup
	out := make([]result, n)
	for i := range out {
		wg.Go(func() { out[i] = one(i) })
	}
	wg.Wait()
	return out
}

// TestUndeploysAtOnce checks that concurrent undeploys of the same Kyma all succeed and leave nothing behind.
func TestUndeploysAtOnce(t *testing.T) {
	template := filepath.Join(t.TempDir(), "t.yaml")
	write(t, template, strings.ReplaceAll(oneTemplate, "istio", "gone-at-once"))
	succeed(t, newDeploy, "-n", "gone-at-once", "--target-kubeconfig", target(t), "--template", template, "--module", "gone-at-once")
	// All of them wait while the provider removes the modules.
	patch(t, kymaIn("gone-at-once"), `{"metadata":{"finalizers":["example.org/hold"]}}`)
	results := make(chan []result)
	go func() {
		results <- together(6, func(int) result { return run(t, NewUndeploy, "-n", "gone-at-once", "--templates", "-o", "json") })
	}()
	for end := time.Now().Add(time.Minute); mustGet(t, kymaIn("gone-at-once")).GetDeletionTimestamp() == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the Kyma is not being deleted")
		}
	}
	// There is no sign when the last command waits. If a command starts later, the Kyma no longer exists, and the command must
	// succeed too.
	time.Sleep(2 * apply.PollInterval)
	patch(t, kymaIn("gone-at-once"), `{"metadata":{"finalizers":null}}`)
	deletions := map[string]int{}
	for _, r := range <-results {
		if r.err != nil {
			t.Errorf("%v\n%s", r.err, r.said)
			continue
		}
		for name, a := range actions(t, r) {
			if a == apply.Kept && strings.Contains(name, "gone-at-once") {
				t.Errorf("%s is kept:\n%s", name, r.said)
			}
			if a == apply.Deleted {
				deletions[name]++
			}
		}
	}
	for _, name := range []string{
		"Kyma gone-at-once/default", "ProviderConfig gone-at-once/default", "Secret gone-at-once/default-kubeconfig", "ModuleTemplate gone-at-once-regular",
	} {
		if deletions[name] == 0 {
			t.Errorf("no command reports that %s is deleted: %v", name, deletions)
		}
	}
	for _, o := range []apply.Object{kymaIn("gone-at-once"), configIn("gone-at-once"), secretIn("gone-at-once"), templateObject("gone-at-once-regular")} {
		if get(t, o) != nil {
			t.Errorf("%s is still there", o.Words())
		}
	}
}

// TestUndeploysOfNeighbours checks that of concurrent undeploys of Kymas with the same ProviderConfig, the last one deletes the
// ProviderConfig.
func TestUndeploysOfNeighbours(t *testing.T) {
	defined(t)
	const n = 4
	succeed(t, newDeploy, "-n", "neighbours", "--target-kubeconfig", target(t), "--kyma", "k0", "--provider-config", "shared")
	for i := 1; i < n; i++ {
		succeed(t, newDeploy, "-n", "neighbours", "--provider-config", "shared", "--kyma", "k"+strconv.Itoa(i))
	}
	for i, r := range together(n, func(i int) result {
		return run(t, NewUndeploy, "-n", "neighbours", "-o", "json", "--kyma", "k"+strconv.Itoa(i))
	}) {
		if r.err != nil {
			t.Errorf("k%d: %v\n%s", i, r.err, r.said)
			continue
		}
		if got := actions(t, r)["Kyma neighbours/k"+strconv.Itoa(i)]; got != apply.Deleted {
			t.Errorf("k%d: want it deleted, got %s", i, got)
		}
	}
	config, secret := configIn("neighbours"), secretIn("neighbours")
	config.Name, secret.Name = "shared", "shared"+kubeconfigSuffix
	for _, o := range []apply.Object{config, secret} {
		if get(t, o) != nil {
			t.Errorf("%s is still there", o.Words())
		}
	}
}

// TestUndeployCRDsAtOnce checks the same for objects that the whole control plane shares: a CRD can be deleted while another
// undeploy lists its objects.
func TestUndeployCRDsAtOnce(t *testing.T) {
	wipe(t)
	succeed(t, newDeploy, "-n", "whole-at-once", "--target-kubeconfig", target(t))
	for i, r := range together(4, func(int) result { return run(t, NewUndeploy, "-n", "whole-at-once", "--crds", "-o", "json") }) {
		if r.err != nil {
			t.Errorf("undeploy %d: %v\n%s", i, r.err, r.said)
		}
	}
	for _, o := range crdObjects(t) {
		if get(t, o) != nil {
			t.Errorf("%s is still there", o.Words())
		}
	}
	if get(t, secretIn("whole-at-once")) != nil {
		t.Error("the Secret is still there")
	}
}
