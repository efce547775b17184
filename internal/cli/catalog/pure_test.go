// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestReadiness(t *testing.T) {
	kyma := func(change func(k *v1alpha1.Kyma)) *v1alpha1.Kyma {
		k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "k", Generation: 3}}
		k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: "a"}, {Name: "b"}}
		k.Status.AtProvider = v1alpha1.KymaObservation{
			State: v1alpha1.StateReady, Modules: []v1alpha1.ModuleStatus{is("a", v1alpha1.StateReady, ""), is("b", v1alpha1.StateReady, "")},
		}
		k.SetConditions(xpv2.Available(), xpv2.ReconcileSuccess().WithObservedGeneration(3))
		change(k)
		return k
	}
	cases := map[string]struct {
		reason  string
		kyma    *v1alpha1.Kyma
		modules []string
		want    verdict
	}{
		"Ready":     {"All of it is there.", kyma(func(*v1alpha1.Kyma) {}), nil, verdict{met: true}},
		"Empty":     {"So is nothing.", kyma(func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules, k.Status.AtProvider.Modules = nil, nil }), nil, verdict{met: true}},
		"New":       {"Of a new one nothing is said.", &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, nil, verdict{message: "the provider has not seen the Kyma as it is now"}},
		"Old":       {"What is said of another spec does not count.", kyma(func(k *v1alpha1.Kyma) { k.Generation = 4 }), []string{"a"}, verdict{message: "the provider has not seen the Kyma as it is now"}},
		"WasPaused": {"Nobody has looked since the pause.", kyma(func(k *v1alpha1.Kyma) { k.SetConditions(xpv2.ReconcilePaused().WithObservedGeneration(3)) }), nil, verdict{message: "the provider has not seen the Kyma as it is now"}},
		"Paused":    {"Nobody looks.", kyma(func(k *v1alpha1.Kyma) { k.Annotations = map[string]string{"crossplane.io/paused": "true"} }), nil, verdict{message: "the Kyma is paused: annotation crossplane.io/paused"}},
		"NotSynced": {"What cannot be checked is not Ready.", kyma(func(k *v1alpha1.Kyma) {
			k.SetConditions(xpv2.ReconcileError(errors.New("no")).WithObservedGeneration(3))
		}), nil, verdict{message: "no"}},
		"NotReady":   {"The condition counts.", kyma(func(k *v1alpha1.Kyma) { k.SetConditions(xpv2.Unavailable()) }), nil, verdict{message: "it is not Ready"}},
		"Unreported": {"A module that is wanted has to be there.", kyma(func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules = k.Status.AtProvider.Modules[:1] }), nil, verdict{message: "b: " + unseen}},
		"Other":      {"Other modules do not count where some are named.", kyma(func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules[1].State = v1alpha1.StateError }), []string{"a"}, verdict{met: true}},
		"Failed":     {"An error is one.", kyma(func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules[1].State = v1alpha1.StateError }), []string{"b"}, verdict{failed: true, message: "b: is in state Error"}},
		"AllFailed": {"So it is for the whole.", kyma(func(k *v1alpha1.Kyma) {
			k.Status.AtProvider.State, k.Status.AtProvider.Message = v1alpha1.StateError, "b: no"
		}), nil, verdict{failed: true, message: "b: no"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readiness(tc.kyma, tc.modules)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(verdict{})); diff != "" {
				t.Errorf("\n%s\nreadiness(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	template := func(name, channel, version string) v1alpha1.ModuleTemplate {
		m := v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}
		m.Spec.ModuleName, m.Spec.Channel = "a", channel
		m.Status.Version, m.Status.ResolvedGeneration = version, 1
		return m
	}
	leaving, changing := template("leaving", "fast", "3.0.0"), template("changing", "next", "1.0.0")
	leaving.DeletionTimestamp, changing.Generation = &metav1.Time{Time: time.Now()}, 2
	all := releasesOf([]v1alpha1.ModuleTemplate{template("two", "regular", "1.0.0"), template("one", "regular", "2.0.0"), template("x", "fast", "2.0.0"), leaving, changing})
	type want struct {
		found release
		code  command.ExitCode
		part  string
	}
	cases := map[string]struct {
		reason  string
		all     releases
		name    string
		channel string
		want    want
	}{
		"Found":     {"One that is being deleted does not count.", all, "a", "fast", want{found: release{Name: "a", Channel: "fast", Version: "2.0.0", Template: "x"}}},
		"Changing":  {"The version of another spec does not count.", all, "a", "next", want{found: release{Name: "a", Channel: "next", Template: "changing", Message: "not resolved yet"}}},
		"Ambiguous": {"None of two is picked.", all, "a", "regular", want{code: command.ExitFailure, part: "one and two"}},
		"NoChannel": {"The channels are named.", all, "a", "beta", want{code: command.ExitNotFound, part: "fast, next, regular"}},
		"NoModule":  {"The modules are named.", all, "b", "fast", want{code: command.ExitNotFound, part: "there are modules a"}},
		"Nothing":   {"There is nothing at all.", nil, "b", "fast", want{code: command.ExitNotFound, part: "kymactl module template"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.all.find(tc.name, tc.channel)
			if diff := cmp.Diff(tc.want.code, command.CodeOf(err)); diff != "" {
				t.Fatalf("\n%s\nfind(): -want, +got:\n%s", tc.reason, diff)
			}
			if err != nil && !strings.Contains(err.Error(), tc.want.part) {
				t.Errorf("\n%s\nwant %q in %v", tc.reason, tc.want.part, err)
			}
			if diff := cmp.Diff(tc.want.found, got); diff != "" {
				t.Errorf("\n%s\nfind(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestComposer(t *testing.T) {
	yes := true
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{
		Labels:          map[string]string{labelComposite: "x", labelClaimName: "c", labelClaimNamespace: "ns"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "XKyma", Name: "x", Controller: &yes}},
	}}
	if diff := cmp.Diff("XKyma x (claim ns/c)", composer(k)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("", composer(&v1alpha1.Kyma{})); diff != "" {
		t.Errorf("a Kyma of its own: -want, +got:\n%s", diff)
	}
}

func TestSelectEvents(t *testing.T) {
	now := metav1.Now()
	var all []corev1.Event
	for i := range 15 {
		at := metav1.NewTime(now.Add(time.Duration(i) * time.Minute))
		e := corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i)}, Message: strconv.Itoa(i), InvolvedObject: corev1.ObjectReference{UID: "u"}}
		switch i % 3 { // Each kind of recorder has its own field.
		case 0:
			e.LastTimestamp = at
		case 1:
			e.EventTime = metav1.MicroTime(at)
		default:
			e.Series = &corev1.EventSeries{Count: 7, LastObservedTime: metav1.MicroTime(at)}
		}
		all = append(all, e)
	}
	got := selectEvents(all, map[types.UID]bool{"u": true})
	if len(got) != maxEvents || got[0].Message != "14" || got[9].Message != "5" || got[0].Count != 7 || got[1].Count != 1 {
		t.Errorf("want the last %d, newest first, got %v", maxEvents, got)
	}
}

func TestParseValues(t *testing.T) {
	type want struct {
		values map[string]any
		part   string
	}
	cases := map[string]struct {
		reason string
		text   string
		want   want
	}{
		"Object":    {"Whole numbers stay so.", "a: 1\nb: {c: 9007199254740993, d: null}\n", want{values: map[string]any{"a": int64(1), "b": map[string]any{"c": int64(9007199254740993), "d": nil}}}},
		"Empty":     {"Nothing is no value.", "# nothing\n", want{values: map[string]any{}}},
		"List":      {"A list has no names.", "- a\n", want{part: "no object"}},
		"Duplicate": {"Of two none is picked.", "a: 1\na: 2\n", want{part: "already set"}},
		"Broken":    {"What is no YAML is said to be none.", "a: [", want{part: "no YAML"}},
		"Large":     {"There is a limit.", "a: " + strings.Repeat("x", maxValues), want{part: "larger"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseValues([]byte(tc.text))
			if diff := cmp.Diff(tc.want.values, got); diff != "" {
				t.Errorf("\n%s\nparseValues(): -want, +got:\n%s", tc.reason, diff)
			}
			if (err != nil) != (tc.want.part != "") || err != nil && !strings.Contains(err.Error(), tc.want.part) {
				t.Errorf("\n%s\nwant an error with %q, got %v", tc.reason, tc.want.part, err)
			}
		})
	}
}

// FuzzParseValues holds that what is read can be written.
func FuzzParseValues(f *testing.F) {
	f.Add([]byte("a: 1\n"))
	f.Add([]byte("a: &x [1]\nb: *x\n"))
	f.Add([]byte("{}"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := parseValues(data)
		if err != nil {
			return
		}
		if values == nil {
			t.Fatal("want values")
		}
		if _, err := json.Marshal(values); err != nil {
			t.Fatal(err)
		}
	})
}
