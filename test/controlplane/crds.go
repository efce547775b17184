// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// InstallCRDs applies the CustomResourceDefinitions of a directory, one per file. It waits until all of them are
// established and clients can discover their kinds, which happens a little later.
func (a *access) InstallCRDs(ctx context.Context, dir string) error {
	client, err := dynamic.NewForConfig(a.admin)
	if err != nil {
		return errors.Wrap(err, "cannot create a client")
	}
	crdClient := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return errors.Errorf("directory %q contains no CRDs", dir)
	}
	finder, err := discovery.NewDiscoveryClientForConfig(a.admin)
	if err != nil {
		return errors.Wrap(err, "cannot create a client")
	}
	var names []string
	for _, f := range files {
		crd := &unstructured.Unstructured{}
		data, err := os.ReadFile(f)
		if err != nil {
			return errors.Wrap(err, "cannot read a CRD")
		}
		if err := yaml.Unmarshal(data, &crd.Object); err != nil {
			return errors.Wrapf(err, "cannot read %q", f)
		}
		if _, err := crdClient.Apply(ctx, crd.GetName(), crd, metav1.ApplyOptions{FieldManager: "controlplane", Force: true}); err != nil {
			return errors.Wrapf(err, "cannot apply %q", f)
		}
		names = append(names, crd.GetName())
	}
	for _, n := range names {
		if err := awaitServed(ctx, crdClient, finder, n); err != nil {
			return err
		}
	}
	return nil
}

func awaitServed(ctx context.Context, crdClient dynamic.ResourceInterface, finder *discovery.DiscoveryClient, name string) error {
	w := process.Wait{What: "CRD " + name + " is established and discovered", Every: 50 * time.Millisecond}
	return w.Until(ctx, func(ctx context.Context) (bool, string, error) {
		crd, err := crdClient.Get(ctx, name, metav1.GetOptions{})
		if err != nil || !established(crd) {
			return false, "", err
		}
		discovered, err := discovers(finder, crd)
		return discovered, "established", err
	})
}

// discovers reports whether discovery contains all versions that a CRD serves, both in the document of all groups and in
// that of the version. Clients use either, and the server does not update them at the same time.
func discovers(finder *discovery.DiscoveryClient, crd *unstructured.Unstructured) (bool, error) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	_, all, _, err := finder.GroupsAndMaybeResources()
	if err != nil {
		return false, err //nolint:wrapcheck // A wait says it.
	}
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if version["served"] != true {
			continue
		}
		gv := schema.GroupVersion{Group: group, Version: fmt.Sprint(version["name"])}
		one, err := finder.ServerResourcesForGroupVersion(gv.String())
		if err != nil {
			return false, err //nolint:wrapcheck // A wait says it.
		}
		if !lists(all[gv], plural) || !lists(one, plural) {
			return false, nil
		}
	}
	return true, nil
}

func lists(found *metav1.APIResourceList, plural string) bool {
	return found != nil && slices.ContainsFunc(found.APIResources, func(r metav1.APIResource) bool { return r.Name == plural })
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
			return true
		}
	}
	return false
}
