// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

// A want is the result of Module: warnings, or an error.
type want struct {
	warnings []string
	err      string
}

func (w want) check(t *testing.T, reason string, s Subject) {
	t.Helper()
	r, err := Module(t.Context(), s)
	got := want{}
	if err != nil {
		got.err = err.Error()
	} else {
		got.warnings = r.Warnings
	}
	if diff := cmp.Diff(w, got, cmp.AllowUnexported(want{})); diff != "" {
		t.Errorf("\n%s\nModule(...): -want, +got:\n%s", reason, diff)
	}
}

func TestCRDs(t *testing.T) {
	const prefix = "crds: w.yaml: CustomResourceDefinition widgets.example.org: "
	cases := map[string]struct {
		reason   string
		crds     []archive.File
		installs []Install
		want     want
	}{
		"Valid": {
			reason: "A valid CRD is accepted, even with the empty status that generators write.",
			crds:   []archive.File{file("w.yaml", widgets)},
		},
		"None": {
			reason: "A layer of CRDs must contain CRDs.",
			crds:   []archive.File{file("w.txt", widgets)},
			want:   want{err: "crds contains no CustomResourceDefinition"},
		},
		"Other": {
			reason: "A layer of CRDs must not contain other objects.",
			crds:   []archive.File{file("w.yaml", configMap)},
			want:   want{err: "crds: w.yaml: ConfigMap a is not a CustomResourceDefinition"},
		},
		"Broken": {
			reason: "The error names a file that cannot be read.",
			crds:   []archive.File{file("w.yaml", "{")},
			want:   want{err: "crds: w.yaml: yaml: line 1: did not find expected node content"},
		},
		"Old": {
			reason: "CRDs of version v1beta1 are not supported by any API server.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"))},
			want: want{err: prefix + "apiVersion: Kubernetes 1.22 and later do not serve apiextensions.k8s.io/v1beta1; " +
				"use apiextensions.k8s.io/v1"},
		},
		"WrongType": {
			reason: "A field of the wrong type is rejected.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "served: true", "served: often"))},
			want:   want{err: prefix + "spec.versions.served: must not be of type string"},
		},
		"Name": {
			reason: "The name of a CRD must consist of its plural and group.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "name: widgets.example.org", "name: widget.example.org"))},
			want: want{err: "crds: w.yaml: CustomResourceDefinition widget.example.org: " +
				`metadata.name: must be spec.names.plural+"."+spec.group`},
		},
		"NotStructural": {
			reason: "An API server rejects a schema that is not structural.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "min: {type: integer, default: 1}", "min: {default: 1}"))},
			want: want{err: prefix + "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[min].type: " +
				"is missing: must not be empty for specified object fields"},
		},
		"Rule": {
			reason: "The rules of a CRD must compile.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "self.min <= self.size", "self.mini <= self.size"))},
			want: want{err: prefix + "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: compilation failed: " +
				"ERROR: <input>:1:5: undefined field 'mini' | self.mini <= self.size | ....^"},
		},
		"Default": {
			reason: "Default values must match their schema.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "default: 1", "default: one"))},
			want:   want{err: prefix + `spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[min].default: must be of type integer: "string"`},
		},
		"Storage": {
			reason: "Exactly one version must be stored.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "storage: true", "storage: false"))},
			want: want{err: prefix + "spec.versions: must have exactly one version marked as storage version; " +
				"status.storedVersions: must have at least one stored version"},
		},
		"Unknown": {
			reason: "Fields that an API server would drop are reported.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "scope: Namespaced", "scope: Namespaced\n  owner: me"))},
			want:   want{warnings: []string{`CustomResourceDefinition widgets.example.org: unknown field "spec.owner"`}},
		},
		"Twice": {
			reason: "A part must not contain a CRD twice.",
			crds:   []archive.File{file("w.yaml", widgets), file("x.yaml", widgets)},
			want:   want{err: "crds: x.yaml: duplicate object CustomResourceDefinition widgets.example.org"},
		},
		"TwiceInInstall": {
			reason:   "An install must not contain a CRD twice.",
			installs: []Install{plain("raw", gadgets, gadgets)},
			want:     want{err: `install "raw": duplicate object CustomResourceDefinition gadgets.example.org`},
		},
		"Shared": {
			reason:   "Several parts can contain the same CRD.",
			crds:     []archive.File{file("w.yaml", gadgets)},
			installs: []Install{chart("c", file("crds/g.yaml", gadgets)), plain("raw", gadgets)},
		},
		"SharedButDiffers": {
			reason:   "If CRDs differ, the first one is used.",
			crds:     []archive.File{file("w.yaml", gadgets)},
			installs: []Install{chart("c", file("crds/g.yaml", changed(t, gadgets, "x-kubernetes-preserve-unknown-fields: true", "properties: {}")))},
			want:     want{warnings: []string{"CustomResourceDefinition gadgets.example.org in install c differs from the one in crds, which takes precedence"}},
		},
		"KindTwice": {
			reason: "A kind can have only one CRD.",
			crds: []archive.File{
				file("w.yaml", gadgets),
				file("x.yaml", changed(t, gadgets, "gadgets.example.org", "things.example.org", "plural: gadgets", "plural: things")),
			},
			want: want{err: "crds: x.yaml: CustomResourceDefinition things.example.org: spec.names.kind: Gadget is also defined by gadgets.example.org"},
		},
		"InChart": {
			reason:   "The CRDs of charts are checked, too.",
			installs: []Install{chart("c", file("crds/g.yaml", changed(t, gadgets, "scope: Cluster", "scope: Galaxy")))},
			want: want{err: `install "c": CustomResourceDefinition gadgets.example.org: ` +
				`spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"`},
		},
		"TooLarge": {
			reason: "A CRD must not exceed the size limit of an API server.",
			crds:   []archive.File{file("w.yaml", changed(t, widgets, "type: object", "type: object\n        description: "+strings.Repeat("x", maxCRD)))},
			want:   want{err: prefix + "exceeds the size limit of API servers (3145728 bytes)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.want.check(t, tc.reason, Subject{CRDs: tc.crds, Installs: tc.installs})
		})
	}
}

func TestCustomResource(t *testing.T) {
	const prefix = "custom resource Widget w: "
	cases := map[string]struct {
		reason   string
		installs []Install
		cr       *unstructured.Unstructured
		want     want
	}{
		"Minimal": {
			reason: "Defaults are set before rules are evaluated.",
			cr:     widget(t, "{size: 1}"),
		},
		"All": {
			reason: "A resource with all types of fields is valid.",
			cr: widget(t, `{size: 1, min: 1, color: red, name: abc, when: "2026-01-01T00:00:00Z", tags: [a, b], rest: {any: [thing]}, quantity: 10%,
				template: {apiVersion: v1, kind: Secret, metadata: {name: a}, data: {}}}`),
		},
		"Without": {
			reason: "A resource without a name gets the name of the module.",
			cr: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.org/v1", "kind": "Widget", "spec": map[string]any{"size": 1},
			}},
		},
		"Status": {
			reason: "The status is not applied, so it is not validated.",
			cr:     object(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}, spec: {size: 1}, status: {state: 5}}"),
		},
		"Missing": {
			reason: "A required field must exist.",
			cr:     widget(t, "{}"),
			want:   want{err: prefix + "spec.size: is missing"},
		},
		"MissingSpec": {
			reason: "A required spec must exist.",
			cr:     object(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}}"),
			want:   want{err: prefix + "spec: is missing"},
		},
		"Unknown": {
			reason: "Unknown fields are rejected.",
			cr:     widget(t, "{size: 1, colour: red, sise: 2}"),
			want:   want{err: prefix + "spec.colour: unknown field in the CRD; spec.sise: unknown field in the CRD"},
		},
		"UnknownMeta": {
			reason: "Unknown fields in the metadata are rejected.",
			cr:     object(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, label: {}}, spec: {size: 1}}"),
			want:   want{err: prefix + "metadata.label: unknown field in the CRD"},
		},
		"Many": {
			reason: "All errors are reported together, sorted.",
			cr:     widget(t, `{size: big, color: blue, name: ABCD, when: today, tags: [a, a]}`),
			want: want{err: prefix + `spec.color: Unsupported value: "blue": supported values: "red", "green"; ` +
				"spec.name: Too long: may not be more than 3 bytes; " +
				`spec.size: must be of type integer: "string"; spec.tags[1]: Duplicate value: "a"; spec.when: must be of type date-time: "today"`},
		},
		"Rule": {
			reason: "A resource must satisfy the rules of the CRD.",
			cr:     widget(t, "{size: 1, min: 2}"),
			want:   want{err: prefix + "spec: min must not be above size"},
		},
		"Embedded": {
			reason: "An embedded resource must be valid.",
			cr:     widget(t, "{size: 1, template: {a: b}}"),
			want:   want{err: prefix + "spec.template.apiVersion: is missing; spec.template.kind: is missing"},
		},
		"Null": {
			reason: "Null is not valid for a field that is not nullable.",
			cr:     widget(t, "{size: null}"),
			want:   want{err: prefix + "spec.size: is missing"},
		},
		"NotServed": {
			reason: "The version must be served.",
			cr:     object(t, "{apiVersion: example.org/v1alpha1, kind: Widget, metadata: {name: w}}"),
			want:   want{err: prefix + "apiVersion: widgets.example.org serves example.org/v1, but not version v1alpha1"},
		},
		"Name": {
			reason: "The name must be valid.",
			cr:     object(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: W_W}, spec: {size: 1}}"),
			want: want{err: "custom resource Widget W_W: metadata.name: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, " +
				"'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]( …"},
		},
		"Namespace": {
			reason: "The namespace must be valid.",
			cr:     object(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: a.b}, spec: {size: 1}}"),
			want:   want{err: prefix + "metadata.namespace: must not contain dots"},
		},
		"ClusterScoped": {
			reason:   "As in kubectl, the namespace of a cluster-scoped resource is ignored.",
			installs: []Install{plain("raw", gadgets)},
			cr:       object(t, "{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g, namespace: a}}"),
			want:     want{warnings: []string{"custom resource Gadget g: metadata.namespace is ignored: gadgets.example.org are cluster-scoped"}},
		},
		"NoCRD": {
			reason: "The CRD may be part of another module.",
			cr:     object(t, "{apiVersion: example.com/v1, kind: Other, metadata: {name: o}}"),
			want:   want{warnings: []string{"custom resource Other o is not validated, because the module has no CRD for Other.example.com"}},
		},
		"NoKind": {
			reason: "A resource must have a kind.",
			cr:     &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}}},
			want:   want{err: "custom resource: apiVersion and kind are required"},
		},
		"InInstall": {
			reason:   "The custom resource must not be part of an install.",
			installs: []Install{plain("raw", "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}, spec: {size: 1}}")},
			cr:       widget(t, "{size: 1}"),
			want:     want{err: prefix + `is also part of install "raw"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.want.check(t, tc.reason, Subject{CRDs: []archive.File{file("w.yaml", widgets)}, Installs: tc.installs, CustomResource: tc.cr})
		})
	}
}

func TestImages(t *testing.T) {
	cases := map[string]struct {
		reason string
		object string
		want   []string
	}{
		"Pinned": {
			reason: "An image with a digest causes no warning, with or without a tag.",
			object: `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {initContainers: [{image: "a` + digest + `"}], containers: [{image: "h:5000/a:1` + digest + `"}]}}`,
		},
		"Tag": {
			reason: "A tag can be changed to another image.",
			object: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: ns}, spec: {template: {spec: {containers: [{image: 'h:5000/a:1'}]}}}}",
			want:   []string{"image h:5000/a:1 of Deployment ns/d is not pinned by digest"},
		},
		"BadDigest": {
			reason: "An incomplete digest does not pin an image.",
			object: "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: {containers: [{image: 'a:1@sha256:abc'}]}}}}",
			want:   []string{"image a:1@sha256:abc of DaemonSet default/d is not pinned by digest"},
		},
		"Latest": {
			reason: "The tag latest changes with each release.",
			object: "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {template: {spec: {containers: [{image: 'a:latest'}]}}}}",
			want:   []string{"image a:latest of StatefulSet default/s uses the tag latest, so its content can change: pin it by digest"},
		},
		"NoTag": {
			reason: "An image without a tag has the tag latest. A port is not a tag.",
			object: "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {containers: [{image: 'h:5000/a'}]}}}}",
			want:   []string{"image h:5000/a of Job default/j has neither a tag nor a digest, so its content can change: pin it by digest"},
		},
		"CronJob": {
			reason: "Some kinds contain deeply nested pod templates.",
			object: "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: {template: {spec: {initContainers: [{image: 'b:1'}], containers: [{image: 'a:1'}]}}}}}}",
			want:   []string{"image a:1 of CronJob default/c is not pinned by digest", "image b:1 of CronJob default/c is not pinned by digest"},
		},
		"Volume": {
			reason: "A volume can be an image.",
			object: "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {volumes: [{name: v, image: {reference: 'a:1'}}]}}",
			want:   []string{"image a:1 of Pod default/p is not pinned by digest"},
		},
		"OtherGroup": {
			reason: "A kind in another API group is a different kind.",
			object: "{apiVersion: example.org/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: {containers: [{image: a}]}}}}",
		},
		"Malformed": {
			reason: "A field of the wrong type causes no warning here.",
			object: "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [a, {image: 5}], initContainers: {image: a}, volumes: [{image: a}]}}",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want{warnings: tc.want}.check(t, tc.reason, Subject{Installs: []Install{plain("raw", tc.object)}})
		})
	}
}
