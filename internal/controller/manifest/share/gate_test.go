// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
)

var _ priority.Gate = &Gate{}

// manifests contains the names of the ProviderConfigs of Manifests.
type manifests map[types.NamespacedName]string

func (m manifests) Get(_ context.Context, nn types.NamespacedName, o client.Object, _ ...client.GetOption) error {
	mr, ok := o.(*v1alpha1.Manifest)
	if config := m[nn]; ok && config != "" {
		mr.ObjectMeta = metav1.ObjectMeta{Namespace: nn.Namespace, Name: nn.Name}
		mr.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config})
		return nil
	}
	return kerrors.NewNotFound(schema.GroupResource{Resource: "manifests"}, nn.Name)
}

func (manifests) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// TestGate checks which Manifests are admitted by a gate with one worker, and which are woken after them.
func TestGate(t *testing.T) {
	nn := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "n", Name: name} }
	type step struct {
		// admit, connect, disconnect and done are the name of a Manifest, or empty.
		admit, connect, disconnect, done string
		// want is whether the Manifest is admitted, or gets a worker when it connects.
		want bool
	}
	cases := map[string]struct {
		reason string
		steps  []step
		woken  []string
	}{
		"Pass": {
			reason: "A pass uses the worker that the gate keeps for it.",
			steps:  []step{{admit: "a", want: true}, {connect: "a", want: true}, {disconnect: "a"}, {done: "a"}, {admit: "b", want: true}},
		},
		"Waits": {
			reason: "A Manifest that has to wait is woken after the pass, and then admitted.",
			steps:  []step{{admit: "a", want: true}, {connect: "a", want: true}, {admit: "b"}, {disconnect: "a"}, {done: "a"}, {admit: "b", want: true}, {connect: "b", want: true}},
			woken:  []string{"b"},
		},
		"Twice": {
			reason: "A Manifest that waits and is queued again is woken once.",
			steps:  []step{{admit: "a", want: true}, {connect: "a", want: true}, {admit: "b"}, {admit: "b"}, {disconnect: "a"}, {admit: "b", want: true}, {done: "a"}},
			woken:  []string{"b"},
		},
		"Unused": {
			reason: "The worker of a pass that did not connect is given to the next one.",
			steps:  []step{{admit: "a", want: true}, {admit: "b"}, {done: "a"}, {admit: "b", want: true}}, woken: []string{"b"},
		},
		"Stolen": {
			reason: "Nothing takes the worker away before the pass connects.",
			steps:  []step{{admit: "a", want: true}, {connect: "b"}, {connect: "a", want: true}, {disconnect: "a"}}, woken: []string{"b"},
		},
		"Gone": {
			reason: "What is deleted needs no worker.",
			steps:  []step{{admit: "a", want: true}, {admit: "gone", want: true}, {done: "gone"}, {admit: "b"}},
		},
		"OtherReplica": {
			reason: "What another replica reconciles needs no worker.",
			steps:  []step{{admit: "other", want: true}, {admit: "a", want: true}, {done: "other"}, {admit: "b"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var woken []string
			s := New(1, func(nn types.NamespacedName) { woken = append(woken, nn.Name) }, silent)
			g := s.Gate(manifests{nn("a"): "config-a", nn("b"): "config-b", nn("other"): "config-a"}, func(_ context.Context, o client.Object) bool {
				return o.GetName() != "other"
			})
			workers := map[string]*Worker{}
			for i, step := range tc.steps {
				got := false
				switch {
				case step.admit != "":
					got = g.Admit(nn(step.admit))
				case step.connect != "":
					workers[step.connect], got = s.Acquire("n/config-"+step.connect, nn(step.connect))
				case step.disconnect != "":
					s.Release(workers[step.disconnect])
				default:
					g.Done(nn(step.done))
				}
				if got != step.want {
					t.Errorf("\n%s\nstep %d, %+v: got %t", tc.reason, i, step, got)
				}
			}
			if diff := cmp.Diff(tc.woken, woken); diff != "" {
				t.Errorf("\n%s\nwoken: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
