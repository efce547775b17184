// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestRestored(t *testing.T) {
	type args struct{ now, written, before map[string]string }
	cases := map[string]struct {
		reason string
		args   args
		want   map[string]string
	}{
		"Added": {
			reason: "Keys that the command added are removed.",
			args:   args{now: map[string]string{"plan": "true", "a": "1"}, written: map[string]string{"plan": "true", "a": "1"}, before: map[string]string{"a": "1"}},
			want:   map[string]string{"a": "1"},
		},
		"Replaced": {
			reason: "Keys that the command changed are restored.",
			args:   args{now: map[string]string{"a": "2"}, written: map[string]string{"a": "2"}, before: map[string]string{"a": "1"}},
			want:   map[string]string{"a": "1"},
		},
		"Others": {
			reason: "Changes of other clients stay.",
			args: args{
				now: map[string]string{"a": "3", "b": "1"}, written: map[string]string{"a": "1"}, before: map[string]string{"a": "1"},
			},
			want: map[string]string{"a": "3", "b": "1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := restored(tc.args.now, tc.args.written, tc.args.before)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrestored(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReplaced(t *testing.T) {
	object := func(uid types.UID, spec map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		u.SetUID(uid)
		return u
	}
	written := object("1", map[string]any{"a": "b", "resourceRefs": []any{"x"}})
	cases := map[string]struct {
		reason string
		now    *unstructured.Unstructured
		want   bool
	}{
		"Same":       {"Nothing has changed.", object("1", map[string]any{"a": "b", "resourceRefs": []any{"x"}}), false},
		"References": {"Changes of resourceRefs by the provider do not count.", object("1", map[string]any{"a": "b", "resourceRefs": []any{"x", "y"}}), false},
		"Spec":       {"The spec has changed.", object("1", map[string]any{"a": "c"}), true},
		"Object":     {"The object was recreated.", object("2", map[string]any{"a": "b"}), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (&planSession{written: written}).replaced(tc.now); got != tc.want {
				t.Errorf("\n%s\nreplaced(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
