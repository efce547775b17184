// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// A summary holds the parts of the output of module create and module inspect that these specs need.
type summary struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Tag      string `json:"tag"`
	Digest   string `json:"digest"`
	Uploaded *int   `json:"uploaded"`
	Layers   []struct {
		Resource string `json:"resource"`
		Type     string `json:"type"`
		Digest   string `json:"digest"`
	} `json:"layers"`
	Signatures []struct {
		Name string `json:"name"`
	} `json:"signatures"`
	Resources []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"resources"`
	Installs []struct {
		Name    string `json:"name"`
		Kind    string `json:"kind"`
		Error   string `json:"error"`
		Objects []struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"objects"`
	} `json:"installs"`
}

// layer returns the digest of a resource.
func (s *summary) layer(resource string) string {
	GinkgoHelper()
	for _, l := range s.Layers {
		if l.Resource == resource {
			return l.Digest
		}
	}
	Fail("there is no layer " + resource)
	return ""
}

// installs returns the installs as kind, name and objects.
func (s *summary) installs() []string {
	GinkgoHelper()
	var out []string
	for _, i := range s.Installs {
		Expect(i.Error).To(BeEmpty())
		objects := []string{}
		for _, o := range i.Objects {
			objects = append(objects, o.Kind+"/"+o.Name)
		}
		out = append(out, i.Kind+" "+i.Name+": "+strings.Join(objects, " "))
	}
	return out
}

func (p *testUser) inspect(ctx context.Context, reference string, args ...string) *summary {
	GinkgoHelper()
	s := parsed[summary](p.ok(ctx, append([]string{"module", "inspect", reference, "-o", "json"}, args...)...).stdout)
	return &s
}

var _ = Describe("module create", func() {
	DescribeTable("creates a module from", func(ctx SpecContext, kind string, args []string, installs ...any) {
		p := newTestUser()
		dir := p.fixture(kind, "source")
		before := hashOf(dir)
		dry := p.ok(ctx, slices.Concat([]string{"module", "create", dir, "--dry-run"}, args)...)
		p.expectTidy()
		Expect(p.makes(ctx, dir, "layout", args...)).To(Equal(dry.digest()))
		Expect(dry.digest()).To(Equal(golden(kind)))
		Expect(hashOf(dir)).To(Equal(before), "the source is only read")
		Expect(p.inspect(ctx, "layout").installs()).To(ConsistOf(installs...))
		Expect(p.blobs("layout")).To(HaveLen(len(p.manifestOf("layout", dry.digest()).Layers)+2), "the blobs, and nothing more")
	},
		Entry("a chart", "chart", []string{"--name", greeter},
			"chart greeter: CustomResourceDefinition/greetings.example.org ConfigMap/greeter"),
		Entry("plain YAML", "plain", []string{"--name", "kyma-project.io/module/template-operator", "--version", "1.0.5"}, ContainSubstring("Deployment/")),
		Entry("a kubebuilder project", "kubebuilder", []string{"--version", "0.1.0"},
			"crds crds: CustomResourceDefinition/greetings.example.org", ContainSubstring("Deployment/"), ContainSubstring("custom-resource")),
		Entry("a module.yaml with all fields", "full", nil,
			ContainSubstring("crds crds: CustomResourceDefinition/greetings.example.org"), ContainSubstring("chart greeter: "), ContainSubstring("raw manifests: "),
			ContainSubstring("raw more: "), ContainSubstring("raw tuned: "), ContainSubstring("custom-resource ")),
	)

	It("puts each file of a chart into its layer once, below the root", func(ctx SpecContext) {
		p := newTestUser()
		files := map[string]string{
			"Chart.yaml": "apiVersion: v2\nname: deep\nversion: 1.0.0\n", "templates/a.yaml": configMap("a", "a"),
			"templates/b/c/d/e.yaml": configMap("e", "e"), "values.yaml": "a: 1\n",
		}
		digest := p.makes(ctx, p.writeDir("other-name", files), "layout", "--name", "example.org/module/deep")
		layer := p.inspect(ctx, "layout").layer("deep")
		paths, have := untar(p.blobs("layout")[layer])
		for path, text := range files {
			Expect(have).To(HaveKeyWithValue(path, text))
		}
		Expect(paths).To(Equal(slices.Sorted(slices.Values(slices.Compact(slices.Sorted(slices.Values(paths)))))), "each once, sorted")
		Expect(encoded(p.blobs("layout")) + digest).NotTo(ContainSubstring("other-name"))
	})

	It("lets flags override the input", func(ctx SpecContext) {
		p := newTestUser()
		dir := p.fixture("full", "source")
		p.makes(ctx, dir, "layout", "--name", "example.org/module/renamed", "--version", "v2.0.0+build.7", "--channel", "rapid")
		s := p.inspect(ctx, "layout")
		Expect([]string{s.Name, s.Version, s.Tag}).To(Equal([]string{"example.org/module/renamed", "v2.0.0+build.7", "v2.0.0.build-build.7"}))
		Expect(p.template(ctx, "layout")).To(HaveKeyWithValue("spec", HaveKeyWithValue("channel", "rapid")))
	})

	It("accepts a default custom resource that begins with ---, and writes no empty one into templates", func(ctx SpecContext) {
		p := newTestUser()
		dir := p.fixture("full", "source")
		cr := string(must(os.ReadFile(filepath.Join(dir, "default.yaml"))))
		p.input("source/default.yaml", "---\n"+cr)
		p.makes(ctx, dir, "with")
		Expect(p.inspect(ctx, "with").installs()).To(ContainElement(And(HavePrefix("custom-resource "), ContainSubstring("Greeting/"))))
		p.makes(ctx, p.sample("without", "a", 0), "without")
		Expect(p.template(ctx, "without")).To(HaveKeyWithValue("spec", Not(HaveKey("data"))))
	})

	It("extends an image, whose layers stay the same", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
		image := must(random.Image(2000, 3))
		ref := must(name.NewTag(r.Host() + "/team/image:1.0"))
		Expect(remote.Write(ref, image, remote.WithContext(ctx))).To(Succeed())
		digest := p.makes(ctx, p.sample("source", "a", 0), "layout", "--from", ref.String())
		blobs := p.blobs("layout")
		m := p.manifestOf("layout", digest)
		for _, l := range must(image.Layers()) {
			of := must(l.Digest()).String()
			Expect(m.digests()).To(ContainElement(of))
			Expect(blobs).To(HaveKeyWithValue(of, string(fetch(ctx, r, "team/image", "blobs", of))))
		}
		Expect(p.inspect(ctx, "layout").installs()).To(ConsistOf("chart one: ConfigMap/one", "raw said: ConfigMap/said"))
		Expect(p.makes(ctx, p.sample("source", "a", 0), "again", "--from", ref.String())).To(Equal(digest))
	})

	It("extends a module, and keeps layers that are not replaced, but no signatures", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
		key, _ := p.hasKeys(ctx, "k")
		p.makes(ctx, p.sample("source", "a", 0), "base", "--key", key)
		pushed := p.ok(ctx, "module", "push", "base", r.Host()+"/m").reference()
		more := p.writeDir("more", map[string]string{
			"module.yaml": "name: " + greeter + "\nversion: 1.1.0\nmanifests: [{name: said, path: said.yaml}, {name: more, path: more.yaml}]\n",
			"said.yaml":   configMap("said", "b"), "more.yaml": configMap("more", "c"),
		})
		p.makes(ctx, more, "layout", "--from", pushed)
		base, s := p.inspect(ctx, "base"), p.inspect(ctx, "layout")
		Expect(s.Signatures).To(BeEmpty())
		Expect(base.Signatures).To(HaveLen(1))
		Expect(s.layer("one")).To(Equal(base.layer("one")))
		Expect(s.layer("said")).NotTo(Equal(base.layer("said")))
		Expect(p.blobs("layout")[s.layer("one")]).To(Equal(p.blobs("base")[s.layer("one")]))
		Expect(s.installs()).To(ConsistOf("chart one: ConfigMap/one", "raw said: ConfigMap/said", "raw more: ConfigMap/more"))
	})

	It("warns only about images without a digest", func(ctx SpecContext) {
		p := newTestUser()
		pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: IMAGE}]}\n"
		for image, warned := range map[string]bool{
			"registry.example.org/loose:1.0": true, "registry.example.org/bare": true,
			"registry.example.org/pinned@sha256:" + strings.Repeat("a", 64): false,
		} {
			dir := p.writeDir("images", map[string]string{"pod.yaml": strings.Replace(pod, "IMAGE", image, 1)})
			r := p.ok(ctx, "module", "create", dir, "--dry-run", "--name", greeter, "--version", "1.0.0", "--quiet")
			if warned {
				Expect(r.stderr).To(And(HavePrefix("Warning: "), ContainSubstring(image)), r.String)
			} else {
				Expect(r.stderr).To(BeEmpty(), r.String)
			}
		}
	})

	It("accepts the file that module init writes", func(ctx SpecContext) {
		p := newTestUser()
		dir := p.fixture("chart", "source")
		p.ok(ctx, "module", "init", dir, "--name", greeter)
		p.makes(ctx, dir, "layout")
		Expect(p.inspect(ctx, "layout").installs()).To(ContainElement(ContainSubstring("ConfigMap/greeter")))
	})
})

// template runs module template, and returns the object.
func (p *testUser) template(ctx context.Context, reference string, args ...string) map[string]any {
	GinkgoHelper()
	out := map[string]any{}
	text := p.ok(ctx, append([]string{"module", "template", reference, "--repository", "registry.example.org/m"}, args...)...).stdout
	Expect(yaml.UnmarshalStrict([]byte(text), &out)).To(Succeed(), text)
	return out
}
