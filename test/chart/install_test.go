// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// podMonitors returns a directory with the CRD of PodMonitors. It has the fields that the chart sets, according to the API reference of the
// Prometheus operator.
func podMonitors(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: podmonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {plural: podmonitors, kind: PodMonitor, listKind: PodMonitorList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              selector: {type: object, x-kubernetes-preserve-unknown-fields: true}
              podMetricsEndpoints:
                type: array
                items: {type: object, properties: {port: {type: string}, interval: {type: string}}}
`
	if err := os.WriteFile(filepath.Join(dir, "podmonitors.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// start starts a real control plane, whose nodes are simulated, and stops it at the end of the test.
func start(t *testing.T) (*controlplane.Cluster, client.Client) {
	t.Helper()
	c, err := controlplane.Start(t.Context(), controlplane.Options{Name: "chart", Dir: t.TempDir()}.Complete())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	admin, err := client.New(c.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c, admin
}

// TestInstall installs, upgrades and uninstalls the packed chart in a real control plane, whose nodes are simulated.
func TestInstall(t *testing.T) {
	c, admin := start(t)
	h := newHelm(t)
	crds := filepath.Join(h.chart, "..", "..", "package", "crds")
	h.env = append(h.env, "KUBECONFIG="+c.KubeconfigFile())
	packed := t.TempDir()
	h.mustRun(t, "package", h.chart, "--version", "1.2.3", "--app-version", "v1.2.3", "--destination", packed)
	h.chart = filepath.Join(packed, "provider-kyma-1.2.3.tgz")
	h.mustRun(t, "install", release, h.chart, "--namespace", namespace, "--create-namespace", "--wait", "--timeout=5m")
	checkRunning(t, admin, 2)
	checkKinds(t, admin, crds)

	if err := c.InstallCRDs(t.Context(), podMonitors(t)); err != nil {
		t.Fatal(err)
	}
	h.mustRun(t, "upgrade", release, h.chart, "--namespace", namespace, "--wait", "--timeout=5m", "--set=replicas=3",
		"--set=metrics.podMonitor.enabled=true", "--set=inCluster.enabled=true", "--set=inCluster.namespaces={team-a}", "--set=networkPolicy.from=null")
	checkRunning(t, admin, 3)
	config := &v1alpha1.ClusterProviderConfig{}
	if err := admin.Get(t.Context(), client.ObjectKey{Name: "in-cluster"}, config); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"team-a"}, config.Spec.AllowedNamespaces.Names); diff != "" {
		t.Errorf("namespaces that may use the cluster itself: -want, +got:\n%s", diff)
	}
	closed := &networkingv1.NetworkPolicy{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: release}, closed); err != nil || len(closed.Spec.Ingress) > 0 {
		t.Errorf("want a NetworkPolicy that allows no peers, got %+v, %v", closed.Spec.Ingress, err)
	}

	h.mustRun(t, "uninstall", release, "--namespace", namespace, "--wait", "--timeout=5m")
	err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: release}, &appsv1.Deployment{})
	if !kerrors.IsNotFound(err) {
		t.Errorf("the Deployment is left: %v", err)
	}
	// Without them, all Kymas and Manifests would be lost.
	checkKinds(t, admin, crds)
}

func await(t *testing.T, what string, look process.Look) {
	t.Helper()
	if err := (process.Wait{What: what}).Until(t.Context(), look); err != nil {
		t.Fatal(err)
	}
}

// checkRunning checks that this number of replicas is available, and that the drain of a node takes one of them at a time.
func checkRunning(t *testing.T, c client.Client, replicas int32) {
	t.Helper()
	key := client.ObjectKey{Namespace: namespace, Name: release}
	d := &appsv1.Deployment{}
	// Helm does not wait for this status.
	await(t, "the Deployment reports its replicas", func(ctx context.Context) (bool, string, error) {
		err := c.Get(ctx, key, d)
		return d.Status.AvailableReplicas == replicas, fmt.Sprintf("%+v", d.Status), err
	})
	await(t, "a PodDisruptionBudget protects the pods", func(ctx context.Context) (bool, string, error) {
		b := &policyv1.PodDisruptionBudget{}
		err := c.Get(ctx, key, b)
		return b.Status.ExpectedPods == replicas && b.Status.DisruptionsAllowed == 1, fmt.Sprintf("%+v", b.Status), err
	})
}

// checkKinds checks that the control plane has the CRDs in a directory.
func checkKinds(t *testing.T, c client.Client, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	got := 0
	for i := range list.Items {
		if list.Items[i].Spec.Group == v1alpha1.Group {
			got++
		}
	}
	if want := len(files); got != want || got == 0 {
		t.Errorf("want %d CRDs, got %d", want, got)
	}
}
