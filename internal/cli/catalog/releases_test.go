// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestFind(t *testing.T) {
	template := func(name, channel, version string) v1alpha1.ModuleTemplate {
		m := v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}
		m.Spec.ModuleName, m.Spec.Channel = "a", channel
		m.Status.Version, m.Status.ResolvedGeneration, m.Status.ObservedGeneration = version, 1, 1
		m.Status.SetConditions(xpv2.Available())
		return m
	}
	leaving, changing := template("leaving", "fast", "3.0.0"), template("changing", "next", "1.0.0")
	leaving.DeletionTimestamp, changing.Generation = &metav1.Time{Time: time.Now()}, 2
	all := releasesOf([]v1alpha1.ModuleTemplate{template("two", "regular", "1.0.0"), template("one", "regular", "2.0.0"), template("x", "fast", "2.0.0"), leaving, changing})
	type want struct {
		found Release
		code  command.ExitCode
		part  string
	}
	cases := map[string]struct {
		reason  string
		all     Releases
		name    string
		channel string
		want    want
	}{
		"Found":     {"A template that is being deleted does not count.", all, "a", "fast", want{found: Release{Name: "a", Channel: "fast", Version: "2.0.0", Template: "x", Ready: "True"}}},
		"Changing":  {"The version of an earlier spec does not count.", all, "a", "next", want{found: Release{Name: "a", Channel: "next", Template: "changing", Ready: "Unknown", Message: "not resolved yet"}}},
		"Ambiguous": {"If there are several, none is used.", all, "a", "regular", want{code: command.ExitFailure, part: "one and two"}},
		"NoChannel": {"The error lists the channels.", all, "a", "beta", want{code: command.ExitNotFound, part: "fast, next, regular"}},
		"NoModule":  {"The error lists the modules.", all, "b", "fast", want{code: command.ExitNotFound, part: "available modules are a"}},
		"Nothing":   {"The control plane has no templates.", nil, "b", "fast", want{code: command.ExitNotFound, part: "kymactl module template"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.all.Find(tc.name, tc.channel)
			if diff := cmp.Diff(tc.want.code, command.CodeOf(err)); diff != "" {
				t.Fatalf("\n%s\nFind(): -want, +got:\n%s", tc.reason, diff)
			}
			if err != nil && !strings.Contains(err.Error(), tc.want.part) {
				t.Errorf("\n%s\nwant %q in %v", tc.reason, tc.want.part, err)
			}
			if diff := cmp.Diff(tc.want.found, got); diff != "" {
				t.Errorf("\n%s\nFind(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
