// SPDX-License-Identifier: Apache-2.0

package yamlsize

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func TestCheckItems(t *testing.T) {
	cases := map[string]struct {
		reason string
		data   string
		want   int
	}{
		"Empty":      {reason: "Nothing has no items.", data: ""},
		"Scalar":     {reason: "A single value becomes nothing else.", data: "12"},
		"List":       {reason: "A list is an item, and so is each element but the first.", data: `[1,null,"a",true]`, want: 4},
		"Lists":      {reason: "A list of lists has those of all lists.", data: `[[],[1,2],[[]]]`, want: 8},
		"Objects":    {reason: "A list of objects has two for each of them.", data: `[{},{},{}]`, want: 6},
		"Struct":     {reason: "The members of a struct do not count.", data: `{"a":1,"b":"","c":null,"d":{"e":1}}`, want: 2},
		"Entry":      {reason: "An object may have 13 members.", data: `{` + strings.Repeat(`"a":0,`, 12) + `"a":0}`, want: 1},
		"Map":        {reason: "Further members count.", data: `{` + strings.Repeat(`"a":0,`, 20) + `"a":0}`, want: 9},
		"Maps":       {reason: "Each object may have as many, whatever it contains.", data: `{` + strings.Repeat(`"a":{"b":0,"c":0},`, 20) + `"a":[1]}`, want: 1 + 21 + 8},
		"Text":       {reason: "Signs in a text are not items.", data: `{"a":"[[{{,,,\"\\","b,,[":"\\\"["}`, want: 1},
		"Spaces":     {reason: "White space changes nothing.", data: " [ 1 ,\n\t2\r, { } ] ", want: 4},
		"Incomplete": {reason: "A text without an end is not JSON.", data: `["a,,,`, want: 1},
		"Backslash":  {reason: "A text without an end can end with a backslash.", data: `["a\`, want: 1},
		"Closed":     {reason: "What was not opened is not JSON.", data: `]}],,[1,2]`, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := CheckItems([]byte(tc.data), tc.want); err != nil {
				t.Errorf("\n%s\nCheckItems(..., %d): %v", tc.reason, tc.want, err)
			}
			if err := CheckItems([]byte(tc.data), tc.want-1); !Exceeds(err) {
				t.Errorf("\n%s\nCheckItems(..., %d): want an error of a limit, got %v", tc.reason, tc.want-1, err)
			}
		})
	}
	want := "JSON contains too many values: more than 3 lists, objects and elements"
	if diff := cmp.Diff(want, CheckItems([]byte("[1,2,3,4]"), 3).Error()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// FuzzCheckItems checks that the elements of all lists count.
func FuzzCheckItems(f *testing.F) {
	for _, s := range []string{`[1,[2,"\"[,"],{"a":[{},{}]}]`, `{"a":"\\","b":[",",","]}`, ` [ ] `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 8 << 20, PerByte: 1 << 10}, len(data))()
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return
		}
		if least := elements(v); least > 0 && CheckItems(data, least-1) == nil {
			t.Errorf("CheckItems(%q, %d): want an error", data, least-1)
		}
	})
}

// elements returns the number of items in a value. Duplicate keys are not in it.
func elements(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		n = max(1, len(v))
		for _, e := range v {
			n += elements(e)
		}
	case map[string]any:
		n = max(1, len(v)-members)
		for _, e := range v {
			n += elements(e)
		}
	}
	return n
}
