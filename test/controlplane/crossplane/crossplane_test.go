// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	"github.com/google/go-containerregistry/pkg/crane"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestCrossplane starts everything only once, because starting it is slow.
func TestCrossplane(t *testing.T) {
	log.SetLogger(logr.Discard())
	dir := t.TempDir()
	packages := filepath.Join(dir, "packages")
	digests, err := BuildPackages(t.Context(), packages, "v0.0.1-test")
	if err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer")
	if _, err := BuildPackages(t.Context(), newer, "v0.0.2-test"); err != nil {
		t.Fatal(err)
	}
	options, err := ClusterOptions(filepath.Join(dir, "cluster"))
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := controlplane.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	registry := controlplane.RegistryFor(t, controlplane.WebOptions{})
	// The kinds of the provider are not active until the configuration is installed.
	x, err := Start(t.Context(), Options{
		Cluster: cluster, Registry: registry, Dir: filepath.Join(dir, "crossplane"), Activate: []string{"*.example.org"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Stop()

	t.Run("ProviderIsHealthy", func(t *testing.T) { testProvider(t, x, packages, digests) })
	t.Run("ConfigurationFindsWhatItDependsOn", func(t *testing.T) { testConfiguration(t, x, packages) })
	checkRefused(t, cluster, "")
	var retired string
	t.Run("ProviderIsUpgraded", func(t *testing.T) { retired = testUpgrade(t, x, newer) })
	t.Run("FunctionIsAnnouncedAfterConflict", func(t *testing.T) { testConflict(t, x) })
	t.Run("CompositionsBecomeReady", func(t *testing.T) { testCompositions(t, x) })
	if err := x.await(t.Context(), "the last pass of the node succeeded", func(context.Context) error { return x.Err() }); err != nil {
		t.Error(err)
	}
	checkRefused(t, cluster, retired)
}

// checkRefused checks that the provider had all permissions that it needed. Crossplane revokes the permissions of a retired
// revision before it stops the revision.
func checkRefused(t *testing.T, cluster *controlplane.Cluster, retired string) {
	t.Helper()
	refused, err := Refused(cluster)
	if err != nil {
		t.Error(err)
	}
	for _, r := range refused {
		if retired == "" || !strings.HasSuffix(r.User, ":"+retired) {
			t.Errorf("the provider was refused: %+v", r)
		}
	}
}

func testProvider(t *testing.T, x *Crossplane, packages string, digests map[string]string) {
	ref, err := x.Push(t.Context(), filepath.Join(packages, ProviderPackage+".xpkg"), ProviderPackage, "v0.0.1-test")
	if err != nil {
		t.Fatal(err)
	}
	pushed := x.registry.Host() + strings.TrimPrefix(ref, Host)
	if d, err := crane.Digest(pushed); err != nil || d != digests[ProviderPackage] {
		t.Errorf("the registry has digest %q, %v, and the build said %q", d, err, digests)
	}
	if err := x.Configure(t.Context(), "--debug", "--module-registry-config="+registries); err != nil {
		t.Fatal(err)
	}
	// Install it as users do, and then again.
	if out, err := x.Crank(t.Context(), "xpkg", "install", "provider", ref, ObjectName(ProviderPackage), "--wait=1m"); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	if err := x.InstallProvider(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if served(t, x, "manifests.kyma.m.crossplane.io") || len(x.Pods()) != 0 {
		t.Errorf("the provider runs before anything is active: %+v", x.Pods())
	}
	if !served(t, x, "providerconfigs.kyma.m.crossplane.io") {
		t.Error("ProviderConfigs are not served")
	}
}

// served reports whether a CustomResourceDefinition exists.
func served(t *testing.T, x *Crossplane, name string) bool {
	t.Helper()
	err := x.client.Get(t.Context(), client.ObjectKey{Name: name}, &apiextensionsv1.CustomResourceDefinition{})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

func testConfiguration(t *testing.T, x *Crossplane, packages string) {
	if err := x.PushFunctions(t.Context()); err != nil {
		t.Fatal(err)
	}
	ref, err := x.Push(t.Context(), filepath.Join(packages, ConfigurationPackage+".xpkg"), ConfigurationPackage, "v0.0.1-test")
	if err != nil {
		t.Fatal(err)
	}
	if err := x.InstallConfiguration(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	// They are already installed, as dependencies.
	if err := x.InstallFunctions(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kymaenvironments", "xkymaenvironments", "kymaenvironmentclaims"} {
		crd := name + ".platform.kyma.crossplane.io"
		err := x.await(t.Context(), "CRD "+crd+" exists", func(context.Context) error {
			if !served(t, x, crd) {
				return errors.New("it does not exist")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	// Its policy activates the kinds of the provider, which then starts.
	pod, err := x.AwaitPod(t.Context())
	if err != nil || pod.Restarts != 0 {
		t.Errorf("want one process that never ended, got %+v: %v", pod, err)
	}
	if !served(t, x, "manifests.kyma.m.crossplane.io") {
		t.Error("Manifests are not served")
	}
}

// testUpgrade installs a newer version, kills it once, and returns the revision that it replaces.
func testUpgrade(t *testing.T, x *Crossplane, packages string) string {
	before, err := x.AwaitPod(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ref, err := x.Push(t.Context(), filepath.Join(packages, ProviderPackage+".xpkg"), ProviderPackage, "v0.0.2-test")
	if err != nil {
		t.Fatal(err)
	}
	if err := x.InstallProvider(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	after, err := x.AwaitPod(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after.Deployment == before.Deployment || before.Process.Err() != nil {
		t.Errorf("want another process, and that the first ended as it was asked to: %+v after %+v: %v", after, before, before.Process.Err())
	}
	after.Process.Signal(syscall.SIGKILL)
	<-after.Process.Done()
	err = x.await(t.Context(), "a process that ended is started again", func(context.Context) error {
		if pods := x.Pods(); len(pods) != 1 || pods[0].Restarts != 1 {
			return errors.Errorf("%+v", pods)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return before.Deployment
}

// testConflict lets Crossplane write a revision between the read and the write of the node. The node must write again, and not
// fail.
func testConflict(t *testing.T, x *Crossplane) {
	var stale *pkgv1.FunctionRevision
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		list := &pkgv1.FunctionRevisionList{}
		if err := x.client.List(t.Context(), list); err != nil || len(list.Items) == 0 {
			return errors.Errorf("want revisions of functions, got %d: %w", len(list.Items), err)
		}
		stale = list.Items[0].DeepCopy()
		newer := stale.DeepCopy()
		newer.SetAnnotations(map[string]string{"example.org/written": "meanwhile"})
		return x.client.Update(t.Context(), newer)
	})
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{address: stale.Status.Endpoint, secret: *stale.GetObservedTLSServerSecretName()}
	// The revision looks as if it had not been written yet.
	stale.Status.Endpoint = ""
	if err := announce(t.Context(), x.client, stale, e); err != nil {
		t.Errorf("a conflict is not tried again: %v", err)
	}
	if stale.Annotations["example.org/written"] != "meanwhile" || stale.Status.Endpoint != e.address {
		t.Errorf("want the revision as Crossplane wrote it, with address %q, got %v and %q", e.address, stale.Annotations, stale.Status.Endpoint)
	}
}
