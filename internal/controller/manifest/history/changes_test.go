// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// after returns a time some minutes after the creation of the Manifest.
func after(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }

// manifest returns a Manifest with a generation and a running version, and the type of the condition that is True, if any.
func manifest(generation int64, version string, is xpv2.ConditionType) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "istio", UID: "1", Generation: generation, CreationTimestamp: metav1.NewTime(begin),
		Labels: map[string]string{v1alpha1.LabelModuleName: "service-mesh"},
	}}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "edge"}
	m.Spec.ForProvider.Version = "v" + string(rune('0'+generation))
	m.Status.AtProvider.Version = version
	if is != "" {
		m.SetConditions(xpv2.Condition{Type: is, Status: corev1.ConditionTrue, ObservedGeneration: generation})
	}
	return m
}

// deleted returns the Manifest while it is being deleted since some minutes after its creation.
func deleted(m *v1alpha1.Manifest, minutes int) *v1alpha1.Manifest {
	at := metav1.NewTime(after(minutes))
	m.DeletionTimestamp = &at
	return m
}

// TestRecorder checks the changes after a sequence of events. The n-th event comes n minutes after the creation, beginning with 1.
func TestRecorder(t *testing.T) {
	const ready, back = xpv2.TypeReady, v1alpha1.TypeRolledBack
	type event struct {
		m       *v1alpha1.Manifest
		existed bool
		gone    bool
	}
	stale := manifest(2, "v1", "")
	stale.SetConditions(xpv2.Condition{Type: ready, Status: corev1.ConditionTrue, ObservedGeneration: 1})
	cases := map[string]struct {
		reason string
		events []event
		want   []Change
	}{
		"Install": {
			reason: "A module counts as installed once it is Ready, and is not installed again.",
			events: []event{{m: manifest(1, "", "")}, {m: manifest(1, "v1", "")}, {m: manifest(1, "v1", ready)}, {m: manifest(1, "v1", "")}, {m: manifest(1, "v1", ready)}},
			want:   []Change{{Type: Installed, To: "v1", Took: 3 * time.Minute}},
		},
		"Upgrade": {
			reason: "An upgrade begins when the Manifest is changed. Ready for a former generation does not end it.",
			events: []event{{m: manifest(1, "v1", ready), existed: true}, {m: stale}, {m: manifest(2, "v2", "")}, {m: manifest(2, "v2", ready)}},
			want:   []Change{{Type: Upgraded, From: "v1", To: "v2", Took: 2 * time.Minute}},
		},
		"Update": {
			reason: "Other changes keep the version.",
			events: []event{{m: manifest(1, "v1", ready)}, {m: manifest(2, "v1", "")}, {m: manifest(2, "v1", ready)}},
			want:   []Change{{Type: Installed, To: "v1", Took: time.Minute}, {Type: Updated, From: "v1", To: "v1", Took: time.Minute}},
		},
		"RollBack": {
			reason: "A rollback restores the version, and ends with the next upgrade.",
			events: []event{
				{m: manifest(1, "v1", ready)}, {m: manifest(2, "v2", "")}, {m: manifest(2, "v1", back)}, {m: manifest(2, "v1", back)}, {m: manifest(3, "v3", ready)},
			},
			want: []Change{
				{Type: Installed, To: "v1", Took: time.Minute}, {Type: RolledBack, From: "v2", To: "v1", Took: time.Minute}, {Type: Upgraded, From: "v1", To: "v3"},
			},
		},
		"Remove": {
			reason: "The duration of a removal is measured from its request.",
			events: []event{{m: manifest(1, "v1", ready), existed: true}, {m: deleted(manifest(1, "v1", ""), 2)}, {m: deleted(manifest(1, "v1", ""), 2), gone: true}},
			want:   []Change{{Type: Removed, From: "v1", Took: time.Minute}},
		},
		"NeverInstalled": {
			reason: "The removal of a module that was never installed is not recorded.",
			events: []event{{m: manifest(1, "", "")}, {m: deleted(manifest(1, "", ""), 2), gone: true}},
		},
		"Restart": {
			reason: "A start of the provider is not recorded as a change, regardless of the state.",
			events: []event{{m: manifest(1, "v1", ready), existed: true}, {m: manifest(1, "v1", "")}, {m: manifest(1, "v1", ready)}},
		},
		"RestartMeanwhile": {
			reason: "If the provider starts while a module is not Ready, it is unknown whether its Manifest was changed.",
			events: []event{{m: manifest(2, "v1", ""), existed: true}, {m: manifest(2, "v1", ready)}},
		},
		"RestartRolledBack": {
			reason: "A rollback is recorded once.",
			events: []event{{m: manifest(2, "v1", back), existed: true}, {m: manifest(2, "v1", back)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var measured []Change
			log := &lines{}
			r := NewRecorder(log, func(y Type, d time.Duration) { measured = append(measured, Change{Type: y, Took: d}) })
			for i, e := range tc.events {
				r.now = func() time.Time { return after(i + 1) }
				if e.gone {
					r.Delete(e.m)
					continue
				}
				r.Set(e.m, e.existed)
			}
			if diff := cmp.Diff(tc.want, log.changes); diff != "" {
				t.Errorf("%s\n-want, +logged:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, measured, cmpopts.IgnoreFields(Change{}, "From", "To")); diff != "" {
				t.Errorf("%s\n-want, +measured:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Forgotten", func(t *testing.T) {
		r := NewRecorder(logging.NewNopLogger(), func(Type, time.Duration) {})
		r.Set(manifest(1, "v1", ready), true)
		r.Delete(manifest(1, "v1", ready))
		r.Set(manifest(1, "v1", ready), true)
		r.Forget(manifest(1, "v1", ready))
		if n := len(r.states); n != 0 {
			t.Errorf("want no states, got %d", n)
		}
		r.Set(manifest(1, "v1", ready), true)
		r.Reset()
		if n := len(r.states); n != 0 {
			t.Errorf("want no states, got %d", n)
		}
		(*Recorder)(nil).Set(manifest(1, "v1", ready), true)
		(*Recorder)(nil).Delete(manifest(1, "v1", ready))
		(*Recorder)(nil).Forget(manifest(1, "v1", ready))
		(*Recorder)(nil).Reset()
	})
}

// lines is a logger that keeps the changes that its lines contain.
type lines struct {
	logging.Logger

	changes []Change
}

func (l *lines) Info(message string, fields ...any) {
	values := map[string]string{}
	for i := 0; i+1 < len(fields); i += 2 {
		values[fields[i].(string)] = fields[i+1].(string)
	}
	took, _ := time.ParseDuration(values["duration"])
	for _, t := range Types() {
		if message == string(t)+" module" && values["namespace"] == "team-a" && values["name"] == "istio" &&
			values["module"] == "service-mesh" && values["cluster"] == "ProviderConfig team-a/edge" {
			l.changes = append(l.changes, Change{Type: t, From: values["from"], To: values["to"], Took: took})
		}
	}
}
