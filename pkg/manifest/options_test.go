// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// wholeBundle returns a bundle with each field set.
func wholeBundle(t *testing.T) *Bundle {
	t.Helper()
	s := crashBundle(t, false)
	s.Labels = map[string]string{"team": "a"}
	s.Installs[0].Values = map[string]any{"greeting": "hi", "nested": map[string]any{"list": []any{"a", "b"}}}
	s.Config = configOf(entryFor("web", "Timeout=90s", "greeting=configured,nested.more=c"))
	s.Transforms = []Transform{labelled("a", "x")}
	s.Readiness = []Rule{{CEL: "true", For: schema.GroupKind{Group: "example.org", Kind: "Widget"}}, {
		For:  schema.GroupKind{Kind: "Service"},
		Func: func(context.Context, *unstructured.Unstructured) (State, string, error) { return Ready, "", nil },
	}}
	s.Adopt, s.Recreate, s.Drift = true, true, DriftReport
	return s
}

// diffBundles compares two bundles without their functions.
func diffBundles(want, got *Bundle) string {
	return cmp.Diff(want, got, cmpopts.IgnoreFields(source.Layer{}, "Fetch"),
		cmpopts.IgnoreFields(Transform{}, "Func"), cmpopts.IgnoreFields(Rule{}, "Func"))
}

func TestBundleStaysAsItIs(t *testing.T) {
	options := []CallOption{
		WithCheckpoint([]byte("one")), AsRollback(), WithRetryToken("again"), WithTestToken("now"), WithRedactor(strings.ToUpper), ForceRemoval(),
	}
	type verb struct {
		name string
		call func(ctx context.Context, b *bench, s *Bundle) error
	}
	waiting := append(slices.Clone(options), Wait())
	verbs := []verb{
		{"Plan", func(ctx context.Context, b *bench, s *Bundle) error {
			p, err := b.Plan(ctx, b.c, s, options...)
			if err == nil {
				_, err = b.ApplyPlan(ctx, b.c, s, p, options...)
			}
			return err
		}},
		{"Install", func(ctx context.Context, b *bench, s *Bundle) error {
			_, err := b.Install(ctx, b.c, s, waiting...)
			return err
		}},
		{"Apply", func(ctx context.Context, b *bench, s *Bundle) error {
			b.s.remove(key("ConfigMap", "apps", "web"))
			_, err := b.Apply(ctx, b.c, s, options...)
			return err
		}},
		{"Check", func(ctx context.Context, b *bench, s *Bundle) error {
			_, err := b.Check(ctx, b.c, s, options...)
			return err
		}},
		{"Exists", func(ctx context.Context, b *bench, s *Bundle) error {
			_, err := b.Exists(ctx, b.c, s)
			return err
		}},
		{"Uninstall", func(ctx context.Context, b *bench, s *Bundle) error {
			_, err := b.Uninstall(ctx, b.c, s, waiting...)
			return err
		}},
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		b, s := newBench(t), wholeBundle(t)
		for _, v := range verbs {
			if err := v.call(ctx, b, s); err != nil {
				t.Errorf("%s: %v", v.name, err)
			}
			if diff := diffBundles(wholeBundle(t), s); diff != "" {
				t.Fatalf("%s changed the bundle: -was, +is:\n%s", v.name, diff)
			}
		}
		if left := b.inventory(s); left != nil {
			t.Errorf("the bundle must have been installed and removed, left is %+v", left)
		}
	})
}

// TestBundleIsShared checks that concurrent calls on one bundle each have their own options.
func TestBundleIsShared(t *testing.T) {
	s := wholeBundle(t)
	t.Run("Clusters", func(t *testing.T) {
		for _, name := range []string{"one", "two", "three"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				keep := WithCheckpoint([]byte(name))
				b.reconcile(s, keep)
				b.reconcile(s, keep)
				if o := b.observe(s, keep); string(o.Checkpoint) != name || !o.UpToDate {
					t.Errorf("want the checkpoint of this cluster, %s, got %+v", name, o)
				}
				b.takeAll(s)
			})
		}
	})
	if diff := diffBundles(wholeBundle(t), s); diff != "" {
		t.Errorf("the bundle changed: -was, +is:\n%s", diff)
	}
}

// TestOptionsAtRest checks which options leave something to do if everything is applied: none of them applies an object again.
func TestOptionsAtRest(t *testing.T) {
	cases := map[string]struct {
		reason string
		option CallOption
		want   []string // Requests, except for those about the inventory.
		due    bool
	}{
		"Retry":      {reason: "Nothing failed.", option: WithRetryToken("again")},
		"Rollback":   {reason: "The same inputs are applied.", option: AsRollback()},
		"Redact":     {reason: "No text is stored.", option: WithRedactor(strings.ToUpper)},
		"Force":      {reason: "Nothing is removed.", option: ForceRemoval()},
		"Checkpoint": {reason: "A checkpoint is stored with the inventory.", option: WithCheckpoint([]byte("one")), due: true},
		"Test": {
			reason: "Tests run from the record of the release.", option: WithTestToken("now"), due: true,
			want: []string{"get Secret apps/sh.helm.release.v1.web.v1", "patch ConfigMap apps/probe"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", tmplConfig, tmplDeploy, hookOf("v1", "ConfigMap", "probe", "test")))
			b.reconcile(s)
			b.s.took()
			if o := b.observe(s, tc.option); o.UpToDate == tc.due || o.State != Ready {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}
			b.reconcile(s, tc.option)
			got := slices.DeleteFunc(b.s.took(), func(r string) bool { return strings.HasSuffix(r, " Secret kyma-system/team-a-web") })
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
