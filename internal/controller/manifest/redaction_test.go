// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// fill sets each string in a value to a text that contains a value of a Secret, so that new fields of the engine are tested
// automatically. Texts of types other than string are enumerations.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString("shows " + hunter)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Slice:
		if v.Type() != reflect.TypeFor[[]byte]() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	case reflect.Bool:
		v.SetBool(false)
	default:
	}
}

func filled[T any](change func(*T)) T {
	var out T
	fill(reflect.ValueOf(&out).Elem())
	if change != nil {
		change(&out)
	}
	return out
}

// shown returns all texts of a Manifest that a pass reports. It omits names and versions of installs and tests, which have
// separate fields in the status.
func shown(t *testing.T, mr *v1alpha1.Manifest, r *recorded, rest ...string) string {
	t.Helper()
	at := mr.Status.DeepCopy().AtProvider
	at.Version = ""
	for i := range at.Installs {
		at.Installs[i].Name, at.Installs[i].Version = "", ""
	}
	if at.Tests != nil {
		at.Tests.Token = ""
		for i := range at.Tests.Tests {
			of := &at.Tests.Tests[i]
			of.Install, of.Kind, of.Namespace, of.Name = "", "", "", ""
		}
	}
	if at.Rollback != nil {
		at.Rollback.Version = ""
	}
	b, err := json.Marshal([]any{at, mr.Status.Conditions, r.events, rest})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNothingIsShown checks that no text from the engine leaves the controller with a value of a Secret, regardless of the
// field and the result that contain it.
func TestNothingIsShown(t *testing.T) {
	boom := errors.New("boom " + hunter)
	states := []engine.State{engine.Ready, engine.Processing, engine.Warning, engine.Error}
	type call func(e *external, mr *v1alpha1.Manifest) (diff string, err error)
	observe := func(e *external, mr *v1alpha1.Manifest) (string, error) {
		o, err := e.Observe(t.Context(), mr)
		return o.Diff, err
	}
	rollback := func(m *v1alpha1.Manifest) {
		m.Spec.ForProvider.Rollback = &v1alpha1.Rollback{After: metav1.Duration{Duration: time.Nanosecond}}
	}
	cases := map[string]struct {
		mr    *v1alpha1.Manifest
		fails bool
		call  call
	}{
		"Observe":        {mr: named("n", "m"), call: observe},
		"ObserveFails":   {mr: named("n", "m"), fails: true, call: observe},
		"Plan":           {mr: named("n", "m", inModePlan), call: observe},
		"PlanFails":      {mr: named("n", "m", inModePlan), fails: true, call: observe},
		"ObserveRemoval": {mr: named("n", "m", deleted), fails: true, call: observe},
		"Create": {mr: named("n", "m"), call: func(e *external, mr *v1alpha1.Manifest) (string, error) {
			_, err := e.Create(t.Context(), mr)
			return "", err
		}},
		"Update": {mr: named("n", "m"), call: func(e *external, mr *v1alpha1.Manifest) (string, error) {
			_, err := e.Update(t.Context(), mr)
			return "", err
		}},
		"Upgrade": {mr: named("n", "m", rollback), call: func(e *external, mr *v1alpha1.Manifest) (string, error) {
			diff, _ := observe(e, mr)
			_, err := e.Update(t.Context(), mr)
			return diff, err
		}},
		"RolledBack": {mr: named("n", "m", rollback), call: func(e *external, mr *v1alpha1.Manifest) (string, error) {
			for range 3 {
				_, _ = observe(e, mr)
				_, _ = e.Update(t.Context(), mr)
			}
			return observe(e, mr)
		}},
		"Delete": {mr: named("n", "m", deleted), call: func(e *external, mr *v1alpha1.Manifest) (string, error) {
			_, err := e.Delete(t.Context(), mr)
			return "", err
		}},
		"DeleteFails": {mr: named("n", "m", deleted), fails: true, call: func(e *external, mr *v1alpha1.Manifest) (string, error) {
			_, err := e.Delete(t.Context(), mr)
			return "", err
		}},
	}
	last, err := checkpoint.New(named("n", "m"), &engine.Bundle{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		for _, state := range states {
			t.Run(name+string(state), func(t *testing.T) {
				var failure error
				if tc.fails {
					failure = boom
				}
				m := &mockEngine{
					observe: func() (engine.Observation, error) {
						return filled(func(o *engine.Observation) {
							o.State, o.Exists, o.Checkpoint = state, true, last.Data
							o.Tests[0].State, o.UpToDate = state, state == engine.Error
						}), failure
					},
					apply: func() (engine.Result, error) {
						return filled(func(r *engine.Result) { r.Tested[0].State = state }), boom
					},
					plan:   func() (engine.Plan, error) { return filled[engine.Plan](nil), failure },
					remove: func() (engine.Removal, error) { return filled(func(r *engine.Removal) { r.State = state }), failure },
				}
				r, mr := &recorded{}, tc.mr.DeepCopy()
				e := externalOf(m, &engine.Bundle{Drift: engine.DriftReport}, r, hunter)
				diff, err := tc.call(e, mr)
				text := ""
				if err != nil {
					text = err.Error()
				}
				all := shown(t, mr, r, diff, text)
				if strings.Contains(all, hunter) || !strings.Contains(all, "(hidden)") {
					t.Errorf("%s shows a value of a Secret, or nothing:\n%s", name, all)
				}
				for _, o := range m.options {
					if got := o.Redact("log: " + hunter); got != "log: (hidden)" {
						t.Errorf("what hooks say last: %q", got)
					}
				}
				if len(m.options) == 0 && name != "ObserveRemoval" {
					t.Error("the engine was not called")
				}
			})
		}
	}
}

// TestRedactedBeforeItIsCut checks that a truncated message does not end with a part of a short value.
func TestRedactedBeforeItIsCut(t *testing.T) {
	r, mr := &recorded{}, named("n", "m")
	o := engine.Observation{State: engine.Error, Message: strings.Repeat("x", conditions.MaxMessage-10) + "hunter2-abc"}
	e := externalOf(&mockEngine{observe: func() (engine.Observation, error) { return o, nil }}, &engine.Bundle{}, r, "hunter2-abc")
	if _, err := e.Observe(t.Context(), mr); err != nil || strings.Contains(shown(t, mr, r), "hunt") {
		t.Errorf("Observe(...): %v, %s", err, mr.Status.AtProvider.Message)
	}
}

// TestSnapshotIsRedacted checks that a restored state shows none of its values, which can differ from the current values.
func TestSnapshotIsRedacted(t *testing.T) {
	l := newSimulation(t)
	l.now = l.now.Add(2 * time.Minute)
	if err := l.pass(1); err != nil {
		t.Fatal(err)
	}
	s := checkpoint.Read(l.eng.good)
	s.Secrets = []any{hunter}
	if err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	l.eng.good, l.eng.message = s.Data, "log: "+hunter
	if err := l.pass(2); err != nil || l.eng.applied != "1.0.0" {
		t.Fatalf("%v, %s", err, l.eng.applied)
	}
	if got := shown(t, l.mr, &l.record); strings.Contains(got, hunter) || !strings.Contains(got, "log: (hidden)") || l.eng.redacted != "(hidden)" {
		t.Errorf("%s, and in the engine %q", got, l.eng.redacted)
	}
	l.eng.err = errors.New("boom " + hunter)
	if err := l.pass(1); err == nil || strings.Contains(shown(t, l.mr, &l.record, err.Error()), hunter) {
		t.Errorf("an error about it: %v", err)
	}
}
