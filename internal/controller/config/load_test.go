// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// secretMap contains Secrets by namespace/name.
type secretMap map[string]corev1.Secret

func (m secretMap) Get(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	_, data, err := m.GetTyped(ctx, namespace, name)
	return data, err
}

func (m secretMap) GetTyped(_ context.Context, namespace, name string) (corev1.SecretType, map[string][]byte, error) {
	s, ok := m[namespace+"/"+name]
	if !ok {
		return "", nil, errors.Errorf("Secret %s/%s does not exist", namespace, name)
	}
	return s.Type, s.Data, nil
}

func local(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).Build()
}

func TestLoad(t *testing.T) {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "c"}}
	cpc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	type want struct {
		config *Config
		err    string
	}
	cases := map[string]struct {
		reason string
		ref    *xpv2.ProviderConfigReference
		want   want
	}{
		"Namespaced": {
			reason: "A ProviderConfig is read from the namespace of the resource, and is limited to it.",
			ref:    &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "c"},
			want:   want{config: &Config{Kind: "ProviderConfig", Name: "c", Namespace: "team-a"}},
		},
		"Cluster": {
			reason: "A ClusterProviderConfig has no namespace.",
			ref:    &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "c"},
			want:   want{config: &Config{Kind: "ClusterProviderConfig", Name: "c"}},
		},
		"Missing": {
			reason: "The error names a missing config.",
			ref:    &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "d"},
			want:   want{err: "ProviderConfig team-a/d does not exist"},
		},
		"OtherKind": {
			reason: "The error lists the two kinds of config.",
			ref:    &xpv2.ProviderConfigReference{Kind: "Secret", Name: "c"},
			want:   want{err: `spec.providerConfigRef.kind: invalid value "Secret": must be ProviderConfig or ClusterProviderConfig`},
		},
		"NoReference": {
			reason: "A reference to a config is required.",
			want:   want{err: "spec.providerConfigRef is missing"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := Load(t.Context(), local(t, pc, cpc), "team-a", tc.ref)
			got := want{config: c}
			if err != nil {
				got.err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nLoad(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// cloudIdentity is an identity whose name contains what was requested.
type cloudIdentity string

func (i cloudIdentity) Name() string { return string(i) }

func (i cloudIdentity) Forget(string) {}

func (i cloudIdentity) Credentials(context.Context, string) (user, password string, err error) {
	return "", "", nil
}

func TestRegistries(t *testing.T) {
	secrets := secretMap{
		"team-a/docker": {Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("{}")}},
		"team-a/basic":  {Type: corev1.SecretTypeBasicAuth, Data: map[string][]byte{"username": []byte("u"), "password": []byte("p")}},
		"team-a/opaque": {Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"ca.crt": []byte("pem")}},
	}
	ref := func(ns, name string) *v1alpha1.SecretReference {
		return &v1alpha1.SecretReference{Namespace: ns, Name: name}
	}
	key := func(name, key string) *v1alpha1.SecretKeySelector {
		return &v1alpha1.SecretKeySelector{Name: name, Key: key}
	}
	type want struct {
		regs oci.Registries
		err  string
	}
	cases := map[string]struct {
		reason string
		config Config
		clouds Access
		regs   []v1alpha1.Registry
		want   want
	}{
		"AnyHost": {
			reason: "A wildcard is rejected, because it would allow all hosts.",
			config: Config{Namespace: "team-a"},
			regs:   []v1alpha1.Registry{{Host: "*", PullSecretRef: ref("", "docker")}},
			want:   want{err: `spec.registries["*"].host must be a single host name`},
		},
		"All": {
			reason: "Each kind of credential is read into its field.",
			config: Config{Namespace: "team-a"},
			clouds: Access{PlainHTTP: []string{"c"}},
			regs: []v1alpha1.Registry{
				{Host: "a", PullSecretRef: ref("", "docker")},
				{Host: "b", PullSecretRef: ref("team-a", "basic"), CABundleSecretRef: key("opaque", "ca.crt")},
				{Host: "c", PlainHTTP: true},
			},
			want: want{regs: oci.Registries{
				{Host: "a", Tenant: true, DockerConfig: []byte("{}")},
				{Host: "b", Tenant: true, Username: "u", Password: "p", CABundle: []byte("pem")},
				{Host: "c", Tenant: true, PlainHTTP: true},
			}},
		},
		"PlainHTTP": {
			reason: "A tenant could send requests to any HTTP server.",
			config: Config{Namespace: "team-a"},
			clouds: Access{PlainHTTP: []string{"a.example.org", "b:81"}},
			regs:   []v1alpha1.Registry{{Host: "b:80", PlainHTTP: true}},
			want:   want{err: `spec.registries["b:80"].plainHTTP is not allowed in a ProviderConfig`},
		},
		"PlainHTTPAllowed": {
			reason: "A flag allows the host, with or without its port.",
			config: Config{Namespace: "team-a"},
			clouds: Access{PlainHTTP: []string{"a.example.org", "B:81", "::1"}},
			regs:   []v1alpha1.Registry{{Host: "A.example.org:5000", PlainHTTP: true}, {Host: "b:81", PlainHTTP: true}, {Host: "[::1]:5000", PlainHTTP: true}},
			want: want{regs: oci.Registries{
				{Host: "A.example.org:5000", PlainHTTP: true, Tenant: true}, {Host: "b:81", PlainHTTP: true, Tenant: true},
				{Host: "[::1]:5000", PlainHTTP: true, Tenant: true},
			}},
		},
		"PlainHTTPOfCluster": {
			reason: "A ClusterProviderConfig belongs to the administrators.",
			regs:   []v1alpha1.Registry{{Host: "a", PlainHTTP: true}},
			want:   want{regs: oci.Registries{{Host: "a", PlainHTTP: true}}},
		},
		"OtherNamespace": {
			reason: "A tenant must not read the Secrets of another.",
			config: Config{Namespace: "team-b"},
			regs:   []v1alpha1.Registry{{Host: "a", PullSecretRef: ref("team-a", "docker")}},
			want:   want{err: `spec.registries["a"].pullSecretRef: namespace: invalid value "team-a": a ProviderConfig can only refer`},
		},
		"ClusterWithoutNamespace": {
			reason: "A ClusterProviderConfig has no namespace of its own.",
			regs:   []v1alpha1.Registry{{Host: "a", PullSecretRef: ref("", "docker")}},
			want:   want{err: "namespace is required in a ClusterProviderConfig"},
		},
		"WrongType": {
			reason: "A Secret of another type is rejected, because it would be used without any credentials.",
			config: Config{Namespace: "team-a"},
			regs:   []v1alpha1.Registry{{Host: "a", PullSecretRef: ref("", "opaque")}},
			want:   want{err: `Secret team-a/opaque has type "Opaque", but must have type kubernetes.io/dockerconfigjson or kubernetes.io/basic-auth`},
		},
		"MissingKey": {
			reason: "The error names a missing key.",
			config: Config{Namespace: "team-a"},
			regs:   []v1alpha1.Registry{{Host: "a", CABundleSecretRef: key("opaque", "tls.crt")}},
			want:   want{err: `spec.registries["a"].caBundleSecretRef: Secret team-a/opaque has no key "tls.crt"`},
		},
		"NoneOfTenant": {
			reason: "A tenant must not borrow the docker configuration of the provider.",
			config: Config{Namespace: "team-a"},
			want:   want{regs: oci.Registries{{Host: "*", Tenant: true}}},
		},
		"NoneOfAllowedTenant": {
			reason: "A flag allows tenants to use the docker configuration of the provider.",
			config: Config{Namespace: "team-a"},
			clouds: Access{AllowTenants: true},
			want:   want{regs: oci.Registries{{Host: "*", Tenant: true, Ambient: true}}},
		},
		"NoneOfCluster": {
			reason: "A ClusterProviderConfig belongs to the administrators.",
			want:   want{regs: oci.Registries{}},
		},
		"Cloud": {
			reason: "A ClusterProviderConfig belongs to the administrators.",
			regs:   []v1alpha1.Registry{{Host: "a", Provider: "aws"}},
			want:   want{regs: oci.Registries{{Host: "a", Identity: cloudIdentity("aws a")}}},
		},
		"CloudOfTenant": {
			reason: "A tenant must not borrow the identity of the provider.",
			config: Config{Namespace: "team-a"},
			regs:   []v1alpha1.Registry{{Host: "a", Provider: "aws"}},
			want:   want{err: `spec.registries["a"].provider: aws would give namespace "team-a" access to the identity of the provider`},
		},
		"CloudOfAllowedTenant": {
			reason: "A flag allows tenants to use the identity of the provider.",
			config: Config{Namespace: "team-a"},
			clouds: Access{AllowTenants: true},
			regs:   []v1alpha1.Registry{{Host: "a", Provider: "gcp"}},
			want:   want{regs: oci.Registries{{Host: "a", Tenant: true, Identity: cloudIdentity("gcp a")}}},
		},
		"CloudOfOtherHost": {
			reason: "The credentials of a cloud provider are only for its own registries.",
			regs:   []v1alpha1.Registry{{Host: "elsewhere", Provider: "aws"}},
			want:   want{err: `spec.registries["elsewhere"].provider: no such registry`},
		},
		"CloudAndSecret": {
			reason: "A provider and a pull Secret exclude each other, because one of them would be ignored.",
			config: Config{Namespace: "team-a"},
			clouds: Access{AllowTenants: true},
			regs:   []v1alpha1.Registry{{Host: "a", Provider: "aws", PullSecretRef: ref("", "docker")}},
			want:   want{err: "must not be combined with pullSecretRef or plainHTTP"},
		},
		"CloudInPlainText": {
			reason: "A provider requires TLS, because anyone on the network could read the credentials.",
			regs:   []v1alpha1.Registry{{Host: "a", Provider: "aws", PlainHTTP: true}},
			want:   want{err: "must not be combined with pullSecretRef or plainHTTP"},
		},
		"MissingSecret": {
			reason: "The error names a missing Secret.",
			config: Config{Namespace: "team-a"},
			regs:   []v1alpha1.Registry{{Host: "a", PullSecretRef: ref("", "none")}},
			want:   want{err: "Secret team-a/none does not exist"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.config.Spec.Registries = tc.regs
			tc.clouds.Get = func(provider, host string) (oci.Identity, error) {
				if host == "elsewhere" {
					return nil, errors.New("no such registry")
				}
				return cloudIdentity(provider + " " + host), nil
			}
			regs, err := tc.config.Registries(t.Context(), secrets, tc.clouds)
			if tc.want.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want.err) {
					t.Errorf("\n%s\nRegistries(...): want error %q, got %v", tc.reason, tc.want.err, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, want{regs: regs}, cmp.AllowUnexported(want{})); diff != "" || err != nil {
				t.Errorf("\n%s\nRegistries(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestSecretsOf fills each field of a spec, so that it detects new references to Secrets that are not indexed.
func TestSecretsOf(t *testing.T) {
	s := &v1alpha1.ProviderConfigSpec{}
	want := nameSecrets(reflect.ValueOf(s).Elem(), nil)
	got := append(credentialsOf(s, "own"), secretsOf(s, "own")...)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 5 {
		t.Errorf("each Secret must wake the users of the config: -want, +got:\n%s", diff)
	}
}

// nameSecrets fills a value, with one item in each list and a different name in each reference to a Secret. It appends the
// references to the ones found so far. Every second reference has a namespace.
func nameSecrets(v reflect.Value, found []string) []string {
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return nameSecrets(v.Elem(), found)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return nameSecrets(v.Index(0), found)
	case v.Type() == reflect.TypeFor[v1alpha1.SecretReference](), v.Type() == reflect.TypeFor[v1alpha1.SecretKeySelector]():
		namespace, name := "own", fmt.Sprint("secret-", len(found))
		if len(found)%2 == 0 {
			namespace = "other"
			v.FieldByName("Namespace").SetString(namespace)
		}
		v.FieldByName("Name").SetString(name)
		return append(found, namespace+"/"+name)
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			found = nameSecrets(field, found)
		}
	}
	return found
}
