// SPDX-License-Identifier: Apache-2.0

package release

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// released returns the ModuleReleaseMeta of a module, with one version for each channel.
func released(channels ...string) *v1alpha1.ModuleReleaseMeta {
	m := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: "m", ResourceVersion: "7", Generation: 2}}
	m.Spec.ModuleName = "istio"
	for _, c := range channels {
		m.Spec.Channels = append(m.Spec.Channels, v1alpha1.ChannelRelease{Channel: c, Release: v1alpha1.Release{Version: "1.0.0"}})
	}
	return m
}

func TestIn(t *testing.T) {
	mandatory := released()
	mandatory.Spec.Mandatory = &v1alpha1.Release{Version: "1.0.0"}
	cases := map[string]struct {
		reason  string
		meta    *v1alpha1.ModuleReleaseMeta
		channel string
		want    string
		code    command.ExitCode
		part    string
	}{
		"Named":     {reason: "A channel is addressed by its index in the list.", meta: released("fast", "regular"), channel: "regular", want: "/spec/channels/1"},
		"Only":      {reason: "The only channel needs no name.", meta: released("fast"), want: "/spec/channels/0"},
		"Mandatory": {reason: "The version of a mandatory module has the name mandatory.", meta: mandatory, channel: "mandatory", want: "/spec/mandatory"},
		"Single":    {reason: "The version of a mandatory module is the only one.", meta: mandatory, want: "/spec/mandatory"},
		"Several":   {reason: "With several channels, the user must choose one.", meta: released("fast", "regular"), code: command.ExitUsage, part: "one of fast, regular"},
		"Unknown":   {reason: "The error lists the channels that exist.", meta: released("fast", "regular"), channel: "beta", code: command.ExitNotFound, part: "one of fast, regular"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := In(tc.meta, tc.channel)
			if diff := cmp.Diff(tc.code, command.CodeOf(err)); diff != "" {
				t.Fatalf("\n%s\nIn(): -want code, +got:\n%s", tc.reason, diff)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tc.part) {
					t.Errorf("\n%s\nwant %q in %v", tc.reason, tc.part, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got.path); diff != "" {
				t.Errorf("\n%s\nIn(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRollout(t *testing.T) {
	cases := map[string]struct {
		reason   string
		observed int64
		version  string
		want     bool
	}{
		"Current": {"A rollout of the current version in a status of the current spec counts.", 2, "1.0.0", true},
		"Stale":   {"A status of an earlier spec says nothing about a retry or a new version.", 1, "1.0.0", false},
		"Other":   {"The rollout of another version does not count.", 2, "0.9.0", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := released("fast")
			m.Status.ObservedGeneration = tc.observed
			m.Status.Channels = []v1alpha1.ChannelRollout{{Channel: "fast", Version: tc.version}}
			if got := Targets(m)[0].Rollout() != nil; got != tc.want {
				t.Errorf("\n%s\nRollout() != nil: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestPatchOf(t *testing.T) {
	annotated := released("fast", "regular")
	annotated.Annotations = map[string]string{"other": "x", v1alpha1.AnnotationAllowDowngrade: "regular@2.0.0, fast@0.8.0"}
	aborted := released("fast", "regular")
	aborted.Spec.Channels[1].AbortedVersion = "0.9.0"
	version := operation{"replace", "/metadata/resourceVersion", "7"}
	cases := map[string]struct {
		reason string
		meta   *v1alpha1.ModuleReleaseMeta
		change Change
		want   []operation
	}{
		"Fields": {
			reason: "The patch contains the resource version that was read, and only the fields that change.",
			meta:   released("fast", "regular"),
			change: Change{Fields: map[string]any{"retry": "2", "abortedVersion": ""}},
			want:   []operation{version, {"add", "/spec/channels/1/abortedVersion", ""}, {"add", "/spec/channels/1/retry", "2"}},
		},
		"Downgrade": {
			reason: "A downgrade sets the annotation in the same write, even if there are no annotations yet.",
			meta:   released("fast", "regular"),
			change: Change{Fields: map[string]any{"version": "0.9.0"}, Downgrade: true},
			want: []operation{
				version, {"add", "/spec/channels/1/version", "0.9.0"},
				{"add", "/metadata/annotations", map[string]any{v1alpha1.AnnotationAllowDowngrade: "regular@0.9.0"}},
			},
		},
		"AbortedEarlier": {
			reason: "A version that was aborted earlier is released again, and not aborted at once.",
			meta:   aborted,
			change: Change{Fields: map[string]any{"version": "0.9.0"}},
			want:   []operation{version, {"add", "/spec/channels/1/version", "0.9.0"}, {"add", "/spec/channels/1/abortedVersion", ""}},
		},
		"OtherEntries": {
			reason: "The entries of other channels and other annotations stay.",
			meta:   annotated,
			change: Change{Fields: map[string]any{"version": "0.9.0"}, Downgrade: true},
			want: []operation{
				version, {"add", "/spec/channels/1/version", "0.9.0"},
				{"add", "/metadata/annotations", map[string]any{"other": "x", v1alpha1.AnnotationAllowDowngrade: "fast@0.8.0,regular@0.9.0"}},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := patchOf(&Targets(tc.meta)[1], tc.change)
			if err != nil {
				t.Fatal(err)
			}
			var got []operation
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\npatchOf(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
