// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// manifestWith returns a Manifest with one install and no optional fields.
func manifestWith(t *testing.T, source string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: Manifest, metadata: {name: minimal},
		spec: {forProvider: {installs: [{name: x, source: `+source+`}]}}}`)
}

// configWith returns a ProviderConfig or a ClusterProviderConfig.
func configWith(t *testing.T, kind, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: `+kind+`, metadata: {name: minimal}, spec: `+spec+`}`)
}

func TestSources(t *testing.T) {
	cases := map[string]struct {
		reason, source string
		// refused is the only expected error, at the source unless field is set.
		refused, field string
	}{
		"Layer":              {reason: "A digest is sufficient for an oci-ref.", source: `{type: oci-ref, repo: r, name: x, ref: "` + digest + `"}`},
		"Registry":           {reason: "A chart in a registry can be specified by tag.", source: `{type: helm-chart, url: "oci://r", chartName: c, version: v1}`},
		"RegistryDigest":     {reason: "A chart in a registry can be specified by digest.", source: `{type: helm-chart, url: "oci://r/p", chartName: c, version: "` + digest + `"}`},
		"Repository":         {reason: "Without a version, the latest chart in a repository is used.", source: `{type: helm-chart, url: "https://r", chartName: c}`},
		"RepositoryRange":    {reason: "The version of a chart in a repository can be a range.", source: `{type: helm-chart, url: "http://r:80/p", chartName: c, version: ">= 1, < 2"}`},
		"Kustomization":      {reason: "A kustomization can be at the root of the layer.", source: `{type: kustomize, repo: r, name: x, ref: "` + digest + `"}`},
		"RawInline":          {reason: "Plain YAML can be inline.", source: `{type: raw, inline: "{}"}`},
		"RawLayer":           {reason: "Plain YAML can be in a layer.", source: `{type: raw, repo: r, name: x, ref: "` + digest + `"}`},
		"LayerWithoutName":   {reason: "A layer requires a name.", source: `{type: oci-ref, repo: r, ref: "` + digest + `"}`, refused: "repo, name and ref are required when type is oci-ref"},
		"LayerWithoutRepo":   {reason: "A layer requires a repository.", source: `{type: oci-ref, name: x, ref: "` + digest + `"}`, refused: "repo, name and ref are required when type is oci-ref"},
		"ChartWithoutURL":    {reason: "A chart requires a URL.", source: `{type: helm-chart, chartName: c}`, refused: "url and chartName are required when type is helm-chart"},
		"ChartWithRepo":      {reason: "A chart has no field repo.", source: `{type: helm-chart, url: "https://r", chartName: c, repo: r}`, refused: "repo, name and ref must not be set when type is helm-chart"},
		"ChartWithName":      {reason: "A chart has no field name.", source: `{type: helm-chart, url: "https://r", chartName: c, name: r}`, refused: "repo, name and ref must not be set when type is helm-chart"},
		"LayerWithURL":       {reason: "A layer has no field url.", source: `{type: oci-ref, repo: r, name: x, ref: "` + digest + `", url: "https://r"}`, refused: "url, chartName and version can be set only when type is helm-chart"},
		"LayerWithChartName": {reason: "A layer has no field chartName.", source: `{type: oci-ref, repo: r, name: x, ref: "` + digest + `", chartName: c}`, refused: "url, chartName and version can be set only when type is helm-chart"},
		"RawNothing":         {reason: "There is nothing to install.", source: `{type: raw}`, refused: "either inline, or repo, name and ref are required when type is raw"},
		"RawBoth":            {reason: "Plain YAML cannot be both inline and in a layer.", source: `{type: raw, inline: "{}", repo: r, name: x, ref: "` + digest + `"}`, refused: "either inline, or repo, name and ref are required when type is raw"},
		"RawPart":            {reason: "Plain YAML in a layer requires a ref.", source: `{type: raw, repo: r, name: x}`, refused: "either inline, or repo, name and ref are required when type is raw"},
		"KustomizeInline":    {reason: "A kustomization cannot be inline.", source: `{type: kustomize, repo: r, name: x, ref: "` + digest + `", inline: "{}"}`, refused: "inline can be set only when type is raw"},
		"Tag":                {reason: "A tag can move.", source: `{type: oci-ref, repo: r, name: x, ref: v1.0.0}`, refused: notDigest, field: ".ref"},
		"UpperCaseDigest":    {reason: "Registries know one spelling.", source: `{type: oci-ref, repo: r, name: x, ref: "sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef"}`, refused: notDigest, field: ".ref"},
		"ShortDigest":        {reason: "A short digest identifies no blob.", source: `{type: oci-ref, repo: r, name: x, ref: "sha256:0123"}`, refused: notDigest, field: ".ref"},
		"OtherScheme":        {reason: "Other schemes are not supported.", source: `{type: helm-chart, url: "ftp://r", chartName: c}`, refused: "url must begin with oci://, https:// or http://, followed by a host", field: ".url"},
		"NoHost":             {reason: "Three slashes are a file.", source: `{type: helm-chart, url: "https:///charts", chartName: c}`, refused: "url must begin with oci://, https:// or http://, followed by a host", field: ".url"},
		"SpaceForHost":       {reason: "No host has one.", source: `{type: helm-chart, url: "https:// r", chartName: c}`, refused: "url must begin with oci://, https:// or http://, followed by a host", field: ".url"},
		"HostS":              {reason: "\\s in a pattern is white space, not an s.", source: `{type: helm-chart, url: "https://sss", chartName: c}`},
		"User":               {reason: "Credentials belong into a Secret.", source: `{type: helm-chart, url: "oci://user@r", chartName: c, version: v1}`, refused: "url must not contain credentials; set them in spec.registries of the ProviderConfig", field: ".url"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := dryRun(t.Context(), manifestWith(t, tc.source))
			if tc.refused != "" {
				checkRefusal(t, err, installs+"[0].source"+tc.field, tc.refused)
				return
			}
			if err != nil {
				t.Errorf("%s The server refuses: %v", tc.reason, err)
			}
		})
	}
}

func TestMinimalObjects(t *testing.T) {
	secretRef := `secretRef: {namespace: ns, name: s, key: k}`
	cases := map[string]struct {
		reason string
		object *unstructured.Unstructured
	}{
		"OnlyCRDs": {
			reason: "A module can consist of CRDs only.",
			object: object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: Manifest, metadata: {name: minimal},
				spec: {forProvider: {crds: {type: oci-ref, repo: r, name: x, ref: "`+digest+`"}}}}`),
		},
		"OnlyResource": {
			reason: "A module can consist of a custom resource of an existing operator.",
			object: object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: Manifest, metadata: {name: minimal},
				spec: {forProvider: {resource: {apiVersion: v1, kind: X, metadata: {name: x}, any: 1}}}}`),
		},
		"Secret":           {reason: "The namespace is that of the config.", object: configWith(t, "ProviderConfig", `{credentials: {source: Secret, secretRef: {name: s, key: k}}}`)},
		"InjectedIdentity": {reason: "An injected identity needs nothing else.", object: configWith(t, "ProviderConfig", `{credentials: {source: InjectedIdentity}}`)},
		"None":             {reason: "The source None needs nothing else.", object: configWith(t, "ProviderConfig", `{credentials: {source: None}}`)},
		"Environment":      {reason: "Credentials can be in an environment variable.", object: configWith(t, "ProviderConfig", `{credentials: {source: Environment, env: {name: E}}}`)},
		"Filesystem":       {reason: "Credentials can be in a file.", object: configWith(t, "ProviderConfig", `{credentials: {source: Filesystem, fs: {path: /f}}}`)},
		"ClusterSecret":    {reason: "A ClusterProviderConfig must name the namespace of the Secret.", object: configWith(t, "ClusterProviderConfig", `{credentials: {source: Secret, `+secretRef+`}}`)},
		"ClusterIdentity":  {reason: "The injected identity of a ClusterProviderConfig needs nothing else.", object: configWith(t, "ClusterProviderConfig", `{credentials: {source: InjectedIdentity}}`)},
		"VerificationOff":  {reason: "Off needs no keys.", object: configWith(t, "ProviderConfig", `{credentials: {source: None}, verification: {mode: "Off"}}`)},
		"NothingToVerify":  {reason: "The default is Off.", object: configWith(t, "ProviderConfig", `{credentials: {source: None}, verification: {}}`)},
		"RegistryOfLocal":  {reason: "The host of a registry can have a port and no dots.", object: configWith(t, "ProviderConfig", `{credentials: {source: None}, registries: [{host: "localhost:5000", plainHTTP: true}]}`)},
		"ClusterRegistry":  {reason: "A registry without a pull secret needs no namespace.", object: configWith(t, "ClusterProviderConfig", `{credentials: {source: None}, registries: [{host: ghcr.io}]}`)},
		"Kyma": {
			reason: "A Kyma without modules is valid, because all fields have defaults.",
			object: object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: Kyma, metadata: {name: minimal}, spec: {}}`),
		},
		"KymaOfTheSeed": {
			reason: "A module can be specified by name, without a channel.",
			object: object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: Kyma, metadata: {name: minimal},
				spec: {forProvider: {modules: [{name: x}]}}}`),
		},
		"TemplateInline": {
			reason: "The name of the module is in the descriptor.",
			object: object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: ModuleTemplate, metadata: {name: minimal},
				spec: {channel: regular, descriptor: {}}}`),
		},
		"TemplateComponent": {
			reason: "Other fields have defaults. A host name can have one letter, and a component name can have no directory.",
			object: object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: ModuleTemplate, metadata: {name: minimal},
				spec: {channel: regular, component: {repository: r, name: a.io/x, version: v1}}}`),
		},
		"TemplateData": {
			reason: "In the samples of the original Kyma manager, the default custom resource has no metadata, and unknown fields.",
			object: object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: ModuleTemplate, metadata: {name: minimal},
				spec: {channel: stable, descriptor: {}, data: {apiVersion: v1, kind: X, resource: xs}}}`),
		},
		"FullKyma":          {reason: "A Kyma can have all fields at once.", object: object(t, fullKyma)},
		"FullTemplate":      {reason: "A ModuleTemplate can have all fields at once.", object: object(t, fullTemplate)},
		"FullManifest":      {reason: "A Manifest can have all fields at once.", object: object(t, fullManifest)},
		"FullConfig":        {reason: "A ProviderConfig can have all fields at once.", object: object(t, fullConfig)},
		"FullClusterConfig": {reason: "A ClusterProviderConfig can have all fields at once.", object: object(t, clusterConfig(fullConfig))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := dryRun(t.Context(), tc.object); err != nil {
				t.Errorf("%s The server refuses: %v", tc.reason, err)
			}
		})
	}
}

// Values and the resource are stored unchanged, regardless of their content.
func TestFreeFields(t *testing.T) {
	in := object(t, fullManifest)
	out, err := dryRun(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{installs + "[0].values", "spec.forProvider.resource"} {
		if diff := cmp.Diff(toJSON(t, get(in, path)), toJSON(t, get(out, path))); diff != "" {
			t.Errorf("%s: -sent, +kept:\n%s", path, diff)
		}
	}
	set(t, in, fields{installs + "[0].values": []any{"a"}})
	if _, err := dryRun(t.Context(), in); !kerrors.IsInvalid(err) {
		t.Errorf("values that are a list must be refused, got: %v", err)
	}
}

// TestTwoComplaints checks the rules that can only be broken together with another rule.
func TestTwoComplaints(t *testing.T) {
	const least, most = "should be at least 1 chars long", "may not be more than 71 bytes"
	manifest, config, kyma, template := object(t, fullManifest), object(t, fullConfig), object(t, fullKyma), object(t, fullTemplate)
	release, policy := object(t, fullRelease), object(t, fullPolicy)
	status := create(t, named(object(t, fullTemplate), "complaints"))
	status.Object["status"] = object(t, statusOfTemplate).Object
	cases := map[string]struct {
		object *unstructured.Unstructured
		value  string
		want   string
	}{
		installs + "[0].name":                             {object: manifest, want: least},
		installs + "[0].namespace":                        {object: manifest, want: least},
		installs + "[0].valuesFrom[0].key":                {object: manifest, want: least},
		modules + "[0].valuesFrom[0].key":                 {object: kyma, want: least},
		modules + "[0].installs[0].name":                  {object: kyma, want: least},
		modules + "[0].installs[0].valuesFrom[0].key":     {object: kyma, want: least},
		installs + "[0].source.ref":                       {object: manifest, value: digest + "0", want: most},
		"spec.forProvider.config.ref":                     {object: manifest, value: digest + "0", want: most},
		"spec.forProvider.crds.ref":                       {object: manifest, value: digest + "0", want: most},
		"spec.forProvider.component.digest":               {object: manifest, value: digest + "0", want: most},
		"spec.forProvider.component.repository":           {object: manifest, want: least},
		"spec.registries[0].host":                         {object: config, want: least},
		modules + "[0].name":                              {object: kyma, want: least},
		"spec.component.repository":                       {object: template, want: least},
		"spec.forProvider.maintenanceWindows[0].duration": {object: kyma, value: "2d", want: "should match"},
		"spec.forProvider.rollback.after":                 {object: manifest, value: "10", want: "should match"},
		modules + "[0].rollback.after":                    {object: kyma, value: "10", want: "should match"},
		"spec.progressDeadline":                           {object: policy, value: "1d", want: "should match"},
		"spec.maxDeferral":                                {object: policy, value: "7d", want: "should match"},
		"spec.waves[0].soak":                              {object: policy, value: "1d", want: "should match"},
		"spec.waves[0].name":                              {object: policy, want: least},
		"spec.moduleName":                                 {object: release, want: least},
		"status.resources[0].source.ref":                  {object: status, value: digest + "0", want: most},
	}
	for path, tc := range cases {
		t.Run(path, func(t *testing.T) {
			o, try := tc.object.DeepCopy(), dryRun
			f := fields{path: tc.value}
			if isStatus(f) {
				try = dryRunStatus
			}
			set(t, o, f)
			_, err := try(t.Context(), o)
			status, ok := err.(kerrors.APIStatus)
			if !ok {
				t.Fatalf("the server must refuse %q, it says: %v", tc.value, err)
			}
			for _, c := range status.Status().Details.Causes {
				if c.Field == path && strings.Contains(c.Message, tc.want) {
					return
				}
			}
			t.Errorf("want a complaint about %q with %q, got: %v", path, tc.want, err)
		})
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
