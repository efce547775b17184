// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

func TestCheckpoint(t *testing.T) {
	b := newBench(t)
	one := bundleOf(install("web", webTemplates...))
	b.reconcile(one)
	b.s.took()

	keepOne, keepTwo := WithCheckpoint([]byte("one")), WithCheckpoint([]byte("two"))
	if o := b.observe(one, keepOne); o.UpToDate || o.State != Ready || o.Checkpoint != nil {
		t.Errorf("Observe(...): a bundle that is Ready must be kept: %+v", o)
	}
	b.apply(one, keepOne)
	if diff := cmp.Diff([]string{"patch Secret kyma-system/team-a-web"}, b.s.took()); diff != "" {
		t.Errorf("Apply(...): keeping costs one write: -want, +got:\n%s", diff)
	}
	if o := b.observe(one, keepOne); !o.UpToDate || string(o.Checkpoint) != "one" {
		t.Errorf("Observe(...): want what is kept, and nothing to do, got %+v", o)
	}

	b.s.unready = true
	two := bundleOf(install("web", append([]string{strings.Replace(tmplDeploy, "name: web", "name: two", 1)}, webTemplates...)...))
	b.reconcile(two, keepTwo)
	if o := b.observe(two, keepTwo); o.State == Ready || !o.UpToDate || string(o.Checkpoint) != "one" {
		t.Errorf("Observe(...): what is not Ready is not kept: %+v", o)
	}
	b.restart()
	if o := b.observe(two, keepTwo); string(o.Checkpoint) != "one" {
		t.Errorf("Observe(...): what is kept outlives the process: %+v", o)
	}

	b.reconcile(one, keepOne, AsRollback())
	if o := b.observe(one, keepOne, AsRollback()); o.State != Ready || string(o.Checkpoint) != "one" {
		t.Errorf("Observe(...): %+v", o)
	}

	b.reconcile(one)
	if o := b.observe(one); o.Checkpoint != nil || !o.UpToDate {
		t.Errorf("Observe(...): without a checkpoint none is kept: %+v", o)
	}
}

// A bundle that works is kept, although another client changed an object. One that lacks an object is not kept.
func TestCheckpointOfDrift(t *testing.T) {
	b := newBench(t)
	x := key("ConfigMap", "apps", "x")
	of := func(image string) *Bundle {
		s := bundleOf(install("web", deployOf(1, image), configMap("x")))
		s.Drift = DriftReport
		return s
	}
	b.reconcile(of("a"), WithCheckpoint([]byte("one")))
	b.s.edit(x, set("theirs", "data", "k"))
	two := WithCheckpoint([]byte("two"))
	b.reconcile(of("b"), two)
	if o := b.observe(of("b"), two); !o.Works || !o.UpToDate || string(o.Checkpoint) != "two" {
		t.Errorf("Observe(...): a bundle that works must be kept: %+v", o)
	}
	b.s.remove(x)
	three := WithCheckpoint([]byte("three"))
	b.reconcile(of("c"), three)
	if o := b.observe(of("c"), three); o.Works || !o.UpToDate || string(o.Checkpoint) != "two" {
		t.Errorf("Observe(...): a bundle that lacks an object must not be kept: %+v", o)
	}
	b.reconcile(of("b"), two, AsRollback())
	if image, _, _ := unstructured.NestedString(b.s.objects[key("Deployment", "apps", "web")].content, "spec", "template", "spec", "image"); image != "b" {
		t.Errorf("a rollback to a bundle with drift: %s", image)
	}
}

func TestCheckpointTooLarge(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	large := WithCheckpoint(bytes.Repeat([]byte("x"), inventory.MaxData))
	b.reconcile(s, large)
	o := b.observe(s, large)
	want := fmt.Sprintf("(%d bytes compressed) does not fit into Secret kyma-system/team-a-web", inventory.MaxData)
	if o.State != Ready || !o.UpToDate || o.Checkpoint != nil || !strings.Contains(o.NotKept, want) {
		t.Errorf("Observe(...): what is too large is not kept, which fails nothing: %s %v %q", o.State, o.UpToDate, o.NotKept)
	}
}

// After a crash at any write while a checkpoint is stored, the next step finishes the work.
func TestCheckpointCrash(t *testing.T) {
	for _, lost := range []bool{false, true} {
		b := newBench(t)
		s := bundleOf(install("web", webTemplates...))
		b.reconcile(s)
		keep := WithCheckpoint([]byte("one"))
		b.c.cutAfter(1, lost)
		_, _ = b.Apply(t.Context(), b.c, s, keep)
		b.restart()
		b.reconcile(s, keep)
		if o := b.observe(s, keep); string(o.Checkpoint) != "one" || o.State != Ready {
			t.Errorf("Observe(...): after a crash (answer lost: %v): %+v", lost, o)
		}
	}
}

func TestRollBackRandom(t *testing.T) {
	const random = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: random}\ndata: {v: \"{{ randAlphaNum 12 }}\", s: {{ .Values.greeting }}}\n"
	b := newBench(t)
	k := key("ConfigMap", "apps", "random")
	value := func() string {
		v, _, _ := unstructured.NestedString(b.s.objects[k].content, "data", "v")
		return v
	}
	one := bundleOf(install("web", random))
	b.reconcile(one)
	want := value()
	two := bundleOf(install("web", random))
	two.Installs[0].Values = map[string]any{"greeting": "two"}
	b.reconcile(two)
	if value() == want {
		t.Fatal("the chart must render differently each time")
	}
	b.reconcile(one, AsRollback())
	if value() != want {
		t.Errorf("a bundle that is rolled back gets the objects of then: want %s, got %s", want, value())
	}
	w := b.begun(one)
	info, err := w.history().Get(t.Context(), inventory.Release{Namespace: "apps", Name: "web"}, 3)
	if err != nil || info == nil || info.Description != "Rollback to 1" || !strings.Contains(info.Manifest, want) {
		t.Errorf("the record of revision 3: %v, %+v", err, info)
	}
}
