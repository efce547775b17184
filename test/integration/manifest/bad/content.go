// SPDX-License-Identifier: Apache-2.0

package bad

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("Invalid content", Label("bad"), func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	DescribeTable("is reported in one line", func(ctx SpecContext, cause func(ctx SpecContext, s *Space) trouble) {
		suffer(ctx, s, cause(ctx, s))
	},
		Entry("digest that does not exist", missingDigest),
		Entry("version that does not exist", missingVersion),
		Entry("content that does not match its digest", otherBytes),
		Entry("layer that is not an archive", noArchive),
		Entry("archive without a chart", archiveWithoutChart),
		Entry("image instead of a chart", image),
		Entry("template with an error", templateError),
		Entry("template that renders invalid YAML", noYAML),
		Entry("values that violate the schema", brokenSchema),
		Entry("kubeVersion that the cluster does not match", wrongKubeVersion),
		Entry("chart as type kustomize", chartAsKustomization),
		Entry("chart as type raw", chartAsRaw),
		Entry("values for plain objects", rawWithValues),
		Entry("config with an unknown key", configured("configs: [{name: web, clientConfig: Nonsense=1}]",
			"web: config: clientConfig: Nonsense: unknown key")),
		Entry("config with an entry for an unknown install", configured("configs: [{name: wep, overrides: 'a="+Password+"'}]",
			`config: entry "wep" does not match any install; the installs are web`)),
		Entry("config with a syntax error", configured("configs: [{name: web, overrides: 'password=a,"+Password+"'}]",
			"web: config: overrides: must have the format of helm --set")),
	)

	It("is reported with the same message each time, and retried with back-off", func(ctx SpecContext) {
		Eventually(OtherConfigs).WithContext(ctx).WithArguments(s).Should(BeEmpty(), "those of other specs are still to be tidied up")
		t := brokenSchema(ctx, s)
		s.Create(ctx, t.manifest)
		AwaitTrouble(ctx, s, "web", t.says...)
		said, before := Must(s.Get(ctx, "web")).Status.AtProvider.Message, Must(Env.Provider.Scrape(ctx))
		Consistently(s.Get).WithContext(ctx).WithTimeout(4 * Calm).WithArguments("web").Should(HaveState(v1alpha1.StateError, said))

		// The retries come after about 1, 2, 4 and 8 seconds, each with an event.
		after := Must(Env.Provider.Scrape(ctx))
		controller := `controller="managed/manifest`
		Expect(after.Sum(Reconciles, controller)-before.Sum(Reconciles, controller)).To(BeNumerically("<=", 8), "reconciles")
		Expect(after.Requests(ControlRequests)["PUT"]-before.Requests(ControlRequests)["PUT"]).To(BeNumerically("<=", 4), "writes")
		Expect(after.RequestsSince(before, TargetRequests)).To(WriteNothing())
	})
})

func missingDigest(_ SpecContext, s *Space) trouble {
	files := WebChart().With("README.md", s.Name).Files
	source := OciRef(Env.Registry.Host()+"/component-descriptors/example.org/module/late", digestOf(Must(files.Archive(""))))
	return trouble{
		manifest: Web(s, source),
		says:     []string{"web: cannot pull chart", Env.Registry.Host(), source.Ref, "404 Not Found"},
		fix: func(ctx SpecContext) {
			p := Must(Env.Registry.PushModule(ctx, "component-descriptors/example.org/module/late", files))
			Expect(p.Layer).To(Equal(source.Ref))
		},
	}
}

func missingVersion(_ SpecContext, s *Space) trouble {
	return trouble{
		manifest: Web(s, HelmChart(Env.Charts(), "web", "47.1.1")),
		says:     []string{"web: cannot pull chart", Env.Registry.Host(), `no tag "47.1.1"`, `repository "charts/web"`},
		fix:      func(ctx SpecContext) { WebChart().Version("47.1.1").Push(ctx) },
	}
}

func otherBytes(ctx SpecContext, s *Space) trouble {
	r := startRegistry(controlplane.WebOptions{})
	source := pushTo(ctx, r)
	other := Must(WebChart2().Files.Archive(""))
	r.SetFault(func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method != http.MethodGet || !strings.HasSuffix(req.URL.Path, "/blobs/"+source.Ref) {
			return false
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(other)
		return true
	})
	privateConfig(ctx, s, v1alpha1.Registry{Host: r.Host(), PlainHTTP: true})
	return trouble{
		manifest: With(Web(s, source), private),
		says:     []string{"web: cannot pull chart", source.Ref, r.Host(), "returned different content", digestOf(other)},
		fix:      func(SpecContext) { r.SetFault(nil) },
	}
}

func noArchive(ctx SpecContext, s *Space) trouble {
	return blob(ctx, s, bytes.Repeat([]byte("no files at all "+s.Name+"\n"), 100), "not a tar or tar.gz archive")
}

func archiveWithoutChart(ctx SpecContext, s *Space) trouble {
	archive := Must(controlplane.Files{"README.md": []byte(s.Name)}.Archive(""))
	return blob(ctx, s, archive, "not a chart", "no Chart.yaml found in the root directory of the archive or in a directory below it")
}

func image(ctx SpecContext, s *Space) trouble {
	p := Must(Env.Registry.Push(ctx, "component-descriptors/example.org/module/test", "",
		static.NewLayer([]byte(`{"architecture":"amd64","os":"linux"}`), types.OCIConfigJSON),
		static.NewLayer([]byte(s.Name), types.OCILayer)))
	return trouble{
		manifest: Web(s, OciRef(p.Repository, p.Manifest)), fix: fixSource(s, "web"),
		says: []string{"web: cannot pull chart", p.Manifest, "not a chart", string(types.OCIConfigJSON)},
	}
}

func templateError(ctx SpecContext, s *Space) trouble {
	return broken(ctx, s, WebChart().With("templates/zz.yaml", "kind: ConfigMap\ndata:\n  port: {{ .Values.service.port }}\n"),
		`web: chart "web": templates/zz.yaml:3:`, "nil pointer evaluating interface {}.port")
}

func noYAML(ctx SpecContext, s *Space) trouble {
	return broken(ctx, s, WebChart().With("templates/zz.yaml", "kind: ConfigMap\ndata: [\n"),
		`web: chart "web": templates/zz.yaml`)
}

func brokenSchema(ctx SpecContext, s *Space) trouble {
	schema := `{"properties": {"workload": {"type": "string"}, "password": {"pattern": "^[0-9]+$"}}}`
	return broken(ctx, s, WebChart().With("values.schema.json", schema), `web: chart "web": values:`, "workload", "password")
}

func wrongKubeVersion(ctx SpecContext, s *Space) trouble {
	c := WebChart()
	c = c.With("Chart.yaml", string(c.Files["Chart.yaml"])+"kubeVersion: \">= 1.99.0\"\n")
	return broken(ctx, s, c, `web: chart "web": requires Kubernetes >= 1.99.0, but the cluster runs v1.36.3`)
}

func chartAsKustomization(ctx SpecContext, s *Space) trouble {
	return chartAs(ctx, s, v1alpha1.SourceTypeKustomize, "has no kustomization.yaml")
}

func chartAsRaw(ctx SpecContext, s *Space) trouble {
	return chartAs(ctx, s, v1alpha1.SourceTypeRaw, "Chart.yaml: kind is missing or not a string")
}

// chartAs returns a trouble with a chart as another type of source.
func chartAs(ctx SpecContext, s *Space, kind v1alpha1.SourceType, says string) trouble {
	source := WebChart().PushLayer(ctx)
	source.Type = kind
	m := Web(s, source)
	m.Spec.ForProvider.Installs[0].Values = nil
	return trouble{manifest: m, fix: fixSource(s, "web"), says: []string{"web: ", says}}
}

func rawWithValues(_ SpecContext, s *Space) trouble {
	m := Web(s, s.Inline("kept", "a: b"))
	m.Spec.ForProvider.Installs[0].Values = Raw(Values{"password": Password})
	return trouble{
		manifest: m, twinless: true,
		says: []string{"web: values are only supported for charts, but this install is plain objects; remove them"},
		fix: func(ctx SpecContext) {
			s.Update(ctx, m.Name, func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[0].Values = nil })
		},
	}
}

// configured returns a function that makes a trouble with a wrong config layer. Its fix removes the layer.
func configured(config string, says ...string) func(ctx SpecContext, s *Space) trouble {
	return func(ctx SpecContext, s *Space) trouble {
		m := Web(s, WebChart().PushLayer(ctx))
		m.Spec.ForProvider.Config = ConfigLayer(ctx, config)
		return trouble{
			manifest: m, says: says, twinless: true,
			fix: func(ctx SpecContext) {
				s.Update(ctx, m.Name, func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Config = nil })
			},
		}
	}
}

// broken returns a trouble with a chart that cannot be rendered. Its fix is the good version of the chart.
func broken(ctx SpecContext, s *Space, c Chart, says ...string) trouble {
	GinkgoHelper()
	return trouble{manifest: Web(s, c.PushLayer(ctx)), says: says, fix: fixSource(s, "web")}
}

// blob returns a trouble with arbitrary bytes in place of a chart. Its fix is the chart.
func blob(ctx SpecContext, s *Space, data []byte, says ...string) trouble {
	GinkgoHelper()
	p := Must(Env.Registry.PushBlob(ctx, "component-descriptors/example.org/module/test", data))
	return trouble{manifest: Web(s, OciRef(p.Repository, p.Layer)), says: says, fix: fixSource(s, "web")}
}

// digestOf returns the digest of bytes in the format of registries.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
