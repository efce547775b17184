// SPDX-License-Identifier: Apache-2.0

package fieldset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	type object = map[string]any
	named := func(name, image string) object { return object{"name": name, "image": image} }
	cases := map[string]struct {
		reason        string
		before, after object
		want          []string
	}{
		"Same": {reason: "Nothing differs.", before: object{"spec": object{"a": int64(1)}}, after: object{"spec": object{"a": int64(1)}}},
		"Server": {
			reason: "Fields that only the server writes are ignored.",
			before: object{"metadata": object{"resourceVersion": "1", "generation": int64(1)}, "status": object{"a": "b"}},
			after:  object{"metadata": object{"resourceVersion": "2", "managedFields": []any{}}},
		},
		"Metadata": {
			reason: "Labels count, both added and removed ones.",
			before: object{"metadata": object{"labels": object{"a": "1", "b": "2"}}},
			after:  object{"metadata": object{"labels": object{"b": "3", "c": "4"}}},
			want:   []string{"metadata.labels.a", "metadata.labels.b", "metadata.labels.c"},
		},
		"Whole": {reason: "A whole field may be added.", before: object{}, after: object{"data": object{"k": "secret"}}, want: []string{"data"}},
		"Type":  {reason: "A field may change its type.", before: object{"spec": object{"a": object{}}}, after: object{"spec": object{"a": "b"}}, want: []string{"spec.a"}},
		"Items": {
			reason: "Items with names are matched by name, in any order.",
			before: object{"spec": object{"containers": []any{named("a", "1"), named("b", "1")}}},
			after:  object{"spec": object{"containers": []any{named("b", "2"), named("a", "1"), named("c", "1")}}},
			want:   []string{`spec.containers[name="b"].image`, `spec.containers[name="c"]`},
		},
		"Atomic":     {reason: "Other lists differ as a whole.", before: object{"spec": object{"args": []any{"a"}}}, after: object{"spec": object{"args": []any{"b"}}}, want: []string{"spec.args"}},
		"NamedTwice": {reason: "Items with duplicate names cannot be matched.", before: object{"x": []any{named("a", "1"), named("a", "2")}}, after: object{"x": []any{named("a", "1")}}, want: []string{"x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Differences(tc.before, tc.after)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
