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

func TestGood(t *testing.T) {
	b := newBench(t)
	one := setOf(install("web", webTemplates...))
	b.settle(one)
	b.s.took()

	one.Good = []byte("one")
	if o := b.observe(one); o.UpToDate || o.State != Ready || o.Good != nil {
		t.Errorf("Observe(...): a set that is Ready is to be kept: %+v", o)
	}
	b.apply(one)
	if diff := cmp.Diff([]string{"patch Secret kyma-system/team-a-web"}, b.s.took()); diff != "" {
		t.Errorf("Apply(...): keeping costs one write: -want, +got:\n%s", diff)
	}
	if o := b.observe(one); !o.UpToDate || string(o.Good) != "one" {
		t.Errorf("Observe(...): want what is kept, and nothing to do, got %+v", o)
	}

	b.s.unready = true
	two := setOf(install("web", append([]string{strings.Replace(tmplDeploy, "name: web", "name: two", 1)}, webTemplates...)...))
	two.Good = []byte("two")
	b.settle(two)
	if o := b.observe(two); o.State == Ready || !o.UpToDate || string(o.Good) != "one" {
		t.Errorf("Observe(...): what is not Ready is not kept: %+v", o)
	}
	b.restart()
	if o := b.observe(two); string(o.Good) != "one" {
		t.Errorf("Observe(...): what is kept outlives the process: %+v", o)
	}

	one.RollingBack = true
	b.settle(one)
	if o := b.observe(one); o.State != Ready || string(o.Good) != "one" {
		t.Errorf("Observe(...): %+v", o)
	}

	one.Good, one.RollingBack = nil, false
	b.settle(one)
	if o := b.observe(one); o.Good != nil || !o.UpToDate {
		t.Errorf("Observe(...): without Good none is kept: %+v", o)
	}
}

func TestGoodTooLarge(t *testing.T) {
	b := newBench(t)
	s := setOf(install("web", webTemplates...))
	s.Good = bytes.Repeat([]byte("x"), inventory.MaxData)
	b.settle(s)
	o := b.observe(s)
	want := fmt.Sprintf("has %d bytes compressed, and there is no room for it in Secret kyma-system/team-a-web", inventory.MaxData)
	if o.State != Ready || !o.UpToDate || o.Good != nil || !strings.Contains(o.NotKept, want) {
		t.Errorf("Observe(...): what is too large is not kept, which fails nothing: %s %v %q", o.State, o.UpToDate, o.NotKept)
	}
}

// A crash at any write while a set is kept leaves nothing but what the next step does.
func TestGoodCrash(t *testing.T) {
	for _, lost := range []bool{false, true} {
		b := newBench(t)
		s := setOf(install("web", webTemplates...))
		b.settle(s)
		s.Good = []byte("one")
		b.c.cutAfter(1, lost)
		_, _ = b.Apply(t.Context(), b.c, s)
		b.restart()
		b.settle(s)
		if o := b.observe(s); string(o.Good) != "one" || o.State != Ready {
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
	one := setOf(install("web", random))
	b.settle(one)
	want := value()
	two := setOf(install("web", random))
	two.Installs[0].Values = map[string]any{"greeting": "two"}
	b.settle(two)
	if value() == want {
		t.Fatal("the chart must render differently each time")
	}
	one.RollingBack = true
	b.settle(one)
	if value() != want {
		t.Errorf("a set that is rolled back gets the objects of then: want %s, got %s", want, value())
	}
	w := b.begun(one)
	info, err := w.history().Get(t.Context(), inventory.Release{Namespace: "apps", Name: "web"}, 3)
	if err != nil || info == nil || info.Description != "Rollback to 1" || !strings.Contains(info.Manifest, want) {
		t.Errorf("the record of revision 3: %v, %+v", err, info)
	}
}
