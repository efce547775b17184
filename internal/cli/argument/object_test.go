// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
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
		"Object":    {"Whole numbers are not rounded.", "a: 1\nb: {c: 9007199254740993, d: null}\n", want{values: map[string]any{"a": int64(1), "b": map[string]any{"c": int64(9007199254740993), "d": nil}}}},
		"Empty":     {"An empty file is an empty object.", "# nothing\n", want{values: map[string]any{}}},
		"List":      {"A list is not an object.", "- a\n", want{part: "expected an object of values"}},
		"Duplicate": {"A duplicate key is an error.", "a: 1\na: 2\n", want{part: "already set"}},
		"Broken":    {"Invalid YAML is reported.", "a: [", want{part: "invalid YAML"}},
		"Start":     {"A document can have start and end markers.", "# a\n---\na: b\n---\n# nothing\n---\n...\n", want{values: map[string]any{"a": "b"}}},
		"Second":    {"A second document is not ignored.", "a: b\n---\nc: d\n", want{part: "more than one YAML document"}},
		"Late":      {"A document after an empty one is not ignored either.", "---\n# nothing\n---\nc: d\n", want{part: "more than one YAML document"}},
		"Rest":      {"Invalid YAML after the first document is reported.", "a: b\n---\nc: [", want{part: "invalid YAML"}},
		"Large":     {"The size is limited.", "a: " + strings.Repeat("x", maxObject), want{part: "larger"}},
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

// FuzzParseObject checks that each object that can be read can also be written.
func FuzzParseObject(f *testing.F) {
	f.Add([]byte("a: 1\n"))
	f.Add([]byte("a: &x [1]\nb: *x\n"))
	f.Add([]byte("{}"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
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
