// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"path/filepath"
	"sync"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	greeter       = "example.org/module/greeter"
	signatureName = "kyma-module-signature"
)

// chart returns a chart that renders a Deployment. If a name is required, rendering fails without it.
func chart(name string, needs bool) controlplane.Files {
	f := controlplane.Files{
		"Chart.yaml":  []byte("apiVersion: v2\nname: " + name + "\nversion: 0.1.0\nkubeVersion: '>=1.30'\n"),
		"values.yaml": []byte("replicas: 1\nimage: example.org/" + name + ":1.0.0\n"),
		"templates/deployment.yaml": []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      - name: main
        image: {{ .Values.image }}
`),
	}
	if needs {
		f["templates/needs.yaml"] = []byte(`{{ required "set host" .Values.host }}`)
	}
	return f
}

const greeterCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greeters.example.org}
spec:
  group: example.org
  names: {kind: Greeter, plural: greeters}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

// module pushes a module with all kinds of resources.
func moduleOf(version string) controlplane.Component {
	return controlplane.Component{
		Name: greeter, Version: version,
		Resources: []controlplane.ComponentResource{
			{Name: "web", Type: "helm-chart", Files: chart("web", false)},
			{Name: "raw-manifest", Type: "yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: greetings}\n")},
			{Name: "config", Type: "yaml", Data: []byte("configs:\n- name: web\n  clientConfig: Namespace=greetings\n  overrides: replicas=3\n")},
			{Name: "crds", Type: "crds", Files: controlplane.Files{"greeters.yaml": []byte(greeterCRD)}},
			{Name: "default-cr", Type: "yaml", Data: []byte("apiVersion: example.org/v1\nkind: Greeter\nspec: {text: hello}\n")},
			{Name: "moduletemplate", Type: "plainText", Data: []byte("apiVersion: kyma.m.crossplane.io/v1alpha1\nkind: ModuleTemplate\n" +
				"metadata: {labels: {team: greetings}}\nspec: {channel: fast, readiness: [{cel: 'object.spec.text != \"\"'}]}\n")},
		},
	}
}

func startRegistry(t *testing.T) *controlplane.Registry {
	t.Helper()
	return controlplane.RegistryFor(t, controlplane.WebOptions{})
}

func push(t *testing.T, r *controlplane.Registry, c controlplane.Component) controlplane.PushedComponent {
	t.Helper()
	p, err := r.PushComponent(t.Context(), "modules", c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// layoutOf copies what was pushed to a layout in a new directory.
func layoutOf(t *testing.T, path string, pushed ...controlplane.PushedComponent) string {
	t.Helper()
	path = filepath.Join(t.TempDir(), path)
	l, err := layout.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pushed {
		from, err := remote.New(p.Repository, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := ocm.Decode(p.Descriptor)
		if err != nil {
			t.Fatal(err)
		}
		tag, err := ocm.Tag(d.Version())
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			tag = "other-" + tag
		}
		if _, err := store.Copy(t.Context(), from, p.Digest, l, store.CopyOptions{Tag: tag}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, reference string) *Bundle {
	t.Helper()
	return openWith(t.Context(), t, reference, nil)
}

func openWith(ctx context.Context, t *testing.T, reference string, regs oci.Registries) *Bundle {
	t.Helper()
	b, err := Open(ctx, reference, regs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// keyPair is created only once, because this takes long.
var keyPair = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func publicKey(t *testing.T, k *rsa.PrivateKey, name string) ocm.Key {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(k.Public())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ocm.ParseKey(name, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	return key
}
