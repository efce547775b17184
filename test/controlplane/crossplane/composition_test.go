// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// registries is the name of the ClusterProviderConfig with which components are fetched.
	registries = "registries"
	team       = "team-a"
	patience   = time.Minute
)

// testCompositions installs a module with a namespaced composite resource and with a claim.
func testCompositions(t *testing.T, x *Crossplane) {
	target, err := controlplane.Start(t.Context(), controlplane.Options{Name: "target"})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Stop()
	control, err := x.cluster.Client()
	if err != nil {
		t.Fatal(err)
	}
	offer(t, x, control)
	create(t, control,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "target"}, Data: map[string][]byte{"kubeconfig": target.Kubeconfig()},
		},
	)
	testExamples(t, control)
	environment := composite(x, "KymaEnvironment", "environment")
	claim := composite(x, "KymaEnvironmentClaim", "claimed")
	for _, o := range []*unstructured.Unstructured{environment, claim} {
		create(t, control, o)
		awaitReady(t, x, control, o)
		out, err := x.Crank(t.Context(), "beta", "trace", o.GetKind()+".platform.kyma.crossplane.io", o.GetName(), "-n", team)
		t.Logf("%s %v", out, err)
		if err := control.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		err = x.await(t.Context(), o.GetKind()+" is gone", func(ctx context.Context) error {
			manifests := &v1alpha1.ManifestList{}
			if err := control.List(ctx, manifests); err != nil || len(manifests.Items) > 0 {
				return errors.Errorf("%d Manifests are left: %v", len(manifests.Items), err)
			}
			if err := control.Get(ctx, client.ObjectKeyFromObject(o), o); !kerrors.IsNotFound(err) {
				return errors.Errorf("it is there: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// testExamples checks that the examples in the configuration's package are accepted.
func testExamples(t *testing.T, control client.Client) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := controlplane.ReadDir(filepath.Join(root, "package", "configuration", "examples"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no examples: %v", err)
	}
	for name, data := range files {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &o.Object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := control.Create(t.Context(), o, client.DryRunAll); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// offer creates a ModuleTemplate for a module.
func offer(t *testing.T, x *Crossplane, control client.Client) {
	t.Helper()
	r := x.registry
	chart := controlplane.Files{
		"Chart.yaml":            []byte("apiVersion: v2\nname: hello\nversion: 1.0.0\n"),
		"templates/config.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hello\ndata: {a: b}\n"),
	}
	component := controlplane.Component{
		Name: "example.org/module/hello", Version: "1.0.0",
		Resources: []controlplane.ComponentResource{{Name: "hello", Type: "helm-chart", Files: chart}},
	}
	if _, err := r.PushComponent(t.Context(), "modules", component); err != nil {
		t.Fatal(err)
	}
	config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: registries}}
	config.Spec.Credentials.Source = v1alpha1.CredentialsSourceNone
	config.Spec.Registries = []v1alpha1.Registry{{Host: r.Host(), PlainHTTP: true}}
	create(t, control, config, &v1alpha1.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "hello-regular"},
		Spec: v1alpha1.ModuleTemplateSpec{
			Channel:   "regular",
			Component: &v1alpha1.Component{Repository: r.Host() + "/modules", Name: component.Name, Version: component.Version},
		},
	})
}

func create(t *testing.T, control client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := control.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// composite returns a composite resource, or a claim, for the module.
func composite(x *Crossplane, kind, name string) *unstructured.Unstructured {
	spec := map[string]any{
		"modules":             []any{map[string]any{"name": "hello"}},
		"kubeconfigSecretRef": map[string]any{"name": "target"},
		"registries":          []any{map[string]any{"host": x.registry.Host(), "plainHTTP": true}},
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "platform.kyma.crossplane.io/v1alpha1", "kind": kind,
		"metadata": map[string]any{"namespace": team, "name": name}, "spec": spec,
	}}
}

func awaitReady(t *testing.T, x *Crossplane, control client.Client, o *unstructured.Unstructured) {
	t.Helper()
	err := x.await(t.Context(), o.GetKind()+" is ready", func(ctx context.Context) error {
		if err := control.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err //nolint:wrapcheck // It names the object.
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		ready := slices.ContainsFunc(conditions, func(c any) bool {
			m, ok := c.(map[string]any)
			return ok && m["type"] == "Ready" && m["status"] == "True"
		})
		if !ready {
			return errors.Errorf("status is %v", o.Object["status"])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if state, _, _ := unstructured.NestedString(o.Object, "status", "state"); state != "Ready" {
		t.Errorf("status of %s is %v", o.GetKind(), o.Object["status"])
	}
}
