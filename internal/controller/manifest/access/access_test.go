// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// requests are the requests that a server received, each with its user.
type requests struct {
	mu  sync.Mutex
	all []string
}

func (r *requests) add(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, s)
}

func (r *requests) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// serve starts an API server with one Secret, and returns a connection to it and the requests that it receives. The path of the
// server has a prefix, which can be empty.
func serve(t *testing.T, as, prefix string) (cluster.Cluster, *requests) {
	t.Helper()
	got := &requests{}
	secret := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "n", "name": "s"}, "data": {"password": %q}}`,
		base64.StdEncoding.EncodeToString([]byte("hunter2-is-a-secret")))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.add(strings.TrimSpace(r.URL.Path + " " + r.Header.Get("Impersonate-User")))
		w.Header().Set("Content-Type", "application/json")
		body := `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "n", "name": "c"}, "data": {"a": "not-a-secret"}}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/secrets"):
			body = `{"apiVersion": "v1", "kind": "SecretList", "metadata": {}, "items": [` + secret + `]}`
		case strings.Contains(r.URL.Path, "/secrets/"):
			body = secret
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	c, err := connection.New(&rest.Config{Host: s.URL + prefix, Impersonate: rest.ImpersonationConfig{UserName: as}}, manifest.Interpreter(), connection.Options{
		Builtin: mapper.Builtin(), Transport: transport.Options{Dialer: netguard.New(netguard.Options{}).Dialer(netguard.Platform)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, got
}

// The engine confirms the cluster before each write through all clusters with restrictions.
var (
	_ cluster.Identified = &restricted{}
	_ cluster.Identified = &owned{}
)

func TestUsers(t *testing.T) {
	const user = "system:serviceaccount:apps:installer"
	c, got := serve(t, "", "")
	as, err := New(c, Options{User: user, Lookup: v1alpha1.LookupAllowed, Secrets: &redact.Values{}})
	if err != nil {
		t.Fatal(err)
	}
	owner := as.(cluster.Delegate).Owner()
	ctx := context.Background()
	for _, r := range []rest.Interface{as.REST(), owner.REST(), c.REST()} {
		if err := r.Get().AbsPath("/api/v1/namespaces/n/configmaps/c").Do(ctx).Error(); err != nil {
			t.Error(err)
		}
	}
	lookup(t, as, "configmaps", "c")
	const path = "/api/v1/namespaces/n/configmaps/c"
	if diff := cmp.Diff([]string{path + " " + user, path, path, path + " " + user}, got.list()); diff != "" {
		t.Errorf("requests of objects, of the inventory, of the connection and of a lookup: -want, +got:\n%s", diff)
	}
	if as.Cache() != c.Cache() || as.Identity() != c.Identity() {
		t.Error("another user must not have watches of its own")
	}
	plain, err := New(c, Options{})
	if _, delegates := plain.(cluster.Delegate); delegates || err != nil {
		t.Errorf("without a user, requests are those of the connection: %v", err)
	}
}

// TestTwoUsers checks that a ServiceAccount cannot replace the user that a kubeconfig impersonates, because that could grant
// more permissions.
func TestTwoUsers(t *testing.T) {
	c, _ := serve(t, "limited", "")
	if _, err := New(c, Options{User: "system:serviceaccount:apps:installer"}); err == nil || !strings.Contains(err.Error(), `the kubeconfig already impersonates "limited"`) {
		t.Errorf("New(...): want an error that names the user of the kubeconfig, got %v", err)
	}
	if _, err := New(c, Options{}); err != nil {
		t.Error(err)
	}
}

// lookup reads an object as the function lookup does, and returns the error as text.
func lookup(t *testing.T, c cluster.Cluster, resource, name string) string {
	t.Helper()
	d, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	r := d.Resource(schema.GroupVersionResource{Version: "v1", Resource: resource}).Namespace("n")
	if name == "" {
		_, err = r.List(t.Context(), metav1.ListOptions{})
	} else {
		_, err = r.Get(t.Context(), name, metav1.GetOptions{})
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestLookups(t *testing.T) {
	const noSecrets = "the template function lookup must not read Secrets: spec.lookup of ClusterProviderConfig c is NoSecrets, which is the default for credentials of the provider"
	const denied = "the template function lookup is not allowed: spec.lookup of ClusterProviderConfig c is Denied"
	type want struct {
		Err      string
		Requests int
		// Text is the expected text of a message about the Secret and the ConfigMap.
		Text string
	}
	const text = "hunter2-is-a-secret aHVudGVyMi1pcy1hLXNlY3JldA== not-a-secret"
	const proxy = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy"
	cases := map[string]struct {
		reason         string
		policy         v1alpha1.LookupPolicy
		prefix         string
		resource, name string
		want           want
	}{
		"Secret":           {reason: "What is read of a Secret is kept out of messages.", policy: v1alpha1.LookupAllowed, resource: "secrets", name: "s", want: want{Requests: 1, Text: "(hidden) (hidden) not-a-secret"}},
		"Secrets":          {reason: "Secret data is also kept out of messages in a list.", policy: v1alpha1.LookupAllowed, resource: "secrets", want: want{Requests: 1, Text: "(hidden) (hidden) not-a-secret"}},
		"ConfigMap":        {reason: "Other objects are not secret.", policy: v1alpha1.LookupAllowed, resource: "configmaps", name: "c", want: want{Requests: 1, Text: text}},
		"NoSecrets":        {reason: "Secrets can be closed.", policy: v1alpha1.LookupNoSecrets, resource: "secrets", name: "s", want: want{Err: noSecrets, Text: text}},
		"NoSecretsList":    {reason: "Secrets cannot be listed.", policy: v1alpha1.LookupNoSecrets, resource: "secrets", want: want{Err: noSecrets, Text: text}},
		"NoSecretsAllowed": {reason: "Other objects stay open.", policy: v1alpha1.LookupNoSecrets, resource: "configmaps", name: "c", want: want{Requests: 1, Text: text}},
		"Proxied":          {reason: "A Secret that is read through a proxy is redacted too.", policy: v1alpha1.LookupAllowed, prefix: proxy, resource: "secrets", name: "s", want: want{Requests: 1, Text: "(hidden) (hidden) not-a-secret"}},
		"ProxiedNoSecrets": {reason: "The path of a proxy does not open Secrets.", policy: v1alpha1.LookupNoSecrets, prefix: proxy + "/", resource: "secrets", want: want{Err: noSecrets, Text: text}},
		"Denied":           {reason: "All lookups can be closed.", policy: v1alpha1.LookupDenied, resource: "configmaps", name: "c", want: want{Err: denied, Text: text}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, sent := serve(t, "", tc.prefix)
			secrets := &redact.Values{}
			as, err := New(c, Options{Lookup: tc.policy, Origin: "ClusterProviderConfig c", Secrets: secrets})
			if err != nil {
				t.Fatal(err)
			}
			got := want{Err: lookup(t, as, tc.resource, tc.name), Requests: len(sent.list()), Text: redact.NewGrowing(secrets).Text(text)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	const (
		karmada = "/apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy"
		service = "/api/v1/namespaces/n/services/https:s:443/proxy"
		space   = "/apis/spaces.upbound.io/v1beta1/namespaces/g/controlplanes/c/k8s"
	)
	cases := map[string]struct {
		reason          string
		server          string
		path            string
		object, secrets bool
	}{
		"Version":            {reason: "Discovery reads no objects.", path: "/api/v1"},
		"Group":              {reason: "Discovery of an API group reads no objects.", path: "/apis/apps/v1"},
		"Secret":             {reason: "A request for a Secret reads a Secret.", path: "/api/v1/namespaces/n/secrets/s", object: true, secrets: true},
		"All":                {reason: "A list of all Secrets reads Secrets.", path: "/api/v1/secrets", object: true, secrets: true},
		"Prefix":             {reason: "The path may have a prefix, such as that of a proxy.", server: "/k8s/clusters/c", path: "/k8s/clusters/c/api/v1/namespaces/n/secrets/s", object: true, secrets: true},
		"NamedSo":            {reason: "An object with that name is not a Secret.", path: "/api/v1/namespaces/n/configmaps/secrets", object: true},
		"NamespaceNamedSo":   {reason: "A namespace with that name is not a Secret.", path: "/api/v1/namespaces/secrets", object: true},
		"InNamespaceNamedSo": {reason: "An object in a namespace with that name is not a Secret.", path: "/api/v1/namespaces/secrets/configmaps/c", object: true},
		"OtherGroup":         {reason: "A kind of another group with that name may be one.", path: "/apis/example.org/v1/namespaces/n/secrets/s", object: true, secrets: true},
		"Karmada":            {reason: "The prefix can be a path of a Kubernetes API.", server: karmada, path: karmada + "/api/v1/namespaces/n/secrets/s", object: true, secrets: true},
		"Service":            {reason: "Secrets are found after a prefix that is a path of the core group.", server: service, path: service + "/api/v1/namespaces/n/secrets", object: true, secrets: true},
		"Space":              {reason: "Secrets are found after a prefix with a slash at the end.", server: space + "/", path: space + "/api/v1/secrets", object: true, secrets: true},
		"PrefixNamedSo":      {reason: "The names in the prefix do not count.", server: "/a/secrets", path: "/a/secrets/api/v1/namespaces/n/configmaps/secrets", object: true},
		"PrefixedVersion":    {reason: "Discovery behind a prefix reads no objects.", server: karmada, path: karmada + "/apis/apps/v1"},
		"NoPrefix":           {reason: "A path without the prefix, for example after a redirect, can be anything.", server: karmada, path: "/api/v1/namespaces/secrets", object: true, secrets: true},
		"Unknown":            {reason: "A path outside the API can be anything.", path: "/k8s/api/v1/namespaces/n/secrets/s", object: true, secrets: true},
		"Deployments":        {reason: "A request for another built-in kind reads no Secret.", path: "/apis/apps/v1/namespaces/n/deployments", object: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := &gate{prefix: prefixOf(&rest.Config{Host: "https://h" + tc.server})}
			if diff := cmp.Diff([]bool{tc.object, tc.secrets}, []bool{g.isObject(tc.path), g.isSecrets(tc.path)}); diff != "" {
				t.Errorf("\n%s\n%s: -want, +got:\n%s", tc.reason, tc.path, diff)
			}
		})
	}
}

func TestSessions(t *testing.T) {
	s, name := &Sessions{}, types.NamespacedName{Namespace: "n", Name: "m"}
	s.Of(name).SetUser("u")
	if got := s.Of(name).User(); got != "u" {
		t.Errorf("the user of the last pass: %q", got)
	}
	s.Forget(name)
	if got := s.Of(name).User(); got != "" {
		t.Errorf("after Forget: %q", got)
	}
	var none *Sessions
	none.Of(name).SetUser("u")
	none.Forget(name)
}
