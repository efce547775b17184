// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

func waitingBundle(greeting, clientConfig string) *Bundle {
	s := bundleOf(install("first", tmplDeploy, tmplConfig), install("second", configMap("second")), plainOf("third", configMap("third")))
	s.Installs[0].Values = map[string]any{"greeting": greeting}
	s.Config = configOf(entryFor("first", clientConfig, ""))
	return s
}

func TestConfigWait(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := waitingBundle("hello", "Wait=true")
	there := func(name string) bool { return b.s.uidOf(key("ConfigMap", "apps", name)) != "" }

	for range 3 {
		if r := b.apply(s); r.Waiting == "" {
			t.Errorf("what is left waits: %+v", r)
		}
	}
	if !there("web") || there("second") || there("third") {
		t.Errorf("only the first install must be applied: %q", b.s.keys())
	}
	held := "waits until install first is ready, because the config layer sets Wait: Deployment apps/web: 0 of 1 replicas available"
	want := []observe.PartState{
		{Install: "first", Phase: observe.PhaseProgressing, State: Processing, Version: "1.0.0", Message: "Deployment apps/web: 0 of 1 replicas available"},
		{Install: "second", Phase: observe.PhaseBlocked, State: Processing, Message: held}, {Install: "third", Phase: observe.PhaseBlocked, State: Processing, Message: held},
	}
	o := b.observe(s)
	if diff := cmp.Diff(want, o.Parts); diff != "" || o.UpToDate || o.Atomic != 0 {
		t.Errorf("observation: %+v, -want, +got:\n%s", o, diff)
	}

	b.restart()
	deployment := key("Deployment", "apps", "web")
	ready := map[string]any{"observedGeneration": int64(1), "replicas": int64(1), "readyReplicas": int64(1), "availableReplicas": int64(1), "updatedReplicas": int64(1),
		"conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
	b.s.status(deployment, ready)
	b.apply(s)
	if o := b.observe(s); !o.UpToDate || o.State != Ready || !there("second") || !there("third") {
		t.Errorf("what waited must be applied: %+v", o)
	}

	// Applied objects stay if the first install is no longer ready, and their drift is repaired.
	b.s.status(deployment, map[string]any{})
	b.s.edit(key("ConfigMap", "apps", "second"), func(u *unstructured.Unstructured) { u.Object["data"] = map[string]any{"k": "x"} })
	if r := b.apply(s); len(r.Repaired) != 1 {
		t.Errorf("drift must be repaired: %+v", r)
	}

	// A change of another install waits, too, although the config is the same.
	s.Installs[1].Values = map[string]any{"a": "b"}
	b.restart()
	b.apply(s)
	if rec := b.inventory(s).Parts["second"]; rec.Revision != 1 {
		t.Errorf("an upgrade must wait: %+v", rec)
	}
	b.s.status(deployment, ready)
	b.reconcile(s)
	if r := b.take(s); !r.Gone {
		t.Errorf("removal: %+v", r)
	}
}

// TestWaitForFailed checks that nothing is applied after an install that fails.
func TestWaitForFailed(t *testing.T) {
	b := newBench(t)
	s := waitingBundle("hello", "Atomic=true")
	s.Installs[0] = install("first", `{{ fail "no" }}`)
	if _, err := b.Apply(t.Context(), b.c, s); err == nil || strings.Contains(err.Error(), "second") {
		t.Errorf("only the first install fails: %v", err)
	}
	if b.s.uidOf(key("ConfigMap", "apps", "second")) != "" {
		t.Error("the second must not be applied")
	}
	if o := b.observe(s); !strings.Contains(o.Parts[1].Message, "waits until install first is ready") || o.Parts[0].State != Error {
		t.Errorf("observation: %+v", o)
	}
}

func TestAtomicIsObserved(t *testing.T) {
	for clientConfig, want := range map[string]time.Duration{
		"Atomic=true": 5 * time.Minute, "Atomic=true,Timeout=90s": 90 * time.Second, "Timeout=90s": 0,
	} {
		b := newBench(t)
		s := waitingBundle("hello", clientConfig)
		b.reconcile(s)
		b.restart()
		if o := b.observe(s); o.Atomic != want || o.State != Ready {
			t.Errorf("%s: want %s, observation: %+v", clientConfig, want, o)
		}
	}
}

func TestTakeOwnership(t *testing.T) {
	b := newBench(t)
	b.s.put(manifestOf(t, namespaceOf("apps")).Object)
	for _, n := range []string{"second", "third"} {
		u := manifestOf(t, configMap(n))
		u.SetNamespace("apps")
		b.s.put(u.Object)
	}
	s := waitingBundle("hello", "")
	s.Config = configOf(entryFor("second", "TakeOwnership=true,Description=as asked,Labels.team=a", ""))
	_, err := b.Apply(t.Context(), b.c, s)
	if err == nil || !strings.Contains(err.Error(), "third: ConfigMap apps/third: already exists and does not belong to this module") || strings.Contains(err.Error(), "second") {
		t.Fatalf("only the install that is named takes over: %v", err)
	}
	record := b.s.objects[key("Secret", "apps", "sh.helm.release.v1.second.v1")]
	if record == nil || record.u().GetLabels()["team"] != "a" {
		t.Errorf("the record must have the labels that were asked for: %+v", record)
	}
	w := b.begun(s)
	info, err := w.history().Get(t.Context(), inventory.Release{Namespace: "apps", Name: "second"}, 1)
	if err != nil || info.Description != "as asked" {
		t.Errorf("the record must have the description that was asked for: %+v, %v", info, err)
	}
	b.s.remove(key("ConfigMap", "apps", "third"))
	b.reconcile(s)
	if r := b.take(s); !r.Gone {
		t.Errorf("removal: %+v", r)
	}
}

func TestSkipSchemaValidation(t *testing.T) {
	for skip, want := range map[string]bool{"true": true, "false": false} {
		b := newBench(t)
		in := install("web", configMap("a"))
		content, err := in.Fetch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		files, err := content.Files()
		if err != nil {
			t.Fatal(err)
		}
		in.Layer = layerOf(append(files, source.File{Name: "values.schema.json", Data: []byte(`{"required":["must"]}`)}))
		s := bundleOf(in)
		s.Config = configOf(entryFor("web", "SkipSchemaValidation="+skip, ""))
		if _, err := b.Apply(t.Context(), b.c, s); (err == nil) != want {
			t.Errorf("SkipSchemaValidation=%s: %v", skip, err)
		}
	}
}
