// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// untilResync is longer than the five minutes after which an API server retries the deletion of a CRD. The finalizer of the API
// server fails while the storage of a new kind is being set up. It retries before its cache has the status that it has written
// itself, and after the conflict it waits for an event that never comes.
const untilResync = 8 * time.Minute

// TestUndeployCRDs checks that undeploy deletes the CRDs only if no objects of their kinds exist.
func TestUndeployCRDs(t *testing.T) {
	wipe(t)
	succeed(t, newDeploy, "-n", "crds", "--in-cluster")
	succeed(t, newDeploy, "-n", "crds", "--provider-config", "control-plane", "--kyma", "second")

	r := run(t, NewUndeploy, "-n", "crds", "--crds")
	if command.CodeOf(r.err) != command.ExitFailure || !strings.Contains(r.err.Error(), "Kyma crds/second, ClusterProviderConfig control-plane") {
		t.Errorf("undeploy --crds while there are objects: want exit code %d and their names, got %v", command.ExitFailure, r.err)
	}
	for _, o := range crdObjects(t) {
		mustGet(t, o)
	}
	r = runFor(t, untilResync, NewUndeploy, "-n", "crds", "--crds", "--kyma", "second", "-o", "json")
	if r.err != nil {
		t.Fatalf("undeploy --crds: %v\n%s%s", r.err, r.out, r.said)
	}
	got := actions(t, r)
	for _, o := range crdObjects(t) {
		if got[o.Words()] != apply.Deleted || get(t, o) != nil {
			t.Errorf("undeploy --crds: want %s deleted, got %s", o.Words(), got[o.Words()])
		}
	}
	got = actions(t, succeed(t, NewUndeploy, "-n", "crds", "--crds", "--templates", "-o", "json"))
	for name, a := range got {
		if a != apply.Unchanged {
			t.Errorf("undeploy --crds again: want %s unchanged, got %s", name, a)
		}
	}
	r = run(t, NewDeploy, "-n", "crds", "--in-cluster", "--skip-crds")
	if command.CodeOf(r.err) != command.ExitNotFound || !strings.Contains(r.err.Error(), "omit --skip-crds") {
		t.Errorf("deploy --skip-crds without CRDs: want exit code %d and what to do, got %v", command.ExitNotFound, r.err)
	}
}
