// SPDX-License-Identifier: Apache-2.0

package kyma_test

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestManifestOfModule checks that an API server accepts the output of kymactl module manifest.
func TestManifestOfModule(t *testing.T) {
	r := controlplane.RegistryFor(t, controlplane.WebOptions{})
	pushed, err := r.PushComponent(t.Context(), "modules", controlplane.Component{
		Name: "example.org/module/greeter", Version: "1.0.0",
		Resources: []controlplane.ComponentResource{
			{Name: "web", Type: "helm-chart", Files: controlplane.Files{"Chart.yaml": []byte("apiVersion: v2\nname: web\nversion: 0.1.0\n")}},
			{Name: "raw-manifest", Type: "yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n")},
			{Name: "config", Type: "yaml", Data: []byte("configs:\n- name: web\n  overrides: replicas=3\n")},
			{Name: "crds", Type: "crds", Files: controlplane.Files{"a.yaml": []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.org}\n")}},
			{Name: "default-cr", Type: "yaml", Data: []byte("apiVersion: example.org/v1\nkind: Greeter\n")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	if err := admin.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	args := []string{"module", "manifest", pushed.Repository + ":1.0.0", "-n", n.Name, "--provider-config", "a"}
	if code := cli.Run(t.Context(), &command.Environment{In: &bytes.Buffer{}, Out: &out, Err: &said}, args); code != command.ExitOK {
		t.Fatalf("exit code %d: %s", code, said.String())
	}
	m := &v1alpha1.Manifest{}
	if err := yaml.UnmarshalStrict(out.Bytes(), m); err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), m); err != nil {
		t.Fatalf("%v of\n%s", err, out.String())
	}
	if len(m.Spec.ForProvider.Installs) != 2 || m.Spec.ForProvider.Resource == nil {
		t.Errorf("got %v", m.Spec.ForProvider)
	}
}
