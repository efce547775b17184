// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"maps"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// greetings is a CRD whose spec.text is a string, and required.
const greetings = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greetings.example.org}
spec:
  group: example.org
  names: {kind: Greeting, plural: greetings, singular: greeting, listKind: GreetingList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [text]
            properties:
              text: {type: string, maxLength: 5}
              times: {type: integer, minimum: 1}
`

// Errors are reported in one line, which names the file and the field, and nothing is written.
var _ = Describe("module create refuses", func() {
	// identity is the beginning of a valid module.yaml.
	const identity = "name: " + greeter + "\nversion: 1.0.0\n"
	valid := map[string]string{
		"module.yaml":      identity + "charts: [{path: chart}]\ncrds: [crds.yaml]\ndefaultCustomResource: cr.yaml\n",
		"crds.yaml":        greetings,
		"cr.yaml":          "apiVersion: example.org/v1\nkind: Greeting\nmetadata: {name: a}\nspec: {text: hello}\n",
		"chart/Chart.yaml": "apiVersion: v2\nname: one\nversion: 0.1.0\n", "chart/templates/a.yaml": configMap("a", "a"),
		"plain.yaml": configMap("plain", "a"),
	}
	cr := func(spec string) string {
		return "apiVersion: example.org/v1\nkind: Greeting\nmetadata: {name: a}\nspec: " + spec + "\n"
	}
	plain := identity + "manifests: [{path: plain.yaml}]\n"

	DescribeTable("", func(ctx SpecContext, file, text string, args []string, why ...string) {
		p := newTestUser()
		files := maps.Clone(valid)
		if file != "" {
			files[file] = text
		}
		if file == "plain.yaml" {
			files["module.yaml"] = plain
		}
		dir := p.writeDir("source", files)
		before := hashOf(dir)
		r := p.run(ctx, append([]string{"module", "create", dir, "-o", "layout", "--quiet"}, args...)...)
		Expect(r.code).To(BeElementOf(exitFailure, exitUsage), r.String)
		expectFailure(r, r.code, why...)
		Expect(hashOf(dir)).To(Equal(before))
		Expect(os.Lstat(p.at("layout"))).Error().To(MatchError(os.ErrNotExist))
	},
		Entry("a template that cannot be parsed", "chart/templates/a.yaml", "{{ .Values.a", nil, "chart", "a.yaml"),
		Entry("a template that cannot be rendered", "chart/templates/a.yaml", "{{ fail \"no way\" }}", nil, "a.yaml", "no way"),
		Entry("a template that renders invalid YAML", "chart/templates/a.yaml", "a: b: c", nil, "a.yaml"),
		Entry("a chart without a name", "chart/Chart.yaml", "apiVersion: v2\nversion: 0.1.0\n", nil, "chart", "name"),
		Entry("YAML that cannot be parsed", "plain.yaml", "a: b: c\n", nil, "plain.yaml"),
		Entry("YAML that is not an object", "plain.yaml", "a: b\n", nil, "plain.yaml", "apiVersion"),
		Entry("a file of CRDs that contains another kind", "crds.yaml", configMap("a", "a"), nil, "crds.yaml"),
		Entry("a custom resource with a field of another type", "cr.yaml", cr("{text: 5}"), nil, "cr.yaml", "spec.text"),
		Entry("a custom resource without a required field", "cr.yaml", cr("{times: 1}"), nil, "cr.yaml", "spec.text"),
		Entry("a custom resource with too long a text", "cr.yaml", cr("{text: hello world}"), nil, "cr.yaml", "spec.text"),
		Entry("a custom resource with too small a number", "cr.yaml", cr("{text: a, times: 0}"), nil, "cr.yaml", "spec.times"),
		Entry("a custom resource of an unknown version", "cr.yaml", "apiVersion: example.org/v2\nkind: Greeting\nmetadata: {name: a}\nspec: {text: a}\n", nil, "cr.yaml", "v2"),
		Entry("a name without a domain", "", "", []string{"--name", "greeter"}, "name", `"greeter"`),
		Entry("a name in upper case", "", "", []string{"--name", "example.org/module/Greeter"}, "name", "Greeter"),
		Entry("a name that OCM does not allow", "", "", []string{"--name", "example.org/module//x"}, "name"),
		Entry("version latest", "", "", []string{"--version", "latest"}, "version", "latest"),
		Entry("version 1.2.3.4", "", "", []string{"--version", "1.2.3.4"}, "version", "1.2.3.4"),
		Entry("version 01.2.3", "", "", []string{"--version", "01.2.3"}, "version", "01.2.3"),
		Entry("a version that looks like a tag", "", "", []string{"--version", "1.2.3-a.build-b"}, "version", ".build-"),
		Entry("a channel in upper case", "", "", []string{"--channel", "Fast"}, "channel", "Fast"),
		Entry("a channel that is too short", "", "", []string{"--channel", "ab"}, "channel", "ab"),
		Entry("an unknown field", "module.yaml", identity+"chart: [{path: chart}]\n", nil, "module.yaml", "chart"),
		Entry("a field of another type", "module.yaml", identity+"charts: chart\n", nil, "module.yaml", "charts"),
		Entry("a module.yaml that is not YAML", "module.yaml", "name: [\n", nil, "module.yaml"),
		Entry("a path outside of the directory", "module.yaml", identity+"manifests: [{path: ../valid/plain.yaml}]\n", nil, "module.yaml", "manifests[0].path"),
		Entry("an absolute path", "module.yaml", identity+"manifests: [{path: /etc/passwd}]\n", nil, "module.yaml", "manifests[0].path"),
		Entry("a path that does not exist", "module.yaml", identity+"charts: [{path: nothing}]\n", nil, "module.yaml", "nothing"),
		Entry("two installs with the same name", "module.yaml", identity+"manifests: [{name: aa, path: plain.yaml}]\ncharts: [{name: aa, path: chart}]\n", nil, "module.yaml", "aa"),
		Entry("a rule that is not valid CEL", "module.yaml", identity+"charts: [{path: chart}]\nreadiness: [{cel: \"object.a ==\"}]\n", nil, "module.yaml", "readiness[0]"),
		Entry("an empty module", "module.yaml", identity, nil, "module.yaml"),
	)

	It("nothing if the input is valid", func(ctx SpecContext) {
		p := newTestUser()
		for _, text := range []string{valid["module.yaml"], plain} {
			files := maps.Clone(valid)
			files["module.yaml"] = text
			p.ok(ctx, "module", "create", p.writeDir("source", files), "--dry-run")
		}
	})

	It("a link that points outside of the directory", func(ctx SpecContext) {
		p := newTestUser()
		dir := p.writeDir("source", map[string]string{"chart/Chart.yaml": valid["chart/Chart.yaml"], "chart/templates/a.yaml": valid["plain.yaml"]})
		outside := p.input("outside.yaml", configMap("outside", "secret of another client"))
		Expect(os.Symlink(outside, dir+"/chart/templates/b.yaml")).To(Succeed())
		p.fails(ctx, exitFailure, []string{"b.yaml"}, "module", "create", dir+"/chart", "--name", greeter, "-o", "layout")
	})
})
