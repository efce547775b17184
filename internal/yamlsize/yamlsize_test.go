// SPDX-License-Identifier: Apache-2.0

package yamlsize

import (
	"fmt"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// nested returns a text of a few hundred bytes in which each list contains the previous one ten times.
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
		"Default":  {reason: "A limit of 0 bytes means the default one.", args: args{Limits{}, nested(50)}, want: "YAML is larger than 16777216 bytes when its aliases are expanded"},
		"Defaults": {reason: "A limit of 0 values means the default one.", args: args{Limits{Bytes: 64 << 20}, "[" + strings.Repeat("0,", DefaultValues+1) + "0]"}, want: "too many values: more than 1000000"},
		"Short":    {reason: "An alias of short values multiplies them.", args: args{Limits{Values: 100, Bytes: 1 << 20}, "a: &a [0,0,0,0,0,0,0,0,0,0]\nb: [" + strings.Repeat("*a, ", 40) + "]"}, want: "YAML contains more than 200 values when its aliases are expanded"},
		"Values":   {reason: "Values are bounded.", args: args{Limits{Values: 10}, "[" + strings.Repeat("0,", 11) + "0]"}, want: "too many values: more than 10"},
		"Breaks":   {reason: "Each line break of YAML counts.", args: args{Limits{Values: 5}, "-\r-\u0085-\u2028-\u2029-\n-\n-"}, want: "too many values"},
		"Large":    {reason: "A text is bounded.", args: args{Limits{Bytes: 10}, long}, want: "content is larger than the limit of 10 bytes"},
		"Alias":    {reason: "An alias is allowed.", args: args{Limits{Bytes: 10000}, "a: &a " + long + "\nb: [*a, *a]"}},
		"Wide":     {reason: "A long text must not multiply.", args: args{Limits{Bytes: 10000}, "a: &a " + long + "\nb: [" + strings.Repeat("*a, ", 20) + "]"}, want: "YAML is larger than 10000 bytes when its aliases are expanded"},
		"Deep":     {reason: "Nested lists must not multiply.", args: args{Limits{Bytes: 1 << 20}, nested(30)}, want: "YAML is larger than 1048576 bytes when its aliases are expanded"},
		"Key":      {reason: "Keys may be aliases too.", args: args{Limits{Bytes: 5000}, "a: &a " + long + "\nb: [" + strings.Repeat("{*a : 1}, ", 20) + "]"}, want: "when its aliases are expanded"},
		"Merge":    {reason: "A merge is an alias.", args: args{Limits{Bytes: 5000}, "a: &a {b: " + long + "}\nb: [" + strings.Repeat("{<<: *a}, ", 20) + "]"}, want: "when its aliases are expanded"},
		"Self":     {reason: "What contains itself is refused by the code that parses it.", args: args{Limits{Bytes: 5000}, "a: &a [*a]"}},
		"Second":   {reason: "The aliases of each document count.", args: args{Limits{Bytes: 10000}, "a: b\n---\na: &a " + long + "\nb: [" + strings.Repeat("*a, ", 20) + "]"}, want: "when its aliases are expanded"},
		"Text":     {reason: "Text with these signs is text.", args: args{Limits{Bytes: 100}, "a: this & *that*\nb: 'x &y *z'"}},
		"NoYAML":   {reason: "What cannot be checked does not pass.", args: args{Limits{Bytes: 100}, "a: *b\nc: &b d"}, want: "invalid YAML: cannot check the aliases"},
		"JSON":     {reason: "JSON has no aliases.", args: args{Limits{Values: 10, Bytes: 100}, `{"a": "&b", "c": "*b"}`}},
		"Prose":    {reason: "What cannot be an alias costs nothing: this is not YAML.", args: args{Limits{Bytes: 100}, "a: [ R&D, 2*3, & x, * y, z*"}},
		"Start":    {reason: "An anchor may stand at the start.", args: args{Limits{Bytes: 5000}, "&a " + long + ": [*a, *a, *a, *a, *a]"}, want: "when its aliases are expanded"},
		"Quotes":   {reason: "An anchor may stand behind a quote.", args: args{Limits{Bytes: 5000}, `{"a":&a ` + long + `,"b":[*a,*a,*a,*a,*a,*a]}`}, want: "when its aliases are expanded"},
		"OneBreak": {reason: "An empty text passes.", args: args{Limits{Values: 1, Bytes: 1}, ""}},
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

// FuzzCheck checks that accepted documents do not become much larger when they are decoded.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"a: &a [1]\nb: *a", "a: &a {b: c}\nd: {<<: *a}", nested(3), "? &a b\n: *a", "--- &a x\n--- *a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 8 << 20, PerByte: 4 << 10}, len(data))()
		const limit = 4096
		if len(data) > limit || (Limits{Bytes: limit}).Check(data) != nil {
			return
		}
		// One character can become six, as in \u003c.
		if out, err := yaml.YAMLToJSON(data); err == nil && len(out) > 8*limit {
			t.Errorf("Check(...): %d bytes became %d", len(data), len(out))
		}
	})
}

// TestDecoders checks that each decoder rejects a document that exceeds a limit before decoding it, and how it handles
// duplicate keys.
func TestDecoders(t *testing.T) {
	decoders := map[string]func(l Limits, data []byte) (string, error){
		"JSON":      func(l Limits, data []byte) (string, error) { j, err := l.JSON(data); return string(j), err },
		"LooseJSON": func(l Limits, data []byte) (string, error) { j, err := l.LooseJSON(data); return string(j), err },
		"Unmarshal": func(l Limits, data []byte) (string, error) {
			var into any
			err := l.Unmarshal(data, &into)
			return fmt.Sprint(into), err
		},
		"NewDecoder": func(l Limits, data []byte) (string, error) {
			d, err := l.NewDecoder(data)
			if err != nil {
				return "", err
			}
			var n yamlv3.Node
			err = d.Decode(&n)
			return "nodes", err
		},
	}
	cases := map[string]struct {
		reason, data string
		// want is the result of each decoder. An empty string means an error.
		want    map[string]string
		exceeds bool
	}{
		"Fine":      {reason: "A document within the limits is decoded.", data: "a: 1", want: map[string]string{"JSON": `{"a":1}`, "LooseJSON": `{"a":1}`, "Unmarshal": "map[a:1]", "NewDecoder": "nodes"}},
		"Duplicate": {reason: "Only one of them is strict about keys.", data: "a: 1\na: 2", want: map[string]string{"LooseJSON": `{"a":2}`, "Unmarshal": "map[a:2]", "NewDecoder": "nodes"}},
		"Invalid":   {reason: "An error of the parser is not one of a limit.", data: "a: ["},
		"Values":    {reason: "Too many values are not decoded.", data: "[" + strings.Repeat("0,", 200) + "0]", exceeds: true},
		"Bytes":     {reason: "Too many bytes are not decoded.", data: strings.Repeat("x", 2000), exceeds: true},
		"Aliases":   {reason: "Aliases that become too large are not decoded.", data: nested(9), exceeds: true},
	}
	for name, tc := range cases {
		for decoder, decode := range decoders {
			t.Run(name+"/"+decoder, func(t *testing.T) {
				got, err := decode(Limits{Values: 100, Bytes: 1000}, []byte(tc.data))
				if want := tc.want[decoder]; want != "" && (err != nil || got != want) || want == "" && err == nil {
					t.Errorf("%s\nwant %q, got %q, %v", tc.reason, want, got, err)
				}
				if Exceeds(err) != tc.exceeds {
					t.Errorf("%s\nExceeds(%v): want %t", tc.reason, err, tc.exceeds)
				}
			})
		}
	}
}

// TestCheckJSON checks that JSON is bounded, and not taken for YAML.
func TestCheckJSON(t *testing.T) {
	l := Limits{Bytes: 100, Values: 5}
	for text, want := range map[string]string{
		"{\t\"a\":\"&b\",\t\"c\":\"*b\"}": "",
		strings.Repeat("x", 101):          "content is larger than the limit of 100 bytes",
		"[0,0,0,0,0,0,0]":                 "YAML contains too many values",
	} {
		if err := l.CheckJSON([]byte(text)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !Exceeds(err)) {
			t.Errorf("CheckJSON(%q): want error %q, got %v", text, want, err)
		}
	}
}
