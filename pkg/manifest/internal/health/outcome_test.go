// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestOutcome(t *testing.T) {
	job := func(conditions ...string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nstatus: {conditions: [" + strings.Join(conditions, ",") + "]}"
	}
	pod := func(phase string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {phase: " + phase + "}"
	}
	type outcome struct {
		Outcome cluster.Outcome
		Reason  string
	}
	succeeded := outcome{Outcome: cluster.OutcomeSucceeded}
	failed := func(reason string) outcome { return outcome{Outcome: cluster.OutcomeFailed, Reason: reason} }
	cases := map[string]struct {
		reason, object string
		want           outcome
	}{
		"JobRuns":     {reason: "A running Job has not ended, whatever kstatus says.", object: job()},
		"JobComplete": {reason: "A Job has ended once it is complete.", object: job(`{type: Complete, status: "True"}`), want: succeeded},
		"JobFailed":   {reason: "The reason explains the failure.", object: job(`{type: Failed, status: "True", reason: DeadlineExceeded}`), want: failed("failed: DeadlineExceeded")},
		"JobFalse":    {reason: "A condition may be false.", object: job(`{type: Failed, status: "False"}`)},
		"PodRuns":     {reason: "A running pod has not ended.", object: pod("Running")},
		"PodDone":     {reason: "A pod has ended once it succeeded.", object: pod("Succeeded"), want: succeeded},
		"PodFailed":   {reason: "A pod has ended once it failed.", object: pod("Failed"), want: failed("failed")},
		"JobOdd":      {reason: "Malformed conditions are ignored.", object: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nstatus: {conditions: 7}"},
		"PodOdd":      {reason: "A malformed phase is ignored.", object: pod("{a: b}")},
		"Other":       {reason: "Objects of other kinds do not end.", object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := StateOf("engine", fromYAML(t, tc.object))
			if diff := cmp.Diff(tc.want, outcome{Outcome: s.Outcome, Reason: s.Reason}); diff != "" {
				t.Errorf("\n%s\nStateOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
