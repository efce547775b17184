// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// All tests share one server, because starting it is slow.
var server *controlplane.Cluster

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{Name: "unions"}, func(_ context.Context, c *controlplane.Cluster) error {
		server = c
		return nil
	}))
}

// A connected engine records the requests that it sends.
type connected struct {
	cluster.Cluster

	engine *manifest.Engine

	mu       sync.Mutex
	requests []string
}

func connectTo(t *testing.T) *connected {
	t.Helper()
	c := &connected{engine: manifest.New()}
	config := rest.CopyConfig(server.Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &noted{next: next, connected: c} })
	to, err := connect.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(to.Close)
	c.Cluster = to
	return c
}

type noted struct {
	*connected

	next http.RoundTripper
}

func (n *noted) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(r)
	code := 0
	if err == nil {
		code = resp.StatusCode
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests = append(n.requests, fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, code))
	return resp, err
}

// asked returns the requests about a resource since its last call.
func (c *connected) asked(about string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, r := range c.requests {
		if strings.Contains(r, about) {
			out = append(out, r)
		}
	}
	c.requests = nil
	return out
}

// bundleOf returns a bundle with a chart of one object.
func bundleOf(namespace, text string) *manifest.Bundle {
	files := chart(text)
	layer := source.Layer{Digest: text, Fetch: func(context.Context) (source.Content, error) {
		return source.Content{Digest: text, Files: func() ([]source.File, error) { return files, nil }}, nil
	}}
	return &manifest.Bundle{Name: namespace, Owner: "a test", Installs: []manifest.Install{{Layer: layer, Name: "web", Namespace: namespace}}}
}

func chart(text string) []source.File {
	return []source.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")},
		{Name: "templates/object.yaml", Data: []byte(text)},
	}
}

// apply applies a bundle until nothing is left to do.
func (c *connected) apply(t *testing.T, s *manifest.Bundle) error {
	t.Helper()
	var failed error
	eventually(t, "all is applied", func() bool {
		r, err := c.engine.Apply(t.Context(), c, s)
		failed = err
		return err != nil || r.Waiting == ""
	})
	return failed
}

// home is the home directory of all helm processes, so that they share the discovery cache.
func home() string { return filepath.Join(server.Dir(), "home") }

// runHelm runs helm in a namespace. The error contains its output.
func runHelm(t *testing.T, namespace, verb, text string) error {
	t.Helper()
	helm, err := tools.Path(t.Context(), tools.Helm)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range chart(text) {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), helm, verb, "web", dir, "--namespace", namespace, "--kubeconfig", server.KubeconfigFile())
	cmd.Env = []string{"HOME=" + home(), "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	return errors.Wrap(err, string(out))
}

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return u
}

// path returns the path of the collection of an object.
func (c *connected) path(t *testing.T, u *unstructured.Unstructured, namespace string) string {
	t.Helper()
	gvk := u.GroupVersionKind()
	m, err := c.Mapping(t.Context(), gvk)
	if err != nil {
		t.Fatal(err)
	}
	p := "/apis/" + gvk.Group + "/" + gvk.Version
	if gvk.Group == "" {
		p = "/api/" + gvk.Version
	}
	if m.Namespaced {
		p += "/namespaces/" + namespace
	}
	return p + "/" + m.Resource
}

// created returns an object in the form that it would have if it was created.
func (c *connected) created(t *testing.T, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	u := objectOf(t, text)
	body, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return answer(t, c.REST().Post().AbsPath(c.path(t, u, namespace)).Param("dryRun", "All").SetHeader("Content-Type", "application/json").Body(body).Do(t.Context()))
}

// live returns the live object.
func (c *connected) live(t *testing.T, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	u := objectOf(t, text)
	return answer(t, c.REST().Get().AbsPath(c.path(t, u, namespace), u.GetName()).Do(t.Context()))
}

// applyAs applies an object as another manager.
func (c *connected) applyAs(t *testing.T, manager, namespace, text string) {
	t.Helper()
	u := objectOf(t, text)
	answer(t, c.REST().Verb(http.MethodPatch).AbsPath(c.path(t, u, namespace), u.GetName()).Param("fieldManager", manager).Param("force", "true").
		SetHeader("Content-Type", "application/apply-patch+yaml").Body([]byte(text)).Do(t.Context()))
}

func answer(t *testing.T, r rest.Result) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	b, err := r.Raw()
	if err == nil {
		err = u.UnmarshalJSON(b)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return u
}

func (c *connected) namespace(t *testing.T, name string) string {
	t.Helper()
	body := []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"}}`)
	err := c.REST().Post().AbsPath("/api/v1/namespaces").SetHeader("Content-Type", "application/json").Body(body).Do(t.Context()).Error()
	if err != nil && !kerrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return name
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// fieldsOf returns the fields of an applying manager as JSON.
func fieldsOf(u *unstructured.Unstructured, manager string) string {
	for _, m := range u.GetManagedFields() {
		if m.Manager == manager && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == "" {
			return string(m.FieldsV1.GetRawBytes())
		}
	}
	return ""
}
