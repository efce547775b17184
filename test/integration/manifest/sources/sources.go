// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// Media types of Flux.
const (
	fluxConfig  = "application/vnd.cncf.flux.config.v1+json"
	fluxContent = "application/vnd.cncf.flux.content.v1.tar+gzip"
)

var _ = Describe("Sources", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("of several types can be in one Manifest, with a state for each, and can change their type", func(ctx SpecContext) {
		layer := pushFlux(ctx, overlay())
		m := s.Install(ctx, s.Manifest("mixed",
			s.InstallOf("kustomized", kustomize(layer, layer.Layer, "overlay"), nil),
			s.InstallOf("chart", WebChart().PushLayer(ctx), nil),
			s.InstallOf("raw", s.Inline("plain", "message: hello"), nil),
		))
		Expect(m.Status.AtProvider.Installs).To(Equal([]v1alpha1.InstallStatus{
			{Name: "kustomized", State: v1alpha1.StateReady},
			{Name: "chart", State: v1alpha1.StateReady, Version: "1.0.0"},
			{Name: "raw", State: v1alpha1.StateReady},
		}))
		Expect(s.MustConfigMap(ctx, "over-base")).To(HaveData("message", "patched"))
		Expect(Helm(ctx, s, "list", "--short")).To(Equal("chart\n"))
		before := s.MustConfigMap(ctx, "over-base").UID

		By("repairing changed objects")
		Edit(ctx, s.MustConfigMap(ctx, "over-base"), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, "over-base", "patched")

		By("changing to plain objects with the same name")
		s.Update(ctx, "mixed", SetSource(s.Inline("over-base", "message: plain")))
		s.AwaitReady(ctx, "mixed")
		Expect(s.MustConfigMap(ctx, "over-base")).To(SatisfyAll(HaveData("message", "plain"), HaveField("UID", before)))
		Expect(Gone(s.ConfigMap)(ctx, "over-made")).To(BeTrue())

		By("failing without affecting other installs")
		s.Update(ctx, "mixed", SetSource(kustomize(layer, layer.Layer, "nowhere")))
		Eventually(s.Get).WithContext(ctx).WithArguments("mixed").Should(SatisfyAll(
			HaveInstall("kustomized", v1alpha1.StateError, `directory "nowhere" does not exist`),
			HaveInstall("chart", v1alpha1.StateReady),
		))
		s.Remove(ctx, "mixed")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	DescribeTable("that are Flux artifacts are found", func(ctx SpecContext, source func(p controlplane.Pushed) v1alpha1.Source, name string) {
		s.Install(ctx, s.Manifest("flux", s.InstallOf("all", source(pushFlux(ctx, overlay())), nil)))
		Expect(Gone(s.ConfigMap)(ctx, name)).To(BeFalse())
	},
		Entry("by the digest of the manifest, as kustomize", func(p controlplane.Pushed) v1alpha1.Source { return kustomize(p, p.Manifest, "overlay") }, "over-base"),
		Entry("by the digest of the layer, as kustomize", func(p controlplane.Pushed) v1alpha1.Source { return kustomize(p, p.Layer, "base") }, "base"),
	)

	It("that are Flux artifacts can also be plain objects", func(ctx SpecContext) {
		p := pushFlux(ctx, controlplane.Files{"all.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n")})
		source := OciRef(p.Repository, p.Manifest)
		source.Type = v1alpha1.SourceTypeRaw
		s.Install(ctx, s.Manifest("flux", s.InstallOf("all", source, nil)))
		Expect(Gone(s.ConfigMap)(ctx, "plain")).To(BeFalse())
	})

	DescribeTable("of type kustomize that would fetch or execute something are rejected", func(ctx SpecContext, text string, says ...string) {
		p := pushFlux(ctx, controlplane.Files{"kustomization.yaml": []byte(text)})
		s.Create(ctx, s.Manifest("web", s.InstallOf("web", kustomize(p, p.Layer, ""), nil)))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveInstall("web", v1alpha1.StateError, says...))
	},
		Entry("from a URL", "resources: [https://example.org/base]", "kustomization.yaml: resources", "is not fetched"),
		Entry("from a git repository", "resources: ['git@github.com:example/base.git']", "kustomization.yaml: resources", "is not fetched"),
		Entry("as a Helm chart", "helmCharts: [{name: x, repo: https://example.org}]", "kustomization.yaml: helmCharts"),
	)
})

// overlay returns the files of a kustomization that patches a base.
func overlay() controlplane.Files {
	return controlplane.Files{
		"base/kustomization.yaml": []byte("resources: [all.yaml]\n"),
		"base/all.yaml":           []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata: {message: hello}\n"),
		"overlay/kustomization.yaml": []byte("resources: [../base]\nnamePrefix: over-\npatches: [{path: patch.yaml}]\n" +
			"configMapGenerator: [{name: made, literals: [a=b]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n"),
		"overlay/patch.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata: {message: patched}\n"),
	}
}

// pushFlux pushes files in the format of flux push artifact.
func pushFlux(ctx context.Context, files controlplane.Files) controlplane.Pushed {
	GinkgoHelper()
	archive, err := files.Archive("")
	Expect(err).NotTo(HaveOccurred())
	p, err := Env.Registry.Push(ctx, TestModule, "", static.NewLayer([]byte("{}"), types.MediaType(fluxConfig)), static.NewLayer(archive, types.MediaType(fluxContent)))
	Expect(err).NotTo(HaveOccurred())
	return p
}

// kustomize returns the source of a kustomization in a directory of a layer.
func kustomize(p controlplane.Pushed, digest, path string) v1alpha1.Source {
	source := OciRef(p.Repository, digest)
	source.Type, source.Path = v1alpha1.SourceTypeKustomize, path
	return source
}
