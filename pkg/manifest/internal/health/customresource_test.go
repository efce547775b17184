// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestOfCustomResource(t *testing.T) {
	cases := map[string]struct {
		reason string
		status string
		sum    cluster.ObjectState
		state  State
		text   string
	}{
		"None":       {reason: "The controller has not processed the custom resource yet.", status: "{}", state: Processing, text: "has no status yet"},
		"Ready":      {reason: "Modules report their state like this.", status: "{state: Ready}", state: Ready},
		"Warning":    {reason: "The first condition that is not True is the reason.", status: "{state: Warning, conditions: [{status: 'True', message: a}, {status: 'False'}, {status: 'False', message: \"b\\nc\"}]}", state: Warning, text: "status.state is Warning: b c"},
		"Error":      {reason: "Without conditions, the message is the state.", status: "{state: Error}", state: Error, text: "status.state is Error"},
		"Deleting":   {reason: "The controller is removing the custom resource.", status: "{state: Deleting}", state: Deleting, text: "status.state is Deleting"},
		"Unknown":    {reason: "A state that Kyma does not have is not ready.", status: "{state: Booting}", state: Processing, text: `status.state is "Booting"`},
		"Current":    {reason: "Without a state, kstatus decides.", status: "{phase: x}", sum: cluster.ObjectState{Status: cluster.Current}, state: Ready},
		"Failed":     {reason: "Without a state, kstatus decides.", status: "{state: 7}", sum: cluster.ObjectState{Status: cluster.Failed, Message: "m"}, state: Error, text: "m"},
		"InProgress": {reason: "Without a state, kstatus decides.", status: "{phase: x}", sum: cluster.ObjectState{Status: cluster.InProgress}, state: Processing, text: "is not ready"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state, text := OfCustomResource(fromYAML(t, "{kind: K, status: "+tc.status+"}"), tc.sum)
			if diff := cmp.Diff([]string{string(tc.state), tc.text}, []string{string(state), text}); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
