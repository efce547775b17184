// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestAttempts checks which configs are reported as changed.
func TestAttempts(t *testing.T) {
	config := func(kind, name string, generation int64) *Config {
		return &Config{Kind: kind, Name: name, Generation: generation}
	}
	kind, other := v1alpha1.ProviderConfigKind, v1alpha1.ClusterProviderConfigKind
	one, two := &fakeConnection{}, &fakeConnection{}
	cases := map[string]struct {
		reason string
		do     func(a *Attempts)
		want   []string
	}{
		"Connected": {reason: "The first attempt is reported.", do: func(a *Attempts) { a.Connected("u", config(kind, "a", 1), one) }, want: []string{"a"}},
		"Again": {
			reason: "Further attempts of the same user or of another user are not reported.",
			do: func(a *Attempts) {
				for _, user := range []string{"u", "u", "v"} {
					a.Connected(user, config(kind, "a", 1), one)
				}
			},
			want: []string{"a"},
		},
		"Generation": {
			reason: "A new spec is reported, though it leads to the same connection.",
			do: func(a *Attempts) {
				a.Connected("u", config(kind, "a", 1), one)
				a.Connected("u", config(kind, "a", 2), one)
			},
			want: []string{"a", "a"},
		},
		"Failed": {
			reason: "The same failure is reported once.",
			do: func(a *Attempts) {
				a.Failed("u", config(kind, "a", 1), errors.New("x"))
				a.Failed("u", config(kind, "a", 1), errors.New("x"))
				a.Failed("u", config(kind, "a", 1), errors.New("y"))
			},
			want: []string{"a", "a"},
		},
		"Shared": {
			reason: "A change of a connection is reported for each config that uses it, and for no other.",
			do: func(a *Attempts) {
				a.Connected("u", config(kind, "a", 1), one)
				a.Connected("v", config(kind, "b", 1), one)
				a.Connected("w", config(kind, "c", 1), two)
				a.Changed(one)
			},
			want: []string{"a", "b", "c", "a", "b"},
		},
		"Moved": {
			reason: "After a change of credentials, the former connection does not count.",
			do: func(a *Attempts) {
				a.Connected("u", config(kind, "a", 1), one)
				a.Connected("u", config(kind, "a", 1), two)
				a.Changed(one)
			},
			want: []string{"a", "a"},
		},
		"Forgotten": {
			reason: "A change is reported when the last user of a config is forgotten, and not again.",
			do: func(a *Attempts) {
				a.Connected("u", config(kind, "a", 1), one)
				a.Connected("v", config(kind, "a", 1), one)
				a.Forget("u")
				a.Forget("v")
				a.Forget("v")
				a.Changed(one)
			},
			want: []string{"a", "a"},
		},
		"AnotherConfig": {
			reason: "A user has one config.",
			do: func(a *Attempts) {
				a.Connected("u", config(kind, "a", 1), one)
				a.Connected("u", config(kind, "b", 1), one)
				a.Changed(one)
			},
			want: []string{"a", "a", "b", "b"},
		},
		"AnotherKind": {reason: "Each kind has a controller of its own.", do: func(a *Attempts) { a.Connected("u", config(other, "a", 1), one) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := NewAttempts()
			var got []string
			a.listen(kind, func(n types.NamespacedName) { got = append(got, n.Name) })
			tc.do(a)
			if name == "Shared" {
				// The configs of a connection have no particular order.
				slices.Sort(got[3:])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			var late []string
			a.listen(kind, func(n types.NamespacedName) { late = append(late, n.Name) })
			if len(late) != len(a.byConfig) && name != "AnotherKind" {
				t.Errorf("a controller that starts late must see all %d configs, sees %q", len(a.byConfig), late)
			}
			if name == "Forgotten" && len(a.byConfig)+len(a.byUser)+len(a.configs) != 0 {
				t.Errorf("something is kept: %+v", a)
			}
		})
	}
}
