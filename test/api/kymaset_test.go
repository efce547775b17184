// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestKymaSet sends KymaSets to the API server, as a dry run.
func TestKymaSet(t *testing.T) {
	const meta = "{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: KymaSet, metadata: {name: fleet}, spec: "
	cases := map[string]struct {
		reason, object, err string
	}{
		"Minimal":     {reason: "An empty selection selects all ProviderConfigs.", object: meta + "{providerConfigs: {}, template: {spec: {}}}}"},
		"ClusterAPI":  {reason: "Clusters of Cluster API are the other source.", object: meta + "{clusterAPI: {namespaceSelector: {matchLabels: {a: b}}}, template: {spec: {}}}}"},
		"Parameters":  {reason: "A channel can have parameters that no channel of a Kyma has.", object: meta + "{providerConfigs: {}, template: {spec: {forProvider: {channel: \"$(cluster.labels['ring'])\"}}}}}"},
		"Both":        {reason: "A KymaSet has one source.", object: meta + "{providerConfigs: {}, clusterAPI: {}, template: {spec: {}}}}", err: "exactly one of providerConfigs and clusterAPI must be set"},
		"Neither":     {reason: "A KymaSet has a source.", object: meta + "{template: {spec: {}}}}", err: "exactly one of providerConfigs and clusterAPI must be set"},
		"Policy":      {reason: "Only two policies exist.", object: meta + "{providerConfigs: {}, clusterRemovalPolicy: Keep, template: {spec: {}}}}", err: "Unsupported value"},
		"Module":      {reason: "The rules of modules are those of a Kyma.", object: meta + "{providerConfigs: {}, template: {spec: {forProvider: {modules: [{name: a, channel: fast, version: 1.0.0}]}}}}}", err: "channel and version are mutually exclusive"},
		"LongName":    {reason: "The name is the value of a label.", object: strings.Replace(meta, "fleet", strings.Repeat("x", 64), 1) + "{providerConfigs: {}, template: {spec: {}}}}", err: "metadata.name must have at most 63 characters"},
		"LongestName": {reason: "A label has at most 63 characters.", object: strings.Replace(meta, "fleet", strings.Repeat("x", 63), 1) + "{providerConfigs: {}, template: {spec: {}}}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := dryRun(t.Context(), object(t, tc.object))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s\nwant error %q, got %v", tc.reason, tc.err, err)
			}
			if err != nil {
				return
			}
			if policy, _, _ := unstructured.NestedString(got.Object, "spec", "clusterRemovalPolicy"); policy != "Delete" {
				t.Errorf("%s\nwant the default policy, got %q", tc.reason, policy)
			}
			if _, ok, _ := unstructured.NestedString(got.Object, "spec", "template", "spec", "forProvider", "mode"); ok {
				t.Errorf("%s\nwant no default for the mode, so that the owner of a Kyma can set it", tc.reason)
			}
		})
	}
}
