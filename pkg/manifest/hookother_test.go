// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
)

// TestHookOfOtherInstall checks that a hook does not replace an object of another install, and that the error names that install.
func TestHookOfOtherInstall(t *testing.T) {
	x := key("ConfigMap", "apps", "x")
	extra := install("extra", configMap("x"))
	cases := map[string]struct {
		reason string
		hook   string
		event  string
		test   string
	}{
		"Default": {
			reason: "By default, a hook deletes an object in its place.",
			hook:   hookOf("v1", "ConfigMap", "x", "pre-upgrade"), event: "pre-upgrade",
		},
		"Succeeded": {
			reason: "With this policy, a hook deletes itself.",
			hook:   hookOf("v1", "ConfigMap", "x", "post-upgrade", policies(string(hook.BeforeCreation), string(hook.Succeeded))), event: "post-upgrade",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(bundleOf(install("web", tmplConfig), extra))
			uid := b.s.uidOf(x)
			s := bundleOf(install("web", tmplConfig, tc.hook), extra)
			want := "web: hook " + tc.event + " ConfigMap apps/x is also part of extra; remove it from one of them"
			if diff := cmp.Diff(want, b.fails(s)); diff != "" {
				t.Errorf("\n%s\n-want error, +got error:\n%s", tc.reason, diff)
			}
			o := b.observe(s)
			if got := b.s.uidOf(x); got != uid || o.Total != 2 {
				t.Errorf("\n%s\nthe object was %s and is %s, of %d", tc.reason, uid, got, o.Total)
			}
			// Without the object in the other install, the hook runs.
			s.Installs[1] = install("extra", configMap("y"))
			b.reconcile(s)
			if got := b.s.uidOf(x); got == uid {
				t.Errorf("\n%s\nthe hook did not run", tc.reason)
			}
		})
	}
}

func TestHookThatHoldsOthers(t *testing.T) {
	b := newBench(t)
	foreign := b.s.put(manifestOf(t, namespaceOf("shared")).Object)
	uid := b.s.uidOf(foreign)
	s := bundleOf(install("web", tmplConfig, hookOf("v1", "Namespace", "shared", "pre-install")))
	s.Adopt = true
	_, err := b.Apply(t.Context(), b.c, s)
	if err == nil || !strings.Contains(err.Error(), "Namespace shared already exists and does not belong to this module") || b.s.uidOf(foreign) != uid {
		t.Errorf("a namespace of others must not be deleted with all that is in it: %v", err)
	}
}
