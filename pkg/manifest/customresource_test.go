// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
)

func TestStateOfResource(t *testing.T) {
	cases := map[string]struct {
		reason  string
		status  string
		state   State
		message string
	}{
		"None":    {reason: "The custom resource has no status yet.", status: "{}", state: Processing, message: "has no status yet"},
		"Ready":   {reason: "The state counts.", status: "{state: Ready, observedGeneration: 2}", state: Ready},
		"Warning": {reason: "A condition explains the state.", status: "{state: Warning, conditions: [{type: A, status: 'False', message: m}]}", state: Warning, message: "status.state is Warning: m"},
		"Unknown": {reason: "An unknown state is not Ready.", status: "{state: Fine}", state: Processing, message: `status.state is "Fine"`},
		"Old":     {reason: "A status of an older generation does not count.", status: "{state: Ready, observedGeneration: 1}", state: Processing, message: "status.observedGeneration is 1, but metadata.generation is 2"},
		"NotReady": {
			reason: "Without a state, conditions count.", status: "{conditions: [{type: Ready, status: 'False', message: starting}]}",
			state: Processing, message: "condition Ready is False: starting",
		},
		"Unavailable": {
			reason: "Condition Available counts like Ready.", status: "{conditions: [{type: Available, status: Unknown}]}",
			state: Processing, message: "condition Available is Unknown: no message",
		},
		"ReadyCondition": {reason: "Condition Ready is True.", status: "{conditions: [{type: Ready, status: 'True'}]}", state: Ready},
		"Stalled": {
			reason: "A stalled object makes no progress.", status: "{conditions: [{type: Ready, status: 'False'}, {type: Stalled, status: 'True', message: no way}]}",
			state: Error, message: "condition Stalled is True: no way",
		},
		"Failed":      {reason: "The condition Failed of the custom resource is True.", status: "{conditions: [{type: Failed, status: 'True', message: oh}]}", state: Error, message: "condition Failed is True: oh"},
		"NotFailed":   {reason: "The condition Failed of the custom resource is False.", status: "{conditions: [{type: Failed, status: 'False'}]}", state: Ready},
		"Reconciling": {reason: "kstatus knows this condition.", status: "{conditions: [{type: Reconciling, status: 'True', message: busy}]}", state: Processing, message: "busy"},
		"Other":       {reason: "A status of any form shows that a controller processed it.", status: "{phase: Up}", state: Ready},
		"Nonsense":    {reason: "A malformed status must not cause a panic.", status: "{conditions: [1, {type: 2}], state: ''}", state: Processing, message: "cannot evaluate the status: cannot restore struct from: int64"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := manifestOf(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: x, generation: 2}, status: "+tc.status+"}")
			s, m := health.OfCustomResource(u, health.StateOf(DefaultFieldManager, u))
			if s != tc.state || m != tc.message {
				t.Errorf("\n%s\ngot %s %q, want %s %q", tc.reason, s, m, tc.state, tc.message)
			}
		})
	}
}

// The custom resource is applied once all installs are applied, and not earlier.
func TestResourceAwaitsInstalls(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", "crds/"+tmplCRD, configMap("one")), install("extra", configMap("two")))
	s.Resource = manifestOf(t, fmt.Sprintf(tmplWidget, "main"))
	b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && k == key("ConfigMap", "apps", "two") {
			return refusal(500, metav1.StatusReasonInternalError, "not now")
		}
		return nil
	}
	if _, err := b.Apply(t.Context(), b.c, s); err == nil {
		t.Fatal("it must fail")
	}
	if b.s.uidOf(widget) != "" {
		t.Error("the custom resource is there")
	}
	o := b.observe(s)
	if p := o.Parts[2]; p.State != Processing || p.Message != "resource is waiting for extra to be applied" {
		t.Errorf("resource: %+v", p)
	}
	b.s.fault = nil
	b.reconcile(s)
	if b.s.uidOf(widget) == "" {
		t.Error("the custom resource is not there")
	}
}

const gadgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.org}
spec:
  group: example.org
  names: {kind: Gadget, plural: gadgets}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true}]
`

// createRemaining creates custom resources of two kinds that do not belong to the bundle.
func createRemaining(b *bench) (*Bundle, []cluster.ObjectRef) {
	s := bundleOf(install("web", "crds/"+tmplCRD, "crds/"+gadgets, configMap("one")))
	b.reconcile(s)
	var out []cluster.ObjectRef
	for i := range 6 {
		out = append(out, b.s.put(widgetNamed(b.t, fmt.Sprintf("w%d", i))))
	}
	return s, append(out, b.s.put(manifestOf(b.t, "{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g}}").Object))
}

func TestRemainingBlockRemoval(t *testing.T) {
	b := newBench(t)
	s, all := createRemaining(b)
	want := Removal{State: Warning, Message: "7 objects of kinds that this module defines still exist: Gadget g, Widget default/w0, Widget default/w1, " +
		"Widget default/w2, Widget default/w3 and 2 more; delete the ones that you do not need, or set annotation kyma.m.crossplane.io/force-removal: \"true\" " +
		"on the Manifest to delete all of them"}
	if diff := cmp.Diff(want, b.take(s)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for _, k := range all {
		if b.s.uidOf(k) == "" {
			t.Errorf("%s is gone", k)
		}
	}
	for _, k := range all {
		b.s.remove(k)
	}
	if r := b.take(s); !r.Gone {
		t.Errorf("in the end: %+v", r)
	}
}

func TestForceRemoval(t *testing.T) {
	b := newBench(t)
	s, all := createRemaining(b)
	held := all[2]
	b.s.edit(held, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/x"}) })
	r := b.take(s, ForceRemoval())
	if r.State != Deleting || len(r.Forced) != 7 || !slices.Contains(r.Forced, held) {
		t.Errorf("removal: %+v", r)
	}
	for range 2 {
		r = b.take(s, ForceRemoval())
		if want := "1 object of a kind that this module defines still exists: Widget default/w2 (is being deleted, waiting for finalizer example.org/x); the remaining objects are being deleted"; r.Message != want || r.State != Deleting || len(r.Forced) > 0 {
			t.Errorf("while it waits: %+v", r)
		}
		if f := b.s.objects[held].u().GetFinalizers(); !slices.Equal(f, []string{"example.org/x"}) {
			t.Errorf("finalizers: %q", f)
		}
		if b.s.uidOf(key("ConfigMap", "apps", "one")) == "" {
			t.Error("what serves it is gone")
		}
	}
	b.s.remove(held)
	if r := b.take(s, ForceRemoval()); !r.Gone {
		t.Errorf("in the end: %+v", r)
	}
}

// TestRemainingBlockUpgrade checks that an upgrade that removes a CRD waits for custom resources that do not belong to the bundle.
func TestRemainingBlockUpgrade(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig, "crds/"+tmplCRD))
	b.reconcile(s)
	b.s.put(manifestOf(t, strings.Replace(fmt.Sprintf(tmplWidget, "theirs"), "name:", "namespace: default, name:", 1)).Object)
	r := b.apply(bundleOf(install("web", tmplConfig)))
	want := "1 object of a kind that this module defines still exists: Widget default/theirs; delete the ones that you do not need"
	if r.Waiting != want {
		t.Errorf("nothing is forced where a module stays:\nwant %q\ngot  %q", want, r.Waiting)
	}
}
