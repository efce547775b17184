// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/target"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// All tests share one server, because starting it is slow.
var (
	server *controlplane.Cluster
	admin  dynamic.Interface
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{Name: "target"}, func(_ context.Context, c *controlplane.Cluster) (err error) {
		server = c
		admin, err = dynamic.NewForConfig(c.Config())
		return err
	}))
}

// secret is a control plane whose only Secret contains a kubeconfig.
type secret []byte

func (s secret) Get(context.Context, string, string) (map[string][]byte, error) {
	return map[string][]byte{"kubeconfig": s}, nil
}

// A connected cluster records the requests to it and the changes that it reports.
type connected struct {
	*target.Cluster

	mu       sync.Mutex
	requests []string
	news     []string
}

// connect connects to the server as a user.
func connect(t *testing.T, as *rest.Config) *connected {
	t.Helper()
	kubeconfig, err := server.KubeconfigOf(as)
	if err != nil {
		t.Fatal(err)
	}
	creds, err := target.NewResolver(secret(kubeconfig), target.Policy{}).Resolve(t.Context(), "ns", v1alpha1.ProviderConfigSpec{
		Credentials: v1alpha1.Credentials{
			Source:              v1alpha1.CredentialsSourceSecret,
			CredentialSelectors: v1alpha1.CredentialSelectors{SecretRef: &v1alpha1.SecretKeySelector{Name: "s", Key: "kubeconfig"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	loopback, err := netguard.ParseRanges([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	guard := netguard.New(netguard.Options{Allow: loopback})
	c := &connected{}
	pool := target.NewPool(manifest.Interpreter(), target.WithGuard(guard), target.WithOnRequest(c.request), target.WithOnChange(c.change))
	t.Cleanup(pool.Close)
	if c.Cluster, err = pool.Get("ns/test", creds); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *connected) request(verb string, code int, _ bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, fmt.Sprint(verb, " ", code))
}

func (c *connected) change(_, set string, key cluster.ObjectRef, old, now *cluster.ObjectState) {
	verb := "changed"
	if old == nil {
		verb = "new"
	}
	if now == nil {
		verb = "gone"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news = append(c.news, fmt.Sprintf("%s: %s %s", set, verb, key))
}

// asked returns the requests since its last call.
func (c *connected) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.requests
	c.requests = nil
	return r
}

// heard waits for a change.
func (c *connected) heard(t *testing.T, line string) {
	t.Helper()
	eventually(t, line, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Contains(c.news, line)
	})
}

// silent fails if there were changes, and discards them.
func (c *connected) silent(t *testing.T, why string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.news) > 0 {
		t.Errorf("%s: got news %v", why, c.news)
	}
	c.news = nil
}

func (c *connected) forgetNews() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news = nil
}

// track tracks a kind, and waits until it has been listed.
func (c *connected) track(t *testing.T, gvk schema.GroupVersionKind) error {
	t.Helper()
	for {
		err := c.Cache().Track(t.Context(), []schema.GroupVersionKind{gvk})[gvk]
		e := (*cluster.ListingError)(nil)
		if !errors.As(err, &e) {
			return err
		}
		listed := make(chan struct{})
		e.Notify(func() { close(listed) })
		select {
		case <-listed:
		case <-time.After(20 * time.Second):
			return err
		}
	}
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// apply applies an object as our field manager, with the label of a set, and returns the response.
func apply(t *testing.T, manager, set, resource string, object map[string]any) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: object}
	if set != "" {
		u.SetLabels(map[string]string{manifest.LabelManagedBy: manifest.DefaultManagedBy, manifest.LabelPartOf: set})
	}
	got, err := of(u.GroupVersionKind().GroupVersion().WithResource(resource), u.GetNamespace()).Apply(t.Context(), u.GetName(), u,
		metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func of(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return admin.Resource(gvr)
	}
	return admin.Resource(gvr).Namespace(namespace)
}

func configMap(name, value string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "default", "name": name},
		"data":     map[string]any{"key": value},
	}
}

// patchConfigMap patches a ConfigMap as another client.
func patchConfigMap(t *testing.T, name, patch string) {
	t.Helper()
	_, err := of(configMaps, "default").Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "other-client"})
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, gvr schema.GroupVersionResource, namespace, name string) {
	t.Helper()
	if err := of(gvr, namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
