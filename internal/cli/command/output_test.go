// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"fmt"
	"io"
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
	type want struct {
		out  string
		code ExitCode
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   want
	}{
		"Table":      {"People get columns.", nil, want{out: "NAME     SIZE\nsecond   2\n"}},
		"JSON":       {"JSON is as it is, without HTML in mind.", []string{"-o", "json"}, want{out: "{\n  \"items\": [\n    {\n      \"name\": \"a<b\",\n      \"size\": 12345678901\n    },\n    {\n      \"name\": \"second\",\n      \"size\": 2\n    }\n  ]\n}\n"}},
		"YAML":       {"YAML has the same names.", []string{"--output=yaml"}, want{out: "items:\n- name: a<b\n  size: 12345678901\n- name: second\n  size: 2\n"}},
		"Path":       {"A path picks.", []string{"-o", "jsonpath={.items[*].name}"}, want{out: "a<b second\n"}},
		"PathShort":  {"As kubectl, braces may be left out.", []string{"-o", "jsonpath=.items[1].name"}, want{out: "second\n"}},
		"PathNumber": {"A large number is no float.", []string{"-o", "jsonpath={.items[0].size}"}, want{out: "12345678901\n"}},
		"Missing":    {"A field that is not there is nothing.", []string{"-o", "jsonpath={.nope}"}, want{out: "\n"}},
		"BadPath":    {"A path that is none is wrong usage.", []string{"-o", "jsonpath={.a"}, want{code: ExitUsage}},
		"Unknown":    {"An unknown format is wrong usage.", []string{"-o", "wide"}, want{code: ExitUsage}},
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
