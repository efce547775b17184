// SPDX-License-Identifier: Apache-2.0

package makefile

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// nowhere is a kubeconfig of a cluster that does not respond.
const nowhere = `apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: x, user: x}}]
clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: x, user: {token: x}}]
`

func TestRefusals(t *testing.T) {
	c := newClone(t)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(nowhere), 0o600); err != nil {
		t.Fatal(err)
	}
	const cluster = "set KUBECONFIG to the kubeconfig of the cluster"
	const image = "set IMG to the name of the image"
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"InstallNowhere":   {reason: "KUBECONFIG must be set.", args: []string{"install"}, want: cluster},
		"UninstallNowhere": {reason: "KUBECONFIG must be set.", args: []string{"uninstall"}, want: cluster},
		"DeployNowhere":    {reason: "KUBECONFIG must be set.", args: []string{"deploy", "IMG=example.org/x:1"}, want: cluster},
		"UndeployNowhere":  {reason: "KUBECONFIG must be set.", args: []string{"undeploy"}, want: cluster},
		"BuildNothing":     {reason: "IMG must be set.", args: []string{"docker-build"}, want: image},
		"PushNothing":      {reason: "IMG must be set.", args: []string{"docker-push"}, want: image},
		"DeployNothing":    {reason: "IMG must be set.", args: []string{"deploy", "KUBECONFIG=" + file}, want: image},
		"DeployNonsense":   {reason: "A value that is not the name of an image is refused.", args: []string{"deploy", "IMG=a|b"}, want: image},
		"PushTooEarly":     {reason: "An image must be built before it is pushed.", args: []string{"docker-push", "IMG=127.0.0.1:1/x:1"}, want: "run make docker-build IMG=127.0.0.1:1/x:1 first"},
		"NoSuchFile":       {reason: "kubectl would ignore a missing file and use another cluster.", args: []string{"install", "KUBECONFIG=" + file + "s"}, want: "does not specify a cluster"},
		"NoAnswer":         {reason: "The error names the API server that does not respond.", args: []string{"run", "KUBECONFIG=" + file}, want: "cannot use the cluster at https://127.0.0.1:1: The connection to the server 127.0.0.1:1 was refused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := c.make(t.Context(), tc.args...)
			if got := errorOf(out); err == nil || !strings.HasPrefix(got, "make "+tc.args[0]+": error: ") || !strings.Contains(got, tc.want) {
				t.Errorf("%s: make %s: want one line with %q, got %v: %s", tc.reason, strings.Join(tc.args, " "), tc.want, err, got)
			}
		})
	}
}

func TestManifests(t *testing.T) {
	c := newClone(t)
	crds := filepath.Join("package", "crds")
	generated := filepath.Join("apis", v1alpha1.Version, "zz_generated.deepcopy.go")
	for _, file := range []string{filepath.Join(crds, "kyma.m.crossplane.io_kymas.yaml"), generated} {
		if err := os.Remove(filepath.Join(c.dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	leftover := filepath.Join(c.dir, crds, "kyma.m.crossplane.io_formers.yaml")
	if err := os.WriteFile(leftover, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.mustMake(t, "manifests")
	if diff := cmp.Diff(contents(t, filepath.Join(c.origin, crds)), contents(t, filepath.Join(c.dir, crds))); diff != "" {
		t.Errorf("CRDs: -in the repository, +generated:\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(c.dir, generated)); err != nil {
		t.Error(err)
	}
}

// contents returns the contents of the files of a directory, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

// TestCluster follows a user who tries the provider in a cluster: each part depends on the previous ones.
func TestCluster(t *testing.T) {
	c, s := newClone(t), newFixture(t)
	kinds := len(contents(t, filepath.Join(c.origin, "package", "crds"))) - 2 // Without the Go files.
	image := s.registry.Host() + "/provider-kyma:test"

	for _, part := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"RunNeedsCRDs", func(t *testing.T) {
			out, err := c.make(t.Context(), "run", s.kubeconfig())
			if got := errorOf(out); err == nil || !strings.Contains(got, "does not have all CRDs of the provider: run make install first") {
				t.Errorf("make run: want an error, got %v: %s", err, got)
			}
		}},
		{"Install", func(t *testing.T) {
			c.mustMake(t, "install", s.kubeconfig())
			s.awaitKinds(t, kinds)
		}},
		{"Run", func(t *testing.T) { testRun(t, c, s) }},
		{"BuildAndPush", func(t *testing.T) { testImage(t, c, image) }},
		{"Deploy", func(t *testing.T) { testDeploy(t, c, s, image) }},
		{"Undeploy", func(t *testing.T) {
			c.mustMake(t, "undeploy", s.kubeconfig())
			s.awaitKinds(t, 0)
			s.awaitGone(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}})
			s.awaitGone(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: deployment}})
			s.awaitGone(t, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: deployment}})
		}},
		{"Uninstall", func(t *testing.T) { testUninstall(t, c, s) }},
	} {
		if !t.Run(part.name, part.run) {
			return
		}
	}
}

// testRun checks that the provider of make run installs a Manifest, and ends when it is terminated.
func testRun(t *testing.T, c *clone, s *fixture) {
	if err := controlplane.Connect(t.Context(), s.client, team, config, s.cluster, s.registry); err != nil {
		t.Fatal(err)
	}
	port, err := process.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	probes := net.JoinHostPort(process.Loopback, strconv.Itoa(port))
	p := c.start(t, "run", s.kubeconfig(), "ARGS=--metrics-bind-address=0 --health-probe-bind-addr="+probes+" --cache-dir="+t.TempDir()+
		" "+strings.Join(controlplane.LocalFlags(), " "))
	err = p.Await(t.Context(), "ready", func(ctx context.Context) error {
		return process.CheckURL(ctx, http.DefaultClient, "http://"+probes+"/readyz")
	})
	if err != nil {
		t.Fatal(err)
	}
	s.create(t, "run", "hello")
	s.awaitInstalled(t, "run", "hello")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.Terminate(ctx); err != nil {
		t.Error(err)
	}
}

// testImage checks that the registry has the built image, by its digest.
func testImage(t *testing.T, c *clone, image string) {
	out := c.mustMake(t, "docker-build", "docker-push", "IMG="+image, "PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH)
	ref, err := name.NewTag(image)
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := remote.Get(ref, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"provider-kyma " + pushed.Digest.String(), ref.Context().Digest(pushed.Digest.String()).String()} {
		if !strings.Contains(out, "\n"+line+"\n") {
			t.Errorf("make docker-build docker-push: want a line %q, got\n%s", line, out)
		}
	}
	all, err := pushed.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	index, err := all.IndexManifest()
	if err != nil || len(index.Manifests) != 1 {
		t.Fatalf("want an index of one image, got %v, %v", index, err)
	}
	packed, err := tarball.ImageFromPath(filepath.Join(c.dir, "bin", "image.tar"), &ref)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := packed.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	one, err := all.Image(index.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := one.ConfigName(); err != nil || digest != want {
		t.Errorf("the archive has image %s, and the registry %s, %v", digest, want, err)
	}
}

// testDeploy checks that the provider of the Deployment installs another Manifest, and removes it and the one of make run.
// Until then, make refuses to delete the CRDs.
func testDeploy(t *testing.T, c *clone, s *fixture, image string) {
	c.mustMake(t, "deploy", "IMG="+image, s.kubeconfig())
	if got := s.play(t); got != image {
		t.Errorf("the Deployment runs %s, want %s", got, image)
	}
	second := s.create(t, "deploy", "hello")
	s.awaitInstalled(t, "deploy", "hello")
	for _, target := range []string{"uninstall", "undeploy"} {
		out, err := c.make(t.Context(), target, s.kubeconfig())
		if got := errorOf(out); err == nil || !strings.Contains(got, "still has objects of these kinds") {
			t.Errorf("make %s with Manifests: want an error, got %v: %s", target, err, got)
		}
	}
	s.remove(t, second)
	s.remove(t, &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "run"}})
	s.awaitGone(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "run"}})
	s.remove(t, &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: config}})
}

// testUninstall checks that CRDs that belong to a package are kept, and the others are deleted.
func testUninstall(t *testing.T, c *clone, s *fixture) {
	c.mustMake(t, "install", s.kubeconfig())
	const owners = `{"metadata":{"ownerReferences":[{"apiVersion":"pkg.crossplane.io/v1","kind":"ProviderRevision","name":"kyma-1","uid":"x"}]}}`
	s.patchCRD(t, owners)
	for _, target := range []string{"install", "uninstall"} {
		out, err := c.make(t.Context(), target, s.kubeconfig())
		if got := errorOf(out); err == nil || !strings.Contains(got, "belong to ProviderRevision kyma-1") {
			t.Errorf("make %s over a package: want an error, got %v: %s", target, err, got)
		}
	}
	s.patchCRD(t, `{"metadata":{"ownerReferences":null}}`)
	c.mustMake(t, "uninstall", s.kubeconfig())
	s.awaitKinds(t, 0)
	// The second run has nothing to do.
	c.mustMake(t, "uninstall", s.kubeconfig())
}
