// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func named(namespace, name, external string) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{}
	m.Namespace, m.Name = namespace, name
	if external != "" {
		meta.SetExternalName(m, external)
	}
	return m
}

func TestInventoryOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		want   string
	}{
		"FromName":       {reason: "Namespace and name make the name of the inventory.", mr: named("team-a", "web", ""), want: "team-a.web"},
		"FromAnnotation": {reason: "The annotation wins, so that an installation can be imported.", mr: named("team-a", "web", "other"), want: "other"},
		"TooLong": {
			reason: "A name that is too long for a Secret ends in a hash of it.",
			mr:     named("team-a", strings.Repeat("a", 253), ""), want: "team-a." + strings.Repeat("a", 229) + ".HASH",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sum := sha256.Sum256([]byte("team-a." + tc.mr.Name))
			want := strings.Replace(tc.want, "HASH", hex.EncodeToString(sum[:8]), 1)
			if diff := cmp.Diff(want, InventoryOf(tc.mr)); diff != "" {
				t.Errorf("\n%s\nInventoryOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if got := OwnerOf(named("team-a", "web", "other")); got != "Manifest team-a/web" {
		t.Errorf("OwnerOf(...): got %q", got)
	}
}

func TestCheck(t *testing.T) {
	refusal := func(name string) string {
		return `annotation crossplane.io/external-name: invalid value "` + name + `": must begin with "team-b."; ` +
			"correct it, or start the provider with --allow-external-names"
	}
	cases := map[string]struct {
		reason  string
		mr      *v1alpha1.Manifest
		allowed Allowed
		want    string
	}{
		"Default":   {reason: "The name that a Manifest gets is its own.", mr: named("team-b", "web", "")},
		"Long":      {reason: "The shortened name that a Manifest gets is its own.", mr: named("team-b", strings.Repeat("a", 253), "")},
		"Own":       {reason: "A Manifest can continue what another one of its namespace installed.", mr: named("team-b", "web", "team-b.old")},
		"Foreign":   {reason: "A tenant must not name the inventory of another one.", mr: named("team-b", "web", "team-a.web"), want: refusal("team-a.web")},
		"Similar":   {reason: "A namespace whose name begins equally is another one.", mr: named("team-b", "web", "team-b-2.web"), want: refusal("team-b-2.web")},
		"Namespace": {reason: "The separator belongs to the beginning.", mr: named("team-b", "web", "team-b"), want: refusal("team-b")},
		"Case":      {reason: "Names are compared exactly.", mr: named("team-b", "web", "Team-b.web"), want: refusal("Team-b.web")},
		"Allowed":   {reason: "An administrator can allow one.", mr: named("team-b", "web", "legacy"), allowed: Allowed{"team-b/legacy"}},
		"Pattern":   {reason: "An administrator can allow several.", mr: named("team-b", "web", "legacy-web"), allowed: Allowed{"x/y", "*/legacy-*"}},
		"All":       {reason: "An administrator can allow all.", mr: named("team-b", "web", "team-a.web"), allowed: Allowed{"*/*"}},
		"Other":     {reason: "A pattern is for its namespace.", mr: named("team-b", "web", "legacy"), allowed: Allowed{"team-a/legacy"}, want: refusal("legacy")},
		"Slash":     {reason: "A name cannot pass for a part of the pattern.", mr: named("team-b", "web", "x/legacy"), allowed: Allowed{"*/legacy", "*/*"}, want: refusal("x/legacy")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.allowed.Check(tc.mr); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		reason  string
		allowed Allowed
		want    string
	}{
		"None":    {reason: "By default, none is allowed."},
		"Valid":   {reason: "Both parts may be patterns.", allowed: Allowed{"*/*", "team-a/old-[0-9]"}},
		"NoSlash": {reason: "A name without a namespace would be for all.", allowed: Allowed{"legacy"}, want: `invalid value "legacy": must have the form NAMESPACE/NAME, where * matches any characters`},
		"Slashes": {reason: "Names cannot contain a slash.", allowed: Allowed{"*/a/b"}, want: `invalid value "*/a/b": must have the form NAMESPACE/NAME, where * matches any characters`},
		"Bracket": {reason: "A pattern that never ends matches nothing.", allowed: Allowed{"*/[a"}, want: `invalid value "*/[a": must have the form NAMESPACE/NAME, where * matches any characters`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.allowed.Validate(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nValidate(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOfModule(t *testing.T) {
	long := strings.Repeat("x", maxName)
	a, b := OfModule(long, "a"), OfModule(long, "b")
	if OfModule("k", "a") != "k-a" || len(a) > maxName || a == b {
		t.Errorf("OfModule(...): %q, %q", a, b)
	}
}
