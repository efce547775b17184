// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestOutput(t *testing.T) {
	type item struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
	}
	data := struct {
		Items []item `json:"items"`
	}{Items: []item{{"a<b", 12345678901}, {"second", 2}}}
	table := func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "NAME\tSIZE\n%s\t%d\n", data.Items[1].Name, data.Items[1].Size)
		return err
	}
	path := filepath.Join(t.TempDir(), "path")
	if err := os.WriteFile(path, []byte("{.items[1].name}"), 0o600); err != nil {
		t.Fatal(err)
	}
	type want struct {
		out  string
		code ExitCode
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   want
	}{
		"Table":      {"A table has aligned columns.", nil, want{out: "NAME     SIZE\nsecond   2\n"}},
		"JSON":       {"JSON does not escape HTML.", []string{"-o", "json"}, want{out: "{\n  \"items\": [\n    {\n      \"name\": \"a<b\",\n      \"size\": 12345678901\n    },\n    {\n      \"name\": \"second\",\n      \"size\": 2\n    }\n  ]\n}\n"}},
		"YAML":       {"YAML has the same field names.", []string{"--output=yaml"}, want{out: "items:\n- name: a<b\n  size: 12345678901\n- name: second\n  size: 2\n"}},
		"Path":       {"A JSONPath selects values.", []string{"-o", "jsonpath={.items[*].name}"}, want{out: "a<b second\n"}},
		"PathShort":  {"As in kubectl, braces can be omitted.", []string{"-o", "jsonpath=.items[1].name"}, want{out: "second\n"}},
		"PathNumber": {"A large number does not become a float.", []string{"-o", "jsonpath={.items[0].size}"}, want{out: "12345678901\n"}},
		"Missing":    {"A missing field is empty.", []string{"-o", "jsonpath={.nope}"}, want{out: "\n"}},
		"BadPath":    {"An invalid path is wrong usage.", []string{"-o", "jsonpath={.a"}, want{code: ExitUsage}},
		"PathJSON":   {"jsonpath-as-json writes JSON.", []string{"-o", "jsonpath-as-json={.items[*].size}"}, want{out: "[\n    12345678901,\n    2\n]\n"}},
		"PathLines":  {"A path that writes line breaks gets no additional one.", []string{"-o", `jsonpath={range .items[*]}{.name}{"\n"}{end}`}, want{out: "a<b\nsecond\n"}},
		"PathFile":   {"A path can be in a file.", []string{"-o", "jsonpath-file=" + path}, want{out: "second\n"}},
		"NoFile":     {"A missing file is wrong usage.", []string{"-o", "jsonpath-file=" + path + "x"}, want{code: ExitUsage}},
		"NoPath":     {"An empty path is wrong usage.", []string{"-o", "jsonpath="}, want{code: ExitUsage}},
		"Template":   {"A template has the functions of kubectl.", []string{"-o", `go-template={{range .items}}{{if exists . "name"}}{{.size}} {{end}}{{end}}`}, want{out: "12345678901 2 "}},
		"BadText":    {"An invalid template is wrong usage.", []string{"-o", "go-template={{"}, want{code: ExitUsage}},
		"FailText":   {"A template that fails writes nothing.", []string{"-o", "go-template=a{{index .items 5}}"}, want{code: ExitUsage}},
		"Columns":    {"Columns are paths relative to items.", []string{"-o", "custom-columns=A:.name,B:size,C:{.nope}"}, want{out: "A        B             C\na<b      12345678901   <none>\nsecond   2             <none>\n"}},
		"BadColumn":  {"A column without a title is wrong usage.", []string{"-o", "custom-columns=.name"}, want{code: ExitUsage}},
		"Wide":       {"wide works for all tables.", []string{"-o", "wide"}, want{out: "NAME     SIZE\nsecond   2\n"}},
		"Unnamed":    {"name is wrong usage for output without names.", []string{"-o", "name"}, want{code: ExitUsage}},
		"Unknown":    {"An unknown format is wrong usage.", []string{"-o", "xml"}, want{code: ExitUsage}},
		"Bare":       {"A format without its argument is wrong usage.", []string{"-o", "jsonpath"}, want{code: ExitUsage}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var o Output
			f := pflag.NewFlagSet("test", pflag.ContinueOnError)
			o.AddFlag(f, false)
			if err := f.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			err := o.Write(&b, data, table)
			if diff := cmp.Diff(tc.want, want{b.String(), CodeOf(err)}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nWrite: -want, +got (%v):\n%s", tc.reason, err, diff)
			}
		})
	}
}

// named is a document with names.
type named []string

func (n named) Names() []string { return n }

func TestOutputNames(t *testing.T) {
	var o Output
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.AddNamedFlag(f)
	if err := f.Parse([]string{"-o", "name"}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := o.Write(&b, named{"kyma/a", strings.ReplaceAll(hostile, "/", "")}, nil); err != nil {
		t.Fatal(err)
	}
	checkClean(t, "names", b.String(), 2)
	if first, _, _ := strings.Cut(b.String(), "\n"); first != "kyma/a" {
		t.Errorf("want the name, got %q", first)
	}
}
