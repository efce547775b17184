// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// own is the name of a ProviderConfig that is trouble.
const own = "own"

var _ = Describe("Credentials that are trouble", Label("bad"), func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	DescribeTable("in a kubeconfig are named in one clear line", func(ctx SpecContext, kubeconfig func() []byte, says ...string) {
		s.config(ctx, own, kubeconfig())
		s.suffer(ctx, trouble{
			manifest: with(s.web(webChart().pushLayer(ctx)), own), says: says,
			cure: func(ctx SpecContext) { s.kubeconfig(ctx, env.target.Kubeconfig()) },
		})
	},
		Entry("unknown host", at("https://cluster.invalid"), "API server https://cluster.invalid", "host"),
		Entry("refused connection", at("https://127.0.0.1:1"), "API server https://127.0.0.1:1", "connection refused"),
		Entry("certificate of another authority", func() []byte {
			c := env.target.Config()
			c.CAData = env.control.Config().CAData
			return kubeconfigOf(env.target, c)
		}, "signed by an unknown authority", "certificate-authority-data"),
		Entry("no TLS", func() []byte {
			web := httptest.NewServer(http.NotFoundHandler())
			DeferCleanup(web.Close)
			return at(strings.Replace(web.URL, "http:", "https:", 1))()
		}, "does not speak TLS"),
		Entry("unknown token, 401", func() []byte {
			return kubeconfigOf(env.target, &rest.Config{
				Host: env.target.URL(), BearerToken: password, TLSClientConfig: rest.TLSClientConfig{CAData: env.target.Config().CAData},
			})
		}, "refuses the credentials (401 Unauthorized)"),
		Entry("user without rights, 403", func() []byte {
			return kubeconfigOf(env.target, must(env.target.User("nobody-in-particular")))
		}, "403 Forbidden", "nobody-in-particular"),
		Entry("no such context", func() []byte {
			return []byte(strings.Replace(string(env.target.Kubeconfig()), "current-context: target", "current-context: elsewhere", 1))
		}, `kubeconfig has no context "elsewhere"`),
		Entry("exec", user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [/tmp/x], interactiveMode: Never}}"),
			`user "main" of the kubeconfig`, "exec is refused"),
		Entry("auth-provider", user("{auth-provider: {name: oidc}}"), `user "main" of the kubeconfig`, "auth-provider is refused"),
		Entry("path of a token", user("{tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token}"), "tokenFile is refused"),
		Entry("path of a certificate", user("{client-certificate: /etc/tls.crt, client-key: /etc/tls.key}"), "client-certificate is refused"),
		Entry("path of an authority", func() []byte {
			return handwritten("{server: "+env.target.URL()+", certificate-authority: /etc/ca.crt}", "{token: "+password+"}")
		}, `cluster "main" of the kubeconfig`, "certificate-authority is refused"),
		Entry("no YAML", func() []byte { return []byte("kind: Config\nusers: [{name: " + password) }, "kubeconfig cannot be read"),
	)

	DescribeTable("that are not there are named in one clear line", func(ctx SpecContext, cause func(ctx SpecContext, s *space) trouble) {
		s.suffer(ctx, cause(ctx, s))
	},
		Entry("missing ProviderConfig", missingConfig),
		Entry("missing Secret", missingSecret),
		Entry("missing key", missingKey),
		Entry("Secret of another namespace", foreignSecret),
		Entry("identity of the provider", lentIdentity),
	)
})

func missingConfig(ctx SpecContext, s *space) trouble {
	return trouble{
		manifest: with(s.web(webChart().pushLayer(ctx)), own),
		says:     []string{"ProviderConfig " + s.name + "/own does not exist"},
		cure:     func(ctx SpecContext) { s.config(ctx, own, env.target.Kubeconfig()) },
	}
}

func missingSecret(ctx SpecContext, s *space) trouble {
	s.config(ctx, own, []byte("soon gone"))
	s.secretGone(ctx, own)
	return trouble{
		manifest: with(s.web(webChart().pushLayer(ctx)), own),
		says:     []string{"ProviderConfig own: spec.credentials", "ecret", s.name, "own"},
		cure:     func(ctx SpecContext) { s.kubeconfig(ctx, env.target.Kubeconfig()) },
	}
}

func missingKey(ctx SpecContext, s *space) trouble {
	s.config(ctx, own, nil)
	s.secret(ctx, own, corev1.SecretTypeOpaque, map[string][]byte{"other": env.target.Kubeconfig()})
	return trouble{
		manifest: with(s.web(webChart().pushLayer(ctx)), own),
		says:     []string{"ProviderConfig own: spec.credentials", `secret "own" in namespace "` + s.name + `" has no key "` + kubeconfigKey + `"`},
		cure:     func(ctx SpecContext) { s.kubeconfig(ctx, env.target.Kubeconfig()) },
	}
}

func foreignSecret(ctx SpecContext, s *space) trouble {
	s.config(ctx, own, env.target.Kubeconfig(), func(spec *v1alpha1.ProviderConfigSpec) { spec.Credentials.SecretRef.Namespace = "default" })
	return trouble{
		manifest: with(s.web(webChart().pushLayer(ctx)), own),
		says:     []string{"ProviderConfig own: spec.credentials", "a ProviderConfig reads secrets of its own namespace"},
		cure: func(ctx SpecContext) {
			s.configure(ctx, own, func(spec *v1alpha1.ProviderConfigSpec) { spec.Credentials.SecretRef.Namespace = "" })
		},
	}
}

func lentIdentity(ctx SpecContext, s *space) trouble {
	s.config(ctx, own, env.target.Kubeconfig(), func(spec *v1alpha1.ProviderConfigSpec) {
		spec.Credentials.Source = v1alpha1.CredentialsSourceInjectedIdentity
	})
	return trouble{
		manifest: with(s.web(webChart().pushLayer(ctx)), own),
		says:     []string{"ProviderConfig own: spec.credentials", "source InjectedIdentity would lend the rights of the provider to namespace"},
		cure: func(ctx SpecContext) {
			s.configure(ctx, own, func(spec *v1alpha1.ProviderConfigSpec) {
				spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
			})
		},
	}
}

// kubeconfig replaces that of the ProviderConfig that is trouble.
func (s *space) kubeconfig(ctx context.Context, data []byte) {
	GinkgoHelper()
	s.secret(ctx, own, corev1.SecretTypeOpaque, map[string][]byte{kubeconfigKey: data})
}

// at another address than that of the target.
func at(server string) func() []byte {
	return func() []byte { return handwritten("{server: "+server+"}", "{token: "+password+"}") }
}

// user in another form than the target knows.
func user(fields string) func() []byte {
	return func() []byte {
		ca := base64.StdEncoding.EncodeToString(env.target.Config().CAData)
		return handwritten(fmt.Sprintf("{server: %q, certificate-authority-data: %s}", env.target.URL(), ca), fields)
	}
}
