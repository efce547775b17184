// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// head is the beginning of a template, to which test cases add fields.
const head = `
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata:
  name: sample
  namespace: kcp-system
`

const descriptor = `
  descriptor:
    component: {name: example.org/module/sample, version: 1.0.0}
`

func TestModuleTemplate(t *testing.T) {
	type want struct {
		name      string
		channel   string
		target    v1alpha1.ModuleTarget
		module    string
		data      string
		readiness []v1alpha1.ReadinessRule
		lost      []string
		err       string
	}
	namespace := `metadata.namespace: "kcp-system"; ModuleTemplates are cluster-scoped, so their names must be unique`
	cases := map[string]struct {
		reason  string
		in      string
		channel string
		want    want
	}{
		"Minimal": {
			reason: "The target is remote by default, and a lost namespace is reported.",
			in:     head + "spec:\n  channel: fast" + descriptor,
			want:   want{name: "sample", channel: "fast", target: "remote", lost: []string{namespace}},
		},
		"ChannelGiven": {
			reason:  "A template without a channel gets the specified one, which becomes part of its name.",
			in:      head + "spec:\n  moduleName: sample\n  version: 1.0.0" + descriptor,
			channel: "regular",
			want:    want{name: "sample-regular", channel: "regular", target: "remote", module: "sample", lost: []string{namespace}},
		},
		"OwnChannel": {
			reason:  "The channel of a template stays.",
			in:      head + "spec:\n  channel: fast\n  target: control-plane" + descriptor,
			channel: "regular",
			want:    want{name: "sample", channel: "fast", target: "control-plane", lost: []string{namespace}},
		},
		"NoChannel": {
			reason: "A channel is required.",
			in:     head + "spec:\n  moduleName: sample" + descriptor,
			want:   want{err: `cannot convert ModuleTemplate "sample": spec.channel is missing: specify the channel of the ModuleTemplate`},
		},
		"Data": {
			reason: "A null value is omitted, and numbers do not change.",
			in:     head + "spec:\n  channel: fast\n  data: {apiVersion: v1, kind: X, a: null, b: {c: null, d: 12345678901234567890}}" + descriptor,
			want: want{
				name: "sample", channel: "fast", target: "remote", lost: []string{namespace},
				data: `{"apiVersion":"v1","b":{"d":12345678901234567890},"kind":"X"}`,
			},
		},
		"NullData": {
			reason: "Empty data is omitted.",
			in:     head + "spec:\n  channel: fast\n  data: null" + descriptor,
			want:   want{name: "sample", channel: "fast", target: "remote", lost: []string{namespace}},
		},
		"Checks": {
			reason: "Checks for Ready become rules; other checks are lost.",
			in: head + `spec:
  channel: fast
  customStateCheck:
  - {jsonPath: status.health, value: green, mappedState: Ready}
  - {jsonPath: status.in.some-thing, value: 'a"b', mappedState: Ready}
  - {jsonPath: status.health, value: red, mappedState: Error}
  - {jsonPath: "status.conditions[0].type", value: x, mappedState: Ready}` + descriptor,
			want: want{
				name: "sample", channel: "fast", target: "remote",
				readiness: []v1alpha1.ReadinessRule{
					{CEL: `object.status.health == "green"`},
					{CEL: `object.status["in"]["some-thing"] == "a\"b"`},
				},
				lost: []string{
					namespace,
					`spec.customStateCheck[2]: status.health == "red" sets state "Error"; all states other than Ready become Processing`,
					`spec.customStateCheck[3]: path "status.conditions[0].type" does not consist of field names only; write a rule in spec.readiness`,
				},
			},
		},
		"Lost": {
			reason: "Unsupported fields are listed, unless they are empty.",
			in: strings.Replace(head, "name: sample", "name: sample\n  uid: x\n  finalizers: [a]", 1) + `spec:
  channel: fast
  mandatory: true
  requiresDowntime: false
  version: 1.0.1
  manager: {group: apps, version: v1, kind: Deployment, name: x}
  resources: []
  strange: 1
  descriptor:
    component:
      version: 1.0.0
      resources: [{name: chart, labels: [{name: oci-registry-cred, value: {}}]}]
status: {state: Ready}`,
			want: want{
				name: "sample", channel: "fast", target: "remote",
				lost: []string{
					"metadata.finalizers",
					namespace,
					`spec.descriptor: resource "chart", label oci-registry-cred: registry credentials are set in the ProviderConfig`,
					"spec.manager: readiness depends on all objects of the module; see spec.readiness",
					"spec.mandatory: modules are never installed automatically; add the module to each Kyma",
					"spec.strange",
					`spec.version: "1.0.1"; the version in the descriptor, "1.0.0", is used instead`,
					"status: the provider sets it",
				},
			},
		},
		"NoDescriptor": {
			reason: "A template must have a descriptor.",
			in:     head + "spec:\n  channel: fast",
			want: want{err: `cannot convert ModuleTemplate "sample": spec.descriptor is missing: newer versions of Kyma store it in a registry; ` +
				"create a ModuleTemplate with spec.component"},
		},
		"DataWithoutKind": {
			reason: "A name that the API server would reject is rejected.",
			in:     head + "spec:\n  channel: fast\n  data: {apiVersion: v1}" + descriptor,
			want:   want{err: `cannot convert ModuleTemplate "sample": spec.data.kind is missing`},
		},
		"OtherKind": {
			reason: "Only ModuleTemplates of lifecycle-manager are converted.",
			in:     "apiVersion: v1\nkind: Secret",
			want: want{err: `cannot convert ModuleTemplate: unsupported kind "Secret" of apiVersion "v1"; must be ModuleTemplate of operator.kyma-project.io/v1alpha1, ` +
				"v1beta1 or v1beta2"},
		},
		"BadChannel": {
			reason: "A channel must be valid.",
			in:     head + "spec:\n  channel: v1" + descriptor,
			want:   want{err: `cannot convert ModuleTemplate "sample": channel "v1" must be 3 to 32 lowercase letters, digits or '-', beginning with a letter and not ending with '-'`},
		},
		"BadTarget": {
			reason: "The target must be one of two values.",
			in:     head + "spec:\n  channel: fast\n  target: moon" + descriptor,
			want:   want{err: `cannot convert ModuleTemplate "sample": spec.target: invalid value "moon": must be remote or control-plane`},
		},
		"Twice": {
			reason: "A duplicate key would lose a value.",
			in:     "kind: a\nkind: b",
			want:   want{err: `cannot convert ModuleTemplate: invalid YAML: yaml: unmarshal errors: line 2: key "kind" already set in map`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, lost, err := ModuleTemplate([]byte(tc.in), tc.channel)
			if tc.want.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.want.err) {
					t.Errorf("\n%s\nModuleTemplate(...): want error %q, got %v", tc.reason, tc.want.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nModuleTemplate(...): %v", tc.reason, err)
			}
			data := ""
			if got.Spec.Data != nil {
				data = string(got.Spec.Data.Raw)
			}
			g := want{
				name: got.Name, channel: got.Spec.Channel, target: got.Spec.Target, module: got.Spec.ModuleName,
				data: data, readiness: got.Spec.Readiness, lost: lost,
			}
			if diff := cmp.Diff(tc.want, g, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nModuleTemplate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFixtures checks that original templates from two eras only lose their namespaces.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("../testdata/moduletemplates/*.yaml")
	if err != nil || len(files) != 6 {
		t.Fatalf("want 6 fixtures, got %d, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, lost, err := ModuleTemplate(in, "")
			if err != nil {
				t.Fatal(err)
			}
			if len(lost) > 1 || len(lost) == 1 && !strings.HasPrefix(lost[0], "metadata.namespace: ") {
				t.Errorf("lost: %q", lost)
			}
			// A converted template is encoded in the form that the API server reads.
			b, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			again := &v1alpha1.ModuleTemplate{}
			if err := json.Unmarshal(b, again); err != nil {
				t.Fatal(err)
			}
			if got.Namespace != "" || got.Name == "" || again.Spec.Channel != got.Spec.Channel || len(again.Labels) != len(got.Labels) {
				t.Errorf("converted to %s", b)
			}
		})
	}
}

func FuzzModuleTemplate(f *testing.F) {
	files, err := filepath.Glob("../testdata/moduletemplates/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in, "regular")
	}
	f.Fuzz(func(t *testing.T, in []byte, channel string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(in)+len(channel))()
		got, lost, err := ModuleTemplate(in, channel)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			return
		}
		if got.Name == "" || got.Spec.Channel == "" || got.Spec.Descriptor == nil {
			t.Errorf("incomplete: %+v", got)
		}
		for _, l := range lost {
			if strings.Contains(l, "\n") {
				t.Errorf("lost has more than one line: %q", l)
			}
		}
	})
}
