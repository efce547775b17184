// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestVerbOf(t *testing.T) {
	o := desired("web", configMap("a"))
	done, old := inventory.Entry{UID: "1", Intent: o.Hash}, inventory.Entry{UID: "1", Intent: "old"}
	dismissed := func(intent string) inventory.Entry {
		return inventory.Entry{UID: "1", Intent: intent, Stage: object.StageResource}
	}
	expired := func(intent string) inventory.Entry {
		return inventory.Entry{UID: "1", Intent: intent, Expires: true}
	}
	leaving := cluster.ObjectState{UID: "1", Status: cluster.Terminating}
	cases := map[string]struct {
		reason string
		facts  Facts
		want   Verb
		sends  bool
		// later is the verb in the end, if it is another one.
		later Verb
	}{
		"New":            {reason: "An object that was never applied is created.", want: Create, sends: true},
		"NewFound":       {reason: "An object that was never applied is created even if it exists.", facts: Facts{State: live(), Exists: true}, want: Create, sends: true},
		"AsWanted":       {reason: "An object that is as desired needs no action.", facts: Facts{Entry: done, State: live(), Exists: true}, want: None},
		"Changed":        {reason: "Changed contents are applied.", facts: Facts{Entry: old, State: live(), Exists: true}, want: Update, sends: true},
		"Drifted":        {reason: "Drift is repaired.", facts: Facts{Entry: done, State: live(), Exists: true, Repairs: true}, want: Repair, sends: true},
		"Gone":           {reason: "A deleted object is repaired.", facts: Facts{Entry: done, Repairs: true}, want: Repair, sends: true},
		"Dismissed":      {reason: "A custom resource that its users deleted is not recreated.", facts: Facts{Entry: dismissed("old")}, want: Skip},
		"DismissedDone":  {reason: "The deletion is recorded once.", facts: Facts{Entry: dismissed(o.Hash)}, want: None},
		"Undismissed":    {reason: "A custom resource that exists is updated.", facts: Facts{Entry: dismissed("old"), State: live(), Exists: true}, want: Update, sends: true},
		"Expired":        {reason: "A Job that was deleted because it has finished is not created again.", facts: Facts{Entry: expired(o.Hash)}, want: None},
		"Expiring":       {reason: "A Job that is being deleted is not created again either.", facts: Facts{Entry: expired(o.Hash), State: leaving, Exists: true}, want: None},
		"ExpiredOld":     {reason: "It is created if its content changes.", facts: Facts{Entry: expired("old")}, want: Update, sends: true},
		"ExpiringOld":    {reason: "It is created once it is gone if its content changes.", facts: Facts{Entry: expired("old"), State: leaving, Exists: true}, want: Wait, later: Create},
		"NotExpired":     {reason: "A Job that exists is repaired.", facts: Facts{Entry: expired(o.Hash), State: live(), Exists: true, Repairs: true}, want: Repair, sends: true},
		"NeverRan":       {reason: "A Job that was never applied is created.", facts: Facts{Entry: inventory.Entry{Expires: true}}, want: Create, sends: true},
		"Spared":         {reason: "A CRD that cannot be repaired is skipped.", facts: Facts{Entry: done, State: live(), Exists: true, Repairs: true, Spared: true}, want: Spare},
		"Terminating":    {reason: "An object that is being deleted cannot be changed.", facts: Facts{Entry: old, State: leaving, Exists: true, Repairs: true}, want: Wait, later: Create},
		"BeingDismissed": {reason: "A custom resource that its users are deleting stays deleted.", facts: Facts{Entry: dismissed("old"), State: leaving, Exists: true}, want: Wait, later: Skip},
		"NotTerminated":  {reason: "The state counts only if the object exists.", facts: Facts{Entry: old, State: leaving}, want: Update, sends: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := VerbOf(&o, tc.facts)
			if got != tc.want || got.Sends() != tc.sends {
				t.Errorf("\n%s\nVerbOf(...): want %s, sends %t, got %s, sends %t", tc.reason, tc.want, tc.sends, got, got.Sends())
			}
			if later := got.Eventually(&tc.facts.Entry); later != cmp.Or(tc.later, tc.want) {
				t.Errorf("\n%s\nEventually(...): want %s, got %s", tc.reason, cmp.Or(tc.later, tc.want), later)
			}
		})
	}
}
