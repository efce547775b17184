// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const canary = "s3cr3t-canary"

// secrets contains the Secrets of the control plane, by namespace/name.
type secrets map[string]map[string][]byte

func (s secrets) Get(_ context.Context, namespace, name string) (map[string][]byte, error) {
	if namespace == "forbidden" {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, name, errors.New("no"))
	}
	data, ok := s[namespace+"/"+name]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	return data, nil
}

func fromSecret(namespace, name, key string) v1alpha1.Credentials {
	return v1alpha1.Credentials{
		Source: v1alpha1.CredentialsSourceSecret,
		CredentialSelectors: v1alpha1.CredentialSelectors{
			SecretRef: &v1alpha1.SecretKeySelector{Namespace: namespace, Name: name, Key: key},
		},
	}
}

func fromSource(s v1alpha1.CredentialsSource) v1alpha1.Credentials {
	return v1alpha1.Credentials{Source: s}
}

func fromEnv(name string) v1alpha1.Credentials {
	return v1alpha1.Credentials{
		Source:              v1alpha1.CredentialsSourceEnvironment,
		CredentialSelectors: v1alpha1.CredentialSelectors{Env: &xpv2.EnvSelector{Name: name}},
	}
}

func fromFile(path string) v1alpha1.Credentials {
	return v1alpha1.Credentials{
		Source:              v1alpha1.CredentialsSourceFilesystem,
		CredentialSelectors: v1alpha1.CredentialSelectors{Fs: &xpv2.FsSelector{Path: path}},
	}
}

func withIdentity(c v1alpha1.Credentials, kind v1alpha1.IdentityType, id v1alpha1.Credentials) v1alpha1.ProviderConfigSpec {
	return v1alpha1.ProviderConfigSpec{Credentials: c, Identity: &v1alpha1.Identity{Type: kind, Credentials: id}}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	file, large := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "large")
	for path, data := range map[string][]byte{file: []byte("from file"), large: make([]byte, 2<<20)} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := secrets{
		"team-a/cluster": {"config": []byte(canary), "empty": nil},
		"team-a/ids": {
			"sa":        []byte(`{"type":"service_account"}`),
			"sauri":     []byte(`{"type":"service_account","token_uri":"https://oauth2.googleapis.com/token"}`),
			"saother":   []byte(`{"type":"service_account","TOKEN_URI":"http://169.254.169.254/` + canary + `"}`),
			"userother": []byte(`{"type":"authorized_user","token_uri":"https://oauth2.googleapis.com.example.org/token"}`),
			"spother":   []byte(`{"clientId":"x","clientSecret":"x","authorityHost":"https://login.example.org/` + canary + `"}`),
			"spchina":   []byte(`{"clientId":"x","clientSecret":"x","authorityHost":"https://login.chinacloudapi.cn/"}`),
			"federated": []byte(`{"type":"external_account","credential_source":{"file":"/var/run/secrets/token"}}`),
			"sp":        []byte(`{"clientId":"x","clientSecret":"` + canary + `"}`),
			"spcert":    []byte(`{"clientId":"x","clientCertificate":"/etc/passwd"}`),
			"wi":        []byte(`{"clientId":"x","federatedTokenFile":"/var/run/secrets/token"}`),
			"text":      []byte(canary),
		},
	}
	ok := fromSecret("team-a", "cluster", "config")
	spec := func(c v1alpha1.Credentials) v1alpha1.ProviderConfigSpec {
		return v1alpha1.ProviderConfigSpec{Credentials: c}
	}
	id := func(kind v1alpha1.IdentityType, key string) v1alpha1.ProviderConfigSpec {
		return withIdentity(ok, kind, fromSecret("team-a", "ids", key))
	}
	const (
		google  = v1alpha1.IdentityTypeGoogleApplicationCredentials
		azure   = v1alpha1.IdentityTypeAzureServicePrincipalCredentials
		azurewi = v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials
		aws     = v1alpha1.IdentityTypeAWSWebIdentityCredentials
		upbound = v1alpha1.IdentityTypeUpboundTokens
		tenant  = "team-a"
	)
	injected := fromSource(v1alpha1.CredentialsSourceInjectedIdentity)

	cases := map[string]struct {
		reason    string
		namespace string
		spec      v1alpha1.ProviderConfigSpec
		policy    Policy
		want      string // Part of the error; empty if there is no error.
	}{
		"Secret":             {reason: "A ClusterProviderConfig names the namespace.", spec: spec(ok)},
		"TenantSecret":       {reason: "A ProviderConfig may leave its own namespace out.", namespace: tenant, spec: spec(fromSecret("", "cluster", "config"))},
		"TenantSecretNamed":  {reason: "A ProviderConfig may name its own namespace.", namespace: tenant, spec: spec(ok)},
		"OtherNamespace":     {reason: "Tenants must not read what others keep.", namespace: "team-b", spec: spec(ok), want: `spec.credentials: secretRef.namespace: invalid value "team-a": a ProviderConfig can only refer to Secrets in its own namespace "team-b"`},
		"OtherNamespaceEven": {reason: "The flag for the provider's own identity gives no access to Secrets of other namespaces.", namespace: "team-b", spec: spec(ok), policy: Policy{AllowTenantIdentity: true}, want: "own namespace"},
		"OtherNamespaceID":   {reason: "Tenants must not use Secrets of other namespaces for the identity.", namespace: "team-b", spec: withIdentity(fromSecret("", "x", "y"), google, fromSecret("team-a", "ids", "sa")), want: `spec.identity: secretRef.namespace`},
		"NoNamespace":        {reason: "A ClusterProviderConfig has no namespace of its own.", spec: spec(fromSecret("", "cluster", "config")), want: "spec.credentials: secretRef.namespace is required in a ClusterProviderConfig"},
		"NoSecret":           {reason: "If the Secret does not exist, the error names it and its namespace.", spec: spec(fromSecret("team-a", "gone", "config")), want: `spec.credentials: Secret "gone" does not exist in namespace "team-a"`},
		"NoKey":              {reason: "If the Secret does not have the key, the error names the key.", spec: spec(fromSecret("team-a", "cluster", "kubeconfig")), want: `spec.credentials: secret "cluster" in namespace "team-a" has no key "kubeconfig"`},
		"EmptyKey":           {reason: "An empty value is not a kubeconfig.", spec: spec(fromSecret("team-a", "cluster", "empty")), want: `key "empty" of secret "cluster" in namespace "team-a" is empty`},
		"ForbiddenSecret":    {reason: "The provider may have no permission to read the Secret.", spec: spec(fromSecret("forbidden", "s", "k")), want: `cannot read secret "s" in namespace "forbidden": secrets "s" is forbidden`},
		"NoRef":              {reason: "A missing secretRef is an error, although the CRD refuses it.", spec: spec(fromSource(v1alpha1.CredentialsSourceSecret)), want: "secretRef is required when source is Secret"},
		"None":               {reason: "The source None does not specify a cluster.", spec: spec(fromSource(v1alpha1.CredentialsSourceNone)), want: "source None does not specify a cluster"},
		"Unknown":            {reason: "An unknown source is an error, although the CRD refuses it.", spec: spec(fromSource("Vault")), want: `unknown source "Vault", or env or fs is not set`},
		"Injected":           {reason: "An administrator may use the provider's identity.", spec: spec(injected)},
		"Environment":        {reason: "An administrator may use environment variables of the provider.", spec: spec(fromEnv("KUBECONFIG_DATA"))},
		"EnvironmentEmpty":   {reason: "If an environment variable is empty, the error names it.", spec: spec(fromEnv("UNSET")), want: `environment variable "UNSET" of the provider is empty`},
		"File":               {reason: "An administrator may use files of the provider.", spec: spec(fromFile(file))},
		"FileMissing":        {reason: "If a file does not exist, the error says so.", spec: spec(fromFile(file + "x")), want: "no such file"},
		"FileLarge":          {reason: "A path may be that of a device.", spec: spec(fromFile(large)), want: "is larger than 1048576 bytes"},
		"TenantInjected":     {reason: "Tenants must not use the provider's identity.", namespace: tenant, spec: spec(injected), want: `spec.credentials: source InjectedIdentity would give namespace "team-a" the permissions of the provider`},
		"TenantEnvironment":  {reason: "Tenants must not use environment variables of the provider.", namespace: tenant, spec: spec(fromEnv("KUBECONFIG_DATA")), want: "source Environment would give namespace \"team-a\" the permissions of the provider"},
		"TenantFile":         {reason: "Tenants must not use files of the provider.", namespace: tenant, spec: spec(fromFile(file)), want: "source Filesystem would give namespace \"team-a\" the permissions of the provider"},
		"TenantAllowed":      {reason: "Tenants may use the provider's identity if a flag allows it.", namespace: tenant, spec: spec(injected), policy: Policy{AllowTenantIdentity: true}},
		"TenantInjectedID":   {reason: "Tenants must not use the provider's identity to authenticate.", namespace: tenant, spec: withIdentity(ok, aws, injected), want: "spec.identity: source InjectedIdentity would give namespace \"team-a\" the permissions of the provider"},
		"TenantFileID":       {reason: "Tenants must not use files of the provider to authenticate.", namespace: tenant, spec: withIdentity(ok, google, fromFile(file)), want: "spec.identity: source Filesystem would give namespace \"team-a\" the permissions of the provider"},

		"Google":            {reason: "A key in a secret is the tenant's own.", namespace: tenant, spec: id(google, "sa")},
		"GoogleInjected":    {reason: "An administrator may use the provider's.", spec: withIdentity(ok, google, injected)},
		"GoogleToken":       {reason: "An access token is not JSON.", namespace: tenant, spec: id(google, "text")},
		"GoogleURI":         {reason: "Keys name Google's server.", namespace: tenant, spec: id(google, "sauri")},
		"GoogleOther":       {reason: "Another server would get the key, and answer with what it likes.", namespace: tenant, spec: id(google, "saother"), want: "spec.identity: token_uri of the Google credentials must be https://oauth2.googleapis.com/token"},
		"GoogleOtherFlag":   {reason: "The flag is about files.", spec: id(google, "saother"), policy: Policy{AllowFiles: true}, want: "token_uri of the Google credentials"},
		"GoogleOtherUser":   {reason: "A similar name is another server.", namespace: tenant, spec: id(google, "userother"), want: "token_uri of the Google credentials"},
		"AzureOther":        {reason: "Another server would get the secret.", namespace: tenant, spec: id(azure, "spother"), want: "spec.identity: authorityHost is not a known host of Microsoft Entra ID"},
		"AzureChina":        {reason: "Azure has several clouds.", namespace: tenant, spec: id(azure, "spchina")},
		"GoogleFederated":   {reason: "Federated credentials would send the provider's token to any server.", spec: id(google, "federated"), want: "spec.identity: Google credentials must be of type service_account or authorized_user"},
		"GoogleAllowed":     {reason: "Federated credentials are allowed if a flag allows them.", spec: id(google, "federated"), policy: Policy{AllowFiles: true}},
		"Azure":             {reason: "A secret of a service principal is the tenant's own.", namespace: tenant, spec: id(azure, "sp")},
		"AzureNoJSON":       {reason: "The value is not shown.", spec: id(azure, "text"), want: "spec.identity: the credentials must be a JSON object with string values"},
		"AzureCert":         {reason: "The certificate is a file of the provider.", spec: id(azure, "spcert"), want: "spec.identity: clientCertificate is not allowed, because it refers to a file of the provider"},
		"AzureInjected":     {reason: "As in provider-kubernetes, Azure does not support InjectedIdentity.", spec: withIdentity(ok, azure, injected), want: "does not support source InjectedIdentity"},
		"AzureWorkload":     {reason: "The token is a file of the provider.", spec: id(azurewi, "wi"), want: "spec.identity: federatedTokenFile is not allowed, because it refers to a file of the provider"},
		"AzureWorkloadFlag": {reason: "A token file of the provider is allowed if a flag allows it.", spec: id(azurewi, "wi"), policy: Policy{AllowFiles: true}},
		"AzureWorkloadOf":   {reason: "A tenant needs both flags.", namespace: tenant, spec: id(azurewi, "wi"), policy: Policy{AllowFiles: true}, want: "type AzureWorkloadIdentityCredentials would give a namespace access to the identity of the provider"},
		"AWS":               {reason: "AWS uses the role of the provider.", spec: withIdentity(ok, aws, injected)},
		"AWSSecret":         {reason: "As in provider-kubernetes, AWS only supports InjectedIdentity.", spec: id(aws, "text"), want: "only supports source InjectedIdentity"},
		"Upbound":           {reason: "A token is the tenant's own.", namespace: tenant, spec: id(upbound, "text")},
		"UpboundInjected":   {reason: "As in provider-kubernetes, Upbound does not support InjectedIdentity.", spec: withIdentity(ok, upbound, injected), want: "does not support source InjectedIdentity"},
		"UnknownIdentity":   {reason: "The CRD refuses it; a client of the library may not.", spec: id("Other", "text"), want: `unknown type "Other"`},
		"NoneIdentity":      {reason: "The source None provides no identity.", spec: withIdentity(ok, google, fromSource(v1alpha1.CredentialsSourceNone)), want: "spec.identity: source None provides no credentials; use another source"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := NewResolver(store, tc.policy)
			r.getenv = func(n string) string { return map[string]string{"KUBECONFIG_DATA": "from env"}[n] }
			c, err := r.Resolve(t.Context(), tc.namespace, tc.spec)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nResolve(...): want error %q, got %v", tc.reason, tc.want, err)
			}
			if err != nil && strings.Contains(err.Error(), canary) {
				t.Errorf("%s\nResolve(...): the error shows a credential: %v", tc.reason, err)
			}
			if (err == nil) != (len(c.Digest) == 64) {
				t.Errorf("%s\nResolve(...): digest %q", tc.reason, c.Digest)
			}
			if s := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(s, canary) {
				t.Errorf("%s\ncredentials print themselves: %s", tc.reason, s)
			}
		})
	}
}

func TestDigest(t *testing.T) {
	different := map[string]Credentials{
		"injected":         {injected: true},
		"a":                {kubeconfig: []byte("a")},
		"ab":               {kubeconfig: []byte("ab")},
		"the word":         {kubeconfig: []byte("injected")},
		"a, identity":      {kubeconfig: []byte("a"), identity: &identity{kind: "x", data: []byte("b")}},
		"a, injected":      {kubeconfig: []byte("a"), identity: &identity{kind: "x", injected: true}},
		"a, platform":      {kubeconfig: []byte("a"), platform: true},
		"a, other type":    {kubeconfig: []byte("a"), identity: &identity{kind: "xb"}},
		"a, split another": {kubeconfig: []byte("ax"), identity: &identity{kind: "", data: []byte("b")}},
	}
	seen := map[string]string{}
	for name, c := range different {
		d := digest(c)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		if d != digest(c) {
			t.Errorf("%s has two digests", name)
		}
		seen[d] = name
	}
}

// failing is a control plane that returns an error for every request for a Secret.
type failing struct{ err error }

func (f failing) Get(context.Context, string, string) (map[string][]byte, error) { return nil, f.err }

func TestReadError(t *testing.T) {
	secret := schema.GroupResource{Resource: "secrets"}
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Timeout":   {reason: "A control plane that is slow will answer later.", err: apierrors.NewTimeoutError("slow", 1), want: true},
		"Forbidden": {reason: "A permission that is missing stays missing.", err: apierrors.NewForbidden(secret, "s", nil)},
		"NotFound":  {reason: "A Secret that is missing stays missing.", err: apierrors.NewNotFound(secret, "s")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := v1alpha1.ProviderConfigSpec{Credentials: fromSecret("n", "s", "k")}
			_, err := NewResolver(failing{err: tc.err}, Policy{}).Resolve(t.Context(), "", spec)
			if read := (*ReadError)(nil); errors.As(err, &read) != tc.want {
				t.Errorf("\n%s\nResolve(...): want a ReadError %t, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
