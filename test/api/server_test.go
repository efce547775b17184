// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// All tests share one server, because starting it is slow. Tests leave nothing behind that affects other tests.
var (
	server *controlplane.Cluster
	client dynamic.Interface
	root   string
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{Name: "api"}, setUp))
}

func setUp(ctx context.Context, c *controlplane.Cluster) error {
	server = c
	var err error
	if root, err = tools.Root(); err != nil {
		return err
	}
	if err := c.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}
	if client, err = dynamic.NewForConfig(c.Config()); err != nil {
		return errors.Wrap(err, "cannot create a client")
	}
	return installCrossplane(ctx)
}

// of returns a client for one of our kinds. For cluster-scoped kinds, the namespace is ignored.
func of(kind string) dynamic.ResourceInterface {
	resources := map[string]string{
		"Manifest": "manifests", "ProviderConfig": "providerconfigs",
		"ClusterProviderConfig": "clusterproviderconfigs", "ProviderConfigUsage": "providerconfigusages",
		"Kyma": "kymas", "ModuleTemplate": "moduletemplates", "KymaSet": "kymasets",
		"ModuleReleaseMeta": "modulereleasemetas", "RolloutPolicy": "rolloutpolicies",
	}
	r := client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resources[kind]})
	switch kind {
	case "ClusterProviderConfig", "ModuleTemplate", "ModuleReleaseMeta", "RolloutPolicy", "KymaSet":
		return r
	}
	return r.Namespace(metav1.NamespaceDefault)
}

// dryRun creates an object in a dry run. Unknown fields are errors, so that mistakes in tests are detected.
func dryRun(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return of(o.GetKind()).Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"})
}

// dryRunStatus writes the status of an existing object in a dry run.
func dryRunStatus(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return of(o.GetKind()).UpdateStatus(ctx, o, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"})
}

// create creates an object, and deletes it at the end of the test.
func create(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	c := of(o.GetKind())
	out, err := c.Create(t.Context(), o, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return out
}
