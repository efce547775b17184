// SPDX-License-Identifier: Apache-2.0

package yamlsize

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// nested is a text of a few hundred bytes in which each list holds the one before it ten times.
func nested(depth int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 " + strings.Repeat("x", 100) + "\n")
	for i := 1; i < depth; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

func TestCheck(t *testing.T) {
	type args struct {
		limits Limits
		data   string
	}
	long := strings.Repeat("x", 1000)
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Plain":    {reason: "A text without aliases is as long as it is.", args: args{Limits{Values: 2, Bytes: 20}, "a: b\nc"}},
		"NoLimit":  {reason: "A limit of 0 is none.", args: args{Limits{}, nested(50)}},
		"Values":   {reason: "Values are bounded.", args: args{Limits{Values: 10}, "[" + strings.Repeat("0,", 11) + "0]"}, want: "too many values: more than 10"},
		"Breaks":   {reason: "Each line break of YAML counts.", args: args{Limits{Values: 5}, "-\r-\u0085-\u2028-\u2029-\n-\n-"}, want: "too many values"},
		"Large":    {reason: "A text is bounded.", args: args{Limits{Bytes: 10}, long}, want: "it is larger than 10 bytes"},
		"Alias":    {reason: "An alias is allowed.", args: args{Limits{Bytes: 10000}, "a: &a " + long + "\nb: [*a, *a]"}},
		"Wide":     {reason: "A long text must not multiply.", args: args{Limits{Bytes: 10000}, "a: &a " + long + "\nb: [" + strings.Repeat("*a, ", 20) + "]"}, want: "its aliases make it larger than 10000 bytes"},
		"Deep":     {reason: "Nor lists of lists.", args: args{Limits{Bytes: 1 << 20}, nested(30)}, want: "its aliases make it larger than 1048576 bytes"},
		"Key":      {reason: "Keys may be aliases too.", args: args{Limits{Bytes: 5000}, "a: &a " + long + "\nb: [" + strings.Repeat("{*a : 1}, ", 20) + "]"}, want: "its aliases make it larger"},
		"Merge":    {reason: "A merge is an alias.", args: args{Limits{Bytes: 5000}, "a: &a {b: " + long + "}\nb: [" + strings.Repeat("{<<: *a}, ", 20) + "]"}, want: "its aliases make it larger"},
		"Self":     {reason: "What contains itself is refused by the code that parses it.", args: args{Limits{Bytes: 5000}, "a: &a [*a]"}},
		"Second":   {reason: "Each document counts.", args: args{Limits{Bytes: 10000}, "a: b\n---\na: &a " + long + "\nb: [" + strings.Repeat("*a, ", 20) + "]"}, want: "its aliases make it larger"},
		"Text":     {reason: "Text with these signs is text.", args: args{Limits{Bytes: 100}, "a: this & *that*\nb: 'x &y *z'"}},
		"NoYAML":   {reason: "What cannot be checked does not pass.", args: args{Limits{Bytes: 100}, "a: *b\nc: &b d"}, want: "it is not YAML that could be checked for aliases"},
		"JSON":     {reason: "JSON has no aliases.", args: args{Limits{Values: 10, Bytes: 100}, `{"a": "&b", "c": "*b"}`}},
		"Prose":    {reason: "What cannot be an alias costs nothing: this is not YAML.", args: args{Limits{Bytes: 100}, "a: [ R&D, 2*3, & x, * y, z*"}},
		"Start":    {reason: "An anchor may stand at the start.", args: args{Limits{Bytes: 5000}, "&a " + long + ": [*a, *a, *a, *a, *a]"}, want: "its aliases make it larger"},
		"Quotes":   {reason: "Or behind a quote.", args: args{Limits{Bytes: 5000}, `{"a":&a ` + long + `,"b":[*a,*a,*a,*a,*a,*a]}`}, want: "its aliases make it larger"},
		"OneBreak": {reason: "Nothing at all passes.", args: args{Limits{Values: 1, Bytes: 1}, ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.args.limits.Check([]byte(tc.args.data))
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("\n%s\nCheck(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// FuzzCheck holds that what passes does not become much larger when it is read.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"a: &a [1]\nb: *a", "a: &a {b: c}\nd: {<<: *a}", nested(3), "? &a b\n: *a", "--- &a x\n--- *a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 4096
		if len(data) > limit || (Limits{Bytes: limit}).Check(data) != nil {
			return
		}
		// A character may become six, as in \u003c.
		if out, err := yaml.YAMLToJSON(data); err == nil && len(out) > 8*limit {
			t.Errorf("Check(...): %d bytes became %d", len(data), len(out))
		}
	})
}
