// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseObject(t *testing.T) {
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
		"List":      {"A list has no names.", "- a\n", want{part: "no object of values"}},
		"Duplicate": {"Of two none is picked.", "a: 1\na: 2\n", want{part: "already set"}},
		"Broken":    {"What is no YAML is said to be none.", "a: [", want{part: "no YAML"}},
		"Start":     {"A document may have a start and an end.", "# a\n---\na: b\n---\n# nothing\n---\n...\n", want{values: map[string]any{"a": "b"}}},
		"Second":    {"Of two documents none is left out.", "a: b\n---\nc: d\n", want{part: "more than one YAML document"}},
		"Late":      {"Nor is one behind an empty one.", "---\n# nothing\n---\nc: d\n", want{part: "more than one YAML document"}},
		"Rest":      {"What follows must be YAML too.", "a: b\n---\nc: [", want{part: "no YAML"}},
		"Large":     {"There is a limit.", "a: " + strings.Repeat("x", maxObject), want{part: "larger"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseObject([]byte(tc.text), Values)
			if diff := cmp.Diff(tc.want.values, got); diff != "" {
				t.Errorf("\n%s\nparseObject(): -want, +got:\n%s", tc.reason, diff)
			}
			if (err != nil) != (tc.want.part != "") || err != nil && !strings.Contains(err.Error(), tc.want.part) {
				t.Errorf("\n%s\nwant an error with %q, got %v", tc.reason, tc.want.part, err)
			}
		})
	}
}

// FuzzParseObject holds that what is read can be written.
func FuzzParseObject(f *testing.F) {
	f.Add([]byte("a: 1\n"))
	f.Add([]byte("a: &x [1]\nb: *x\n"))
	f.Add([]byte("{}"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := parseObject(data, Values)
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
