// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
)

func TestRead(t *testing.T) {
	type want struct {
		Entries []Entry
		Err     string
	}
	cases := map[string]struct {
		reason string
		data   string
		want   want
	}{
		"Two": {
			reason: "The format is that of the original Kyma manager.",
			data:   "configs:\n- name: a\n  clientConfig: \"Namespace=x,CreateNamespace=true\"\n  overrides: \"a.b=c\"\n- name: b\n",
			want: want{Entries: []Entry{
				{Name: "a", ClientConfig: "Namespace=x,CreateNamespace=true", Overrides: "a.b=c"}, {Name: "b"},
			}},
		},
		"JSON":       {reason: "JSON is valid YAML.", data: `{"configs":[{"name":"a","overrides":null}]}`, want: want{Entries: []Entry{{Name: "a"}}}},
		"Empty":      {reason: "An empty layer says nothing.", data: ""},
		"Blank":      {reason: "A file with only comments has no entries.", data: "\ufeff---\n# nothing\n"},
		"Null":       {reason: "A null document has no entries.", data: "null\n"},
		"NoList":     {reason: "A file without a list has no entries.", data: "configs:\n"},
		"NoEntries":  {reason: "An empty list has no entries.", data: "configs: []\n"},
		"NoName":     {reason: "An entry must have a name.", data: "configs: [{overrides: a=b}]", want: want{Err: "configs[0] has no name"}},
		"Twice":      {reason: "One of them would be ignored.", data: "configs: [{name: a}, {name: a}]", want: want{Err: `entry "a" is listed twice`}},
		"UnknownKey": {reason: "A typing error must not pass unseen.", data: "configs: [{name: a, override: b=c}]", want: want{Err: `unknown field "override"`}},
		"NotText":    {reason: "The settings are one text.", data: "configs: [{name: a, overrides: {a: b}}]", want: want{Err: "configs.overrides must not be of type object"}},
		"List":       {reason: "It must be a map.", data: "- a", want: want{Err: "the document must not be of type array"}},
		"NoYAML":     {reason: "It must be YAML.", data: "{", want: want{Err: "did not find expected node content"}},
		"Several":    {reason: "The second document would be ignored.", data: "configs: []\n---\nconfigs: []\n", want: want{Err: "must contain exactly one document, found 2"}},
		"More":       {reason: "Content after the document is rejected, because it would be ignored.", data: "{configs: []} x", want: want{Err: "unexpected content after the object"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(tc.data))
			if !strings.Contains(text(err), tc.want.Err) || (err == nil) != (tc.want.Err == "") || strings.Contains(text(err), "\n") {
				t.Errorf("\n%s\nConfigs(...): want error %q, got %q", tc.reason, tc.want.Err, text(err))
			}
			if diff := cmp.Diff(tc.want.Entries, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nConfigs(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	type want struct {
		Settings Settings
		Err      string
	}
	truth := map[bool]*bool{true: new(bool), false: new(bool)}
	*truth[true] = true
	cases := map[string]struct {
		reason string
		entry  Entry
		want   want
	}{
		"All": {
			reason: "These settings are supported.",
			entry: Entry{
				ClientConfig: `Namespace=x,CreateNamespace=true,ReleaseName=r,SkipCRDs=true,DisableHooks=true,Timeout=1m30s,Wait=true,` +
					`SkipSchemaValidation=true,TakeOwnership=true,Force=true,Description=as asked,Labels.team=a,Labels.example\.org/x=y`,
				Overrides: `a.b=c,n=3,big=1000000,t=true,l={x,y},m[1].z=w,comma=1\,2,none=null`,
			},
			want: want{Settings: Settings{
				Namespace: "x", CreateNamespace: truth[true], ReleaseName: "r", SkipCRDs: true, DisableHooks: true,
				Timeout: 90 * time.Second, Wait: true, SkipSchemaValidation: true, TakeOwnership: true, Force: true,
				Description: "as asked", Labels: map[string]string{"team": "a", "example.org/x": "y"},
				Overrides: map[string]any{
					"a": map[string]any{"b": "c"}, "n": int64(3), "big": int64(1_000_000), "t": true, "l": []any{"x", "y"},
					"m": []any{nil, map[string]any{"z": "w"}}, "comma": "1,2", "none": nil,
				},
			}},
		},
		"Nothing":     {reason: "An entry may say nothing."},
		"Empty":       {reason: "Empty values say nothing.", entry: Entry{ClientConfig: "Namespace=,ReleaseName=,Timeout=,Description=,Labels="}},
		"NoNamespace": {reason: "That a namespace is not created must be told from nothing.", entry: Entry{ClientConfig: "CreateNamespace=false"}, want: want{Settings: Settings{CreateNamespace: truth[false]}}},
		"Digits":      {reason: "A name of digits is a name.", entry: Entry{ClientConfig: "Namespace=123"}, want: want{Settings: Settings{Namespace: "123"}}},
		"IncludeCRDs": {reason: "CRDs are included unless they are skipped.", entry: Entry{ClientConfig: "SkipCRDs=true,IncludeCRDs=true"}},
		"NoHooks":     {reason: "NoHooks means the same as DisableHooks.", entry: Entry{ClientConfig: "NoHooks=true"}, want: want{Settings: Settings{DisableHooks: true}}},
		"NoEffect": {
			reason: "Settings that only affect Helm's client are ignored.",
			entry:  Entry{ClientConfig: "DryRun=false,Replace=true,Version=1.2.3,Devel=false,DisableOpenAPIValidation=true,DryRunOption=none"},
		},
		"Atomic":       {reason: "It waits, as in Helm.", entry: Entry{ClientConfig: "Atomic=true"}, want: want{Settings: Settings{Atomic: true, Wait: true}}},
		"WaitForJobs":  {reason: "The provider also waits for Jobs.", entry: Entry{ClientConfig: "WaitForJobs=true"}, want: want{Settings: Settings{Wait: true}}},
		"NotWait":      {reason: "A switch that is off does nothing.", entry: Entry{ClientConfig: "Wait=false,Atomic=false,Force=false"}},
		"Seconds":      {reason: "A number without a unit means seconds.", entry: Entry{ClientConfig: "Timeout=300"}, want: want{Settings: Settings{Timeout: 5 * time.Minute}}},
		"Nanoseconds":  {reason: "The original uses nanoseconds.", entry: Entry{ClientConfig: "Timeout=300000000000"}, want: want{Settings: Settings{Timeout: 5 * time.Minute}}},
		"Timeout":      {reason: "Other text is not a duration.", entry: Entry{ClientConfig: "Timeout=soon"}, want: want{Err: "clientConfig: Timeout: must be a duration such as 5m30s, or a number of seconds"}},
		"Past":         {reason: "A duration must not be negative.", entry: Entry{ClientConfig: "Timeout=-5m"}, want: want{Err: "clientConfig: Timeout: must be a duration"}},
		"Overflow":     {reason: "A duration must not overflow.", entry: Entry{ClientConfig: "Timeout=99999999999999999999"}, want: want{Err: "clientConfig: Timeout: must be a duration"}},
		"LabelOfHelm":  {reason: "Helm finds releases by its own labels.", entry: Entry{ClientConfig: "Labels.owner=me"}, want: want{Err: "clientConfig: Labels: label owner is reserved by Helm"}},
		"LabelNested":  {reason: "A dot in a name must be escaped.", entry: Entry{ClientConfig: "Labels.example.org/x=y"}, want: want{Err: "clientConfig: Labels: example must be a single value; write \\. for a dot in a name"}},
		"LabelName":    {reason: "The API server would reject the name later.", entry: Entry{ClientConfig: "Labels.a b=c"}, want: want{Err: `clientConfig: Labels: "a b" is not a valid label name`}},
		"LabelValue":   {reason: "The value of a label must be valid.", entry: Entry{ClientConfig: "Labels.a=b c"}, want: want{Err: `clientConfig: Labels: "b c" is not a valid label value`}},
		"LabelsText":   {reason: "A label must have a name.", entry: Entry{ClientConfig: "Labels=a"}, want: want{Err: "clientConfig: Labels: must be a map"}},
		"KubeVersion":  {reason: "A cluster has the version that it has.", entry: Entry{ClientConfig: "KubeVersion.Version=v1.20.0"}, want: want{Err: "clientConfig: KubeVersion: is not supported: the version of the target cluster is used"}},
		"Description":  {reason: "A text has an end.", entry: Entry{ClientConfig: "Description=" + strings.Repeat("a", 1025)}, want: want{Err: "clientConfig: Description: is longer than 1024 bytes"}},
		"DryRun":       {reason: "Who wants nothing installed must not get it.", entry: Entry{ClientConfig: "DryRun=true"}, want: want{Err: "clientConfig: DryRun: is not supported: modules are always installed"}},
		"Verify":       {reason: "Who wants a signature checked must not be deceived.", entry: Entry{ClientConfig: "Verify=true"}, want: want{Err: "clientConfig: Verify: is not supported"}},
		"Unknown":      {reason: "An unknown key is an error that names it.", entry: Entry{ClientConfig: "Namespace=x,Nonsense=1"}, want: want{Err: "clientConfig: Nonsense: unknown key; the keys are the fields of Helm's install action"}},
		"Case":         {reason: "Keys are names of fields.", entry: Entry{ClientConfig: "namespace=x"}, want: want{Err: "clientConfig: namespace: unknown key; the keys are the fields of Helm's install action"}},
		"Nested":       {reason: "A flag has one value.", entry: Entry{ClientConfig: "Namespace.x=y"}, want: want{Err: "clientConfig: Namespace: must be a single value, not a list or a map"}},
		"Bool":         {reason: "A switch is true or false.", entry: Entry{ClientConfig: "SkipCRDs=yes"}, want: want{Err: "clientConfig: SkipCRDs: must be true or false"}},
		"Namespace":    {reason: "The API server would refuse it later.", entry: Entry{ClientConfig: "Namespace=A_B"}, want: want{Err: `clientConfig: Namespace: "A_B" is not a valid namespace name`}},
		"ReleaseName":  {reason: "It becomes part of a selector.", entry: Entry{ClientConfig: `ReleaseName=a\,b`}, want: want{Err: `clientConfig: ReleaseName: invalid release name "a,b"`}},
		"ClientSyntax": {reason: "It must be in the grammar.", entry: Entry{ClientConfig: "Namespace"}, want: want{Err: "clientConfig: must have the format of helm --set"}},
		"Secret":       {reason: "An override that could be part of a secret is not shown.", entry: Entry{Overrides: "password=a,bcd"}, want: want{Err: "overrides: must have the format of helm --set: a.b=c,d[0]=e, with \\, for a comma in a value"}},
		"Index":        {reason: "An index must not take all memory.", entry: Entry{Overrides: "a[65537]=b"}, want: want{Err: "overrides: must have the format"}},
		"Indexes":      {reason: "Many large indexes must not use too much memory.", entry: Entry{Overrides: strings.Repeat("a[60000][60000]=b,", 10) + "c=d"}, want: want{Err: "overrides: list indexes are too large"}},
		"Escaped":      {reason: "An escaped index must not use too much memory.", entry: Entry{Overrides: strings.Repeat(`a[6\0000]=b,`, 20) + "c=d"}, want: want{Err: "overrides: list indexes are too large"}},
		"Large":        {reason: "A text has an end.", entry: Entry{Overrides: strings.Repeat("a=b,", maxSet)}, want: want{Err: "overrides: is larger than 65536 bytes"}},
		"Kinds":        {reason: "Text and map under one key do not go together.", entry: Entry{Overrides: "a=b,a.c=d"}, want: want{Err: "overrides: must have the format"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.entry.Parse()
			if !strings.Contains(text(err), tc.want.Err) || (err == nil) != (tc.want.Err == "") || strings.Contains(text(err), "bcd") {
				t.Errorf("\n%s\nParse(): want error %q, got %q", tc.reason, tc.want.Err, text(err))
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want.Settings, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nParse(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestParseKnowsHelm checks that each flag of Helm's install action is known, so that none is reported as unknown by mistake.
// The list contains the fields as of Helm 3.22, except for the supported ones.
func TestParseKnowsHelm(t *testing.T) {
	flags := `APIVersions ClientOnly DryRun DryRunOption HideSecret KubeVersion PostRenderer Replace Devel DependencyUpdate GenerateName
		NameTemplate OutputDir SubNotes HideNotes DisableOpenAPIValidation IsUpgrade
		EnableDNS UseReleaseName CaFile CertFile KeyFile InsecureSkipTLSverify PlainHTTP Keyring Password
		PassCredentialsAll RepoURL Username Verify Version`
	known := slices.Sorted(slices.Values(strings.Fields(flags)))
	got := slices.Sorted(slices.Values(slices.Concat(withoutEffect, slices.Collect(maps.Keys(notDone)))))
	if diff := cmp.Diff(known, got); diff != "" {
		t.Errorf("-of Helm, +known here:\n%s", diff)
	}
	for _, f := range known {
		if _, err := (Entry{ClientConfig: f + "=false"}).Parse(); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// FuzzRead checks that accepted content can be read again, and that errors are a single line.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "configs:\n- name: a\n  clientConfig: Namespace=x\n  overrides: a.b=c", "configs: [{name: a, overrides: 'a[0][1].b={x,y},c=null'}]",
		`{"configs":[{"name":"a","clientConfig":"A=b"}]}`, "configs: [&a {name: x, overrides: *a}]", "configs: [{name: a, overrides: 'a[1]=x,a=b,a.b=c,,=.'}]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		entries, err := Read(data)
		if strings.Contains(text(err), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
		for _, e := range entries {
			c, err := e.Parse()
			if strings.Contains(text(err), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			if e.Name == "" || (err != nil && c.Namespace+c.ReleaseName != "") && c.Overrides != nil {
				t.Errorf("an entry without a name, or one that is used in spite of its error: %+v", e)
			}
			render.MergeValues(c.Overrides, c.Overrides)
		}
	})
}

// text returns the text of an error, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSet(t *testing.T) {
	type args struct {
		values    map[string]any
		text      string
		asStrings bool
	}
	type want struct {
		values map[string]any
		err    string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Types": {
			reason: "Numbers and booleans are recognized.", args: args{values: map[string]any{}, text: "a.b=1,c=true,d={x,y}"},
			want: want{values: map[string]any{"a": map[string]any{"b": int64(1)}, "c": true, "d": []any{"x", "y"}}},
		},
		"Strings": {
			reason: "All values are strings.", args: args{values: map[string]any{}, text: "a.b=1,c=true", asStrings: true},
			want: want{values: map[string]any{"a": map[string]any{"b": "1"}, "c": "true"}},
		},
		"Item": {
			reason: "An item of a list that is set already can be changed.", args: args{values: map[string]any{"a": []any{"x", "y"}}, text: "a[1]=z"},
			want: want{values: map[string]any{"a": []any{"x", "z"}}},
		},
		"Nothing": {reason: "An empty text changes nothing.", args: args{values: map[string]any{"a": "b"}}, want: want{values: map[string]any{"a": "b"}}},
		"NoValue": {
			reason: "The error does not contain the text, which can be a secret.", args: args{values: map[string]any{}, text: "secret"},
			want: want{err: `must have the format of helm --set: a.b=c,d[0]=e, with \, for a comma in a value`},
		},
		"Large": {
			reason: "Large indexes are refused.", args: args{values: map[string]any{}, text: strings.Repeat("a[65000]=x,", 20)},
			want: want{err: "list indexes are too large: their sum must be at most 1048576"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Set(tc.args.values, tc.args.text, tc.args.asStrings)
			got := want{err: text(err)}
			if err == nil {
				got.values = tc.args.values
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nSet(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
