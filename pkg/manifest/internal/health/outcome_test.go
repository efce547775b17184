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
		"JobRuns":     {reason: "A Job that started is not done, whatever kstatus says.", object: job()},
		"JobComplete": {reason: "A Job is done once it is complete.", object: job(`{type: Complete, status: "True"}`), want: succeeded},
		"JobFailed":   {reason: "The reason says why.", object: job(`{type: Failed, status: "True", reason: DeadlineExceeded}`), want: failed("failed: DeadlineExceeded")},
		"JobFalse":    {reason: "A condition may be false.", object: job(`{type: Failed, status: "False"}`)},
		"PodRuns":     {reason: "A pod that runs is not done.", object: pod("Running")},
		"PodDone":     {reason: "A pod is done once it succeeded.", object: pod("Succeeded"), want: succeeded},
		"PodFailed":   {reason: "Or failed.", object: pod("Failed"), want: failed("failed")},
		"JobOdd":      {reason: "Conditions of another form say nothing.", object: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nstatus: {conditions: 7}"},
		"PodOdd":      {reason: "So does a phase.", object: pod("{a: b}")},
		"Other":       {reason: "Others have none.", object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
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
