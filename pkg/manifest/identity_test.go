// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A watcher is a cluster whose cache was made with an interpreter.
type watcher struct {
	*fakeCluster

	interpreter cluster.Interpreter
}

func (w *watcher) Cache() cluster.Cache { return w }

func (w *watcher) Interpreter() cluster.Interpreter { return w.interpreter }

// TestCheck checks that an engine does nothing with an invalid option, or with a connection that does not show its objects, and
// returns immediately.
func TestCheck(t *testing.T) {
	other := Identity{FieldManager: "other", ManagedBy: "other"}
	const mismatch = "the connection uses a different identity than the engine"
	cases := map[string]struct {
		reason      string
		options     []Option
		interpreter cluster.Interpreter
		want        string
	}{
		"Default":      {reason: "An engine without options matches a connection without options.", interpreter: Interpreter()},
		"Other":        {reason: "An engine matches a connection with the same identity.", options: []Option{WithIdentity(other)}, interpreter: Interpreter(WithIdentity(other))},
		"FieldManager": {reason: "The engine would take its fields for those of another client.", options: []Option{WithIdentity(Identity{FieldManager: "other", ManagedBy: DefaultManagedBy})}, interpreter: Interpreter(), want: mismatch},
		"ManagedBy":    {reason: "The engine would not see its objects.", options: []Option{WithIdentity(Identity{FieldManager: DefaultFieldManager, ManagedBy: "other"})}, interpreter: Interpreter(), want: mismatch},
		"Connection":   {reason: "The identity of the connection alone is not enough.", interpreter: Interpreter(WithIdentity(other)), want: mismatch},
		"Unknown":      {reason: "A cache that watches something else does not match.", want: mismatch},
		"Invalid":      {reason: "An identity must be valid.", options: []Option{WithIdentity(Identity{FieldManager: "x", ManagedBy: "a/b"})}, interpreter: Interpreter(WithIdentity(Identity{FieldManager: "x", ManagedBy: "a/b"})), want: "the identity has invalid value"},
		"Empty":        {reason: "The zero value is not an identity.", options: []Option{WithIdentity(Identity{})}, interpreter: Interpreter(), want: "no field manager"},
		"History":      {reason: "The minimum is two revisions.", options: []Option{WithHistory(2)}, interpreter: Interpreter()},
		"NoHistory":    {reason: "A rollback needs the previous revision.", options: []Option{WithHistory(1)}, interpreter: Interpreter(), want: "the minimum is 2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, c := New(tc.options...), &watcher{newFakeCluster(t, newFakeServer()), tc.interpreter}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := bundleOf(install("web", tmplConfig))
			calls := map[string]func() error{
				"Apply":     func() error { _, err := e.Apply(ctx, c, s); return err },
				"ApplyPlan": func() error { _, err := e.ApplyPlan(ctx, c, s, Plan{Basis: "x"}); return err },
				"Observe":   func() error { _, err := e.Observe(ctx, c, s); return err },
				"Exists":    func() error { _, err := e.Exists(ctx, c, s); return err },
				"Plan":      func() error { _, err := e.Plan(ctx, c, s); return err },
				"Remove":    func() error { _, err := e.Remove(ctx, c, s); return err },
				"Install":   func() error { _, err := e.Install(ctx, c, s, Wait()); return err },
				"Check":     func() error { _, err := e.Check(ctx, c, s, Wait()); return err },
				"Uninstall": func() error { _, err := e.Uninstall(ctx, c, s, Wait()); return err },
			}
			for call, do := range calls {
				if tc.want == "" {
					continue
				}
				if err := do(); err == nil || !strings.Contains(err.Error(), tc.want) || ctx.Err() != nil {
					t.Errorf("\n%s\n%s(...): want an error with %q, got %v", tc.reason, call, tc.want, err)
				}
			}
			if tc.want != "" {
				if got := c.server.took(); len(got) > 0 {
					t.Errorf("\n%s\nnothing must be sent, got %q", tc.reason, got)
				}
				return
			}
			if _, err := e.Apply(ctx, c, s); err != nil {
				t.Errorf("\n%s\nApply(...): %v", tc.reason, err)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig))
	for _, greeting := range []string{"one", "two", "three", "four"} {
		b.restart()
		WithHistory(2)(b.Engine)
		s.Installs[0].Values = map[string]any{"greeting": greeting}
		b.reconcile(s)
	}
	if diff := cmp.Diff([]string{"3 superseded", "4 deployed"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
}
