// SPDX-License-Identifier: Apache-2.0

package bad

import (
	"context"
	"net/http"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// private is the name of a ProviderConfig with a registry other than that of the suite.
const private = "private"

var _ = Describe("A registry that cannot be used", Label("bad"), func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	DescribeTable("is reported in one line", func(ctx SpecContext, cause func(ctx SpecContext, s *Space) trouble) {
		suffer(ctx, s, cause(ctx, s))
	},
		Entry("unknown host", unknownHost),
		Entry("refused connection", refusedConnection),
		Entry("certificate of an unknown CA", unknownAuthority),
		Entry("no credentials, 401", noCredentials),
		Entry("wrong password, 401", wrongPassword),
		Entry("access denied, 403", accessDenied),
		Entry("pull secret that does not exist", missingPullSecret),
		Entry("pull secret of another type", opaquePullSecret),
		Entry("cloud identity of the provider in a ProviderConfig", borrowedIdentity),
		Entry("CA bundle without the key", missingCABundle),
		Entry("list of registries that does not contain the host", notListed),
	)

	It("gets no request for a tag, because the API rejects tags", func(ctx SpecContext) {
		source := WebChart().PushLayer(ctx)
		source.Ref = "v1.0.0"
		Expect(Env.ControlClient.Create(ctx, Web(s, source))).To(MatchError(SatisfyAll(
			ContainSubstring("spec.forProvider.installs[0].source.ref"), ContainSubstring("tags are not allowed"))))
	})
})

func unknownHost(ctx SpecContext, s *Space) trouble {
	privateConfig(ctx, s)
	source := WebChart().PushLayer(ctx)
	source.Repo = "registry.invalid/component-descriptors"
	return trouble{
		manifest: With(Web(s, source), private), fix: fixSource(s, "web"),
		// On machines without DNS, the lookup itself fails.
		says: []string{"web: cannot pull chart", `host "registry.invalid"`, "cannot resolve"},
	}
}

func refusedConnection(ctx SpecContext, s *Space) trouble {
	r := Must(controlplane.StartRegistry(controlplane.WebOptions{}))
	r.Stop()
	privateConfig(ctx, s)
	source := WebChart().PushLayer(ctx)
	source.Repo = r.Host() + "/component-descriptors"
	return trouble{
		manifest: With(Web(s, source), private), fix: fixSource(s, "web"),
		says: []string{"web: cannot pull chart", `host "` + r.Host() + `" refused the connection`},
	}
}

func unknownAuthority(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{TLS: true})
	source := pushTo(ctx, r)
	privateConfig(ctx, s, v1alpha1.Registry{Host: r.Host()})
	return trouble{
		manifest: With(Web(s, source), private),
		says:     []string{"web: cannot pull chart", r.Host(), "signed by an unknown authority", "set caBundleSecretRef"},
		fix: func(ctx SpecContext) {
			s.Secret(ctx, "ca", corev1.SecretTypeOpaque, map[string][]byte{"ca.crt": r.CA()})
			Configure(ctx, s, private, func(spec *v1alpha1.ProviderConfigSpec) {
				spec.Registries[0].CABundleSecretRef = &v1alpha1.SecretKeySelector{Name: "ca", Key: "ca.crt"}
			})
		},
	}
}

func noCredentials(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{Username: "puller", Password: Password})
	source := pushTo(ctx, r)
	privateConfig(ctx, s, v1alpha1.Registry{Host: r.Host(), PlainHTTP: true})
	return trouble{
		manifest: With(Web(s, source), private),
		says:     []string{"web: cannot pull chart", r.Host(), "401 Unauthorized", "check pullSecretRef"},
		fix: func(ctx SpecContext) {
			pullSecret(ctx, s, Password)
			Configure(ctx, s, private, func(spec *v1alpha1.ProviderConfigSpec) {
				spec.Registries[0].PullSecretRef = &v1alpha1.SecretReference{Name: "pull"}
			})
		},
	}
}

func wrongPassword(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{Username: "puller", Password: Password})
	source := pushTo(ctx, r)
	pullSecret(ctx, s, Password+"-of-yesterday")
	privateConfig(ctx, s, v1alpha1.Registry{Host: r.Host(), PlainHTTP: true, PullSecretRef: &v1alpha1.SecretReference{Name: "pull"}})
	return trouble{
		manifest: With(Web(s, source), private),
		says:     []string{"web: cannot pull chart", r.Host(), "401 Unauthorized", "check pullSecretRef"},
		fix:      func(ctx SpecContext) { pullSecret(ctx, s, Password) },
	}
}

func accessDenied(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{})
	source := pushTo(ctx, r)
	r.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, `{"errors":[{"code":"DENIED","message":"not for you"}]}`, http.StatusForbidden)
		return true
	})
	privateConfig(ctx, s, v1alpha1.Registry{Host: r.Host(), PlainHTTP: true})
	return trouble{
		manifest: With(Web(s, source), private),
		says:     []string{"web: cannot pull chart", r.Host(), "403 Forbidden"},
		fix:      func(SpecContext) { r.SetFault(nil) },
	}
}

func borrowedIdentity(ctx SpecContext, s *Space) trouble {
	privateConfig(ctx, s, v1alpha1.Registry{Host: Env.Registry.Host(), PlainHTTP: true},
		v1alpha1.Registry{Host: "123456789012.dkr.ecr.eu-central-1.amazonaws.com", Provider: v1alpha1.RegistryProviderAWS})
	return trouble{
		manifest: With(Web(s, WebChart().PushLayer(ctx)), private),
		says:     []string{`dkr.ecr.eu-central-1.amazonaws.com"].provider: aws would give namespace "` + s.Name},
		fix: func(ctx SpecContext) {
			Configure(ctx, s, private, func(spec *v1alpha1.ProviderConfigSpec) { spec.Registries[1].Provider = "" })
		},
	}
}

func missingPullSecret(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{Username: "puller", Password: Password})
	source := pushTo(ctx, r)
	privateConfig(ctx, s, v1alpha1.Registry{Host: r.Host(), PlainHTTP: true, PullSecretRef: &v1alpha1.SecretReference{Name: "pull"}})
	return trouble{
		manifest: With(Web(s, source), private),
		says:     []string{"ProviderConfig private", "spec.registries", r.Host(), "pullSecretRef", "Secret " + s.Name + "/pull does not exist"},
		fix:      func(ctx SpecContext) { pullSecret(ctx, s, Password) },
	}
}

func opaquePullSecret(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{Username: "puller", Password: Password})
	source := pushTo(ctx, r)
	s.Secret(ctx, "pull", corev1.SecretTypeOpaque, map[string][]byte{"username": []byte("puller"), "password": []byte(Password)})
	privateConfig(ctx, s, v1alpha1.Registry{Host: r.Host(), PlainHTTP: true, PullSecretRef: &v1alpha1.SecretReference{Name: "pull"}})
	return trouble{
		manifest: With(Web(s, source), private),
		says:     []string{"pullSecretRef", `Secret ` + s.Name + `/pull has type "Opaque", but must have type`},
		fix: func(ctx SpecContext) {
			// The type of a Secret cannot be changed.
			SecretGone(ctx, s, "pull")
			pullSecret(ctx, s, Password)
		},
	}
}

func missingCABundle(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{TLS: true})
	source := pushTo(ctx, r)
	s.Secret(ctx, "ca", corev1.SecretTypeOpaque, map[string][]byte{"other": r.CA()})
	privateConfig(ctx, s, v1alpha1.Registry{Host: r.Host(), CABundleSecretRef: &v1alpha1.SecretKeySelector{Name: "ca", Key: "ca.crt"}})
	return trouble{
		manifest: With(Web(s, source), private),
		says:     []string{"ProviderConfig private", "caBundleSecretRef", `Secret ` + s.Name + `/ca has no key "ca.crt"`},
		fix: func(ctx SpecContext) {
			s.Secret(ctx, "ca", corev1.SecretTypeOpaque, map[string][]byte{"ca.crt": r.CA()})
		},
	}
}

func notListed(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{})
	source := pushTo(ctx, r)
	r.Reset()
	return trouble{
		manifest: Web(s, source),
		says:     []string{"web: ", `registry host "` + r.Host() + `" is not allowed`, "add it to spec.registries"},
		fix: func(ctx SpecContext) {
			Expect(r.Requests()).To(BeEmpty(), "a registry that is not listed was asked")
			Configure(ctx, s, ConfigName, func(spec *v1alpha1.ProviderConfigSpec) {
				spec.Registries = append(spec.Registries, v1alpha1.Registry{Host: r.Host(), PlainHTTP: true})
			})
		},
	}
}

// startRegistry starts a registry, and stops it at the end of the spec.
func startRegistry(o controlplane.WebOptions) *controlplane.Registry {
	GinkgoHelper()
	r := Must(controlplane.StartRegistry(o))
	DeferCleanup(r.Stop)
	return r
}

// pushTo pushes the web chart to a registry other than that of the suite, and returns its source.
func pushTo(ctx context.Context, r *controlplane.Registry) v1alpha1.Source {
	GinkgoHelper()
	p := Must(r.PushModule(ctx, "component-descriptors/example.org/module/test", WebChart().Files))
	return OciRef(p.Repository, p.Layer)
}

// privateConfig creates a ProviderConfig that allows these registries, or any if none is given.
func privateConfig(ctx context.Context, s *Space, registries ...v1alpha1.Registry) {
	GinkgoHelper()
	s.Config(ctx, private, Env.Target.Kubeconfig(), func(spec *v1alpha1.ProviderConfigSpec) { spec.Registries = registries })
}

// pullSecret creates or replaces the Secret with the credentials for a registry.
func pullSecret(ctx context.Context, s *Space, password string) {
	GinkgoHelper()
	s.Secret(ctx, "pull", corev1.SecretTypeBasicAuth, map[string][]byte{"username": []byte("puller"), "password": []byte(password)})
}
