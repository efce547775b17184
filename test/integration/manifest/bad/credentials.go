// SPDX-License-Identifier: Apache-2.0

package bad

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Invalid credentials", Label("bad"), func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	DescribeTable("in a kubeconfig are reported in one line", func(ctx SpecContext, kubeconfig func() []byte, says ...string) {
		s.Config(ctx, Own, kubeconfig())
		suffer(ctx, s, trouble{
			manifest: With(Web(s, WebChart().PushLayer(ctx)), Own), says: says,
			fix: func(ctx SpecContext) { s.PutKubeconfig(ctx, Env.Target.Kubeconfig()) },
		})
	},
		Entry("unknown host", At("https://cluster.invalid"), "API server https://cluster.invalid", "host"),
		Entry("refused connection", At("https://127.0.0.1:1"), "API server https://127.0.0.1:1", "connection refused"),
		Entry("certificate of an unknown CA", func() []byte {
			c := Env.Target.Config()
			c.CAData = Env.Control.Config().CAData
			return KubeconfigOf(Env.Target, c)
		}, "signed by an unknown authority", "certificate-authority-data"),
		Entry("server without TLS", func() []byte {
			web := httptest.NewServer(http.NotFoundHandler())
			DeferCleanup(web.Close)
			return At(strings.Replace(web.URL, "http:", "https:", 1))()
		}, "does not use TLS"),
		Entry("unknown token, 401", func() []byte {
			return KubeconfigOf(Env.Target, &rest.Config{
				Host: Env.Target.URL(), BearerToken: Password, TLSClientConfig: rest.TLSClientConfig{CAData: Env.Target.Config().CAData},
			})
		}, "rejects the credentials (401 Unauthorized)"),
		Entry("user without permissions, 403", func() []byte {
			return KubeconfigOf(Env.Target, Must(Env.Target.User("no-permissions")))
		}, "403 Forbidden", "no-permissions"),
		Entry("missing context", func() []byte {
			return []byte(strings.Replace(string(Env.Target.Kubeconfig()), "current-context: target", "current-context: elsewhere", 1))
		}, `kubeconfig has no context "elsewhere"`),
		Entry("exec", user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [/tmp/x], interactiveMode: Never}}"),
			`user "main" of the kubeconfig`, "exec is not allowed"),
		Entry("auth-provider", user("{auth-provider: {name: oidc}}"), `user "main" of the kubeconfig`, "auth-provider is not allowed"),
		Entry("path of a token file", user("{tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token}"), "tokenFile is not allowed"),
		Entry("path of a certificate", user("{client-certificate: /etc/tls.crt, client-key: /etc/tls.key}"), "client-certificate is not allowed"),
		Entry("path of a CA file", func() []byte {
			return Handwritten("{server: "+Env.Target.URL()+", certificate-authority: /etc/ca.crt}", "{token: "+Password+"}")
		}, `cluster "main" of the kubeconfig`, "certificate-authority is not allowed"),
		Entry("invalid YAML", func() []byte { return []byte("kind: Config\nusers: [{name: " + Password) }, "cannot read kubeconfig"),
	)

	DescribeTable("that are missing or not allowed are reported in one line", func(ctx SpecContext, cause func(ctx SpecContext, s *Space) trouble) {
		suffer(ctx, s, cause(ctx, s))
	},
		Entry("missing ProviderConfig", missingConfig),
		Entry("missing Secret", missingSecret),
		Entry("missing key", missingKey),
		Entry("Secret of another namespace", foreignSecret),
		Entry("identity of the provider", lentIdentity),
	)
})

func missingConfig(ctx SpecContext, s *Space) trouble {
	return trouble{
		manifest: With(Web(s, WebChart().PushLayer(ctx)), Own),
		says:     []string{"ProviderConfig " + s.Name + "/own does not exist"},
		fix:      func(ctx SpecContext) { s.Config(ctx, Own, Env.Target.Kubeconfig()) },
	}
}

func missingSecret(ctx SpecContext, s *Space) trouble {
	s.Config(ctx, Own, []byte("soon gone"))
	SecretGone(ctx, s, Own)
	return trouble{
		manifest: With(Web(s, WebChart().PushLayer(ctx)), Own),
		says:     []string{"ProviderConfig own: spec.credentials", "ecret", s.Name, "own"},
		fix:      func(ctx SpecContext) { s.PutKubeconfig(ctx, Env.Target.Kubeconfig()) },
	}
}

func missingKey(ctx SpecContext, s *Space) trouble {
	s.Config(ctx, Own, nil)
	s.Secret(ctx, Own, corev1.SecretTypeOpaque, map[string][]byte{"other": Env.Target.Kubeconfig()})
	return trouble{
		manifest: With(Web(s, WebChart().PushLayer(ctx)), Own),
		says:     []string{"ProviderConfig own: spec.credentials", `secret "own" in namespace "` + s.Name + `" has no key "` + KubeconfigKey + `"`},
		fix:      func(ctx SpecContext) { s.PutKubeconfig(ctx, Env.Target.Kubeconfig()) },
	}
}

func foreignSecret(ctx SpecContext, s *Space) trouble {
	s.Config(ctx, Own, Env.Target.Kubeconfig(), func(spec *v1alpha1.ProviderConfigSpec) { spec.Credentials.SecretRef.Namespace = "default" })
	return trouble{
		manifest: With(Web(s, WebChart().PushLayer(ctx)), Own),
		says:     []string{"ProviderConfig own: spec.credentials", "a ProviderConfig can only refer to Secrets in its own namespace"},
		fix: func(ctx SpecContext) {
			Configure(ctx, s, Own, func(spec *v1alpha1.ProviderConfigSpec) { spec.Credentials.SecretRef.Namespace = "" })
		},
	}
}

func lentIdentity(ctx SpecContext, s *Space) trouble {
	s.Config(ctx, Own, Env.Target.Kubeconfig(), func(spec *v1alpha1.ProviderConfigSpec) {
		spec.Credentials.Source = v1alpha1.CredentialsSourceInjectedIdentity
	})
	return trouble{
		manifest: With(Web(s, WebChart().PushLayer(ctx)), Own),
		says:     []string{"ProviderConfig own: spec.credentials", "source InjectedIdentity would give namespace"},
		fix: func(ctx SpecContext) {
			Configure(ctx, s, Own, func(spec *v1alpha1.ProviderConfigSpec) {
				spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
			})
		},
	}
}

// user returns a function that makes a kubeconfig for the target whose user has the given fields in YAML.
func user(fields string) func() []byte {
	return func() []byte {
		ca := base64.StdEncoding.EncodeToString(Env.Target.Config().CAData)
		return Handwritten(fmt.Sprintf("{server: %q, certificate-authority-data: %s}", Env.Target.URL(), ca), fields)
	}
}
