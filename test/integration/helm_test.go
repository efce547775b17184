// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// A release is what helm list and helm history print of one revision, in JSON.
type release struct {
	Name       string      `json:"name"`
	Namespace  string      `json:"namespace"`
	Revision   json.Number `json:"revision"`
	Status     string      `json:"status"`
	Chart      string      `json:"chart"`
	AppVersion string      `json:"app_version"`
}

var _ = Describe("Helm, in the target", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	list := func(ctx SpecContext) []release { return decode(s.helm(ctx, "list", "--all", "--output", "json")) }
	history := func(ctx SpecContext) []release { return decode(s.helm(ctx, "history", "web", "--output", "json")) }
	revision := func(number, status, version string) gstruct.Fields {
		return gstruct.Fields{"Revision": BeEquivalentTo(number), "Status": Equal(status), "Chart": Equal("web-" + version), "AppVersion": Equal("1.0")}
	}

	It("sees each revision as it was installed, and nothing after the removal", func(ctx SpecContext) {
		first, second := webChart(), webChart2()
		s.install(ctx, s.manifest("any", s.installOf("web", first.pushLayer(ctx), values{"message": "one"})))
		Expect(list(ctx)).To(ConsistOf(SatisfyAll(
			HaveField("Name", "web"), HaveField("Namespace", s.name), gstruct.MatchFields(gstruct.IgnoreExtras, revision("1", "deployed", "1.0.0")))))
		Expect(s.helm(ctx, "get", "manifest", "web")).To(Equal(s.template(ctx, first, "message=one")))
		Expect(s.helm(ctx, "get", "values", "web", "--output", "json")).To(MatchJSON(`{"message":"one"}`))

		s.update(ctx, "any", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Installs = []v1alpha1.Install{s.installOf("web", second.pushLayer(ctx), values{"message": "two"})}
		})
		s.awaitReady(ctx, "any")
		Expect(history(ctx)).To(HaveExactElements(
			gstruct.MatchFields(gstruct.IgnoreExtras, revision("1", "superseded", "1.0.0")),
			gstruct.MatchFields(gstruct.IgnoreExtras, revision("2", "deployed", "2.0.0"))))
		Expect(list(ctx)).To(ConsistOf(gstruct.MatchFields(gstruct.IgnoreExtras, revision("2", "deployed", "2.0.0"))))
		Expect(s.helm(ctx, "get", "manifest", "web")).To(Equal(s.template(ctx, second, "message=two")))
		Expect(s.helm(ctx, "get", "manifest", "web", "--revision", "1")).To(Equal(s.template(ctx, first, "message=one")))

		s.remove(ctx, "any")
		Expect(list(ctx)).To(BeEmpty())
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("has a release of its own, which is taken over only when that is asked for", func(ctx SpecContext) {
		s.helm(ctx, "install", "web", s.folder(webChart()), "--set", "message=by-hand")
		s.create(ctx, s.manifest("web", s.installOf("web", webChart2().pushLayer(ctx), values{"message": "by-manifest"})))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			notSynced("a Helm release web exists in namespace "+s.name, "adopt"), haveState(v1alpha1.StateError)))
		Expect(s.mustConfigMap(ctx, "web-settings")).To(haveData("message", "by-hand"))
		Expect(history(ctx)).To(HaveExactElements(gstruct.MatchFields(gstruct.IgnoreExtras, revision("1", "deployed", "1.0.0"))))

		s.update(ctx, "web", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt })
		s.awaitReady(ctx, "web")
		Expect(s.mustConfigMap(ctx, "web-options")).To(haveData("message", "by-manifest"))
		Expect(history(ctx)).To(HaveExactElements(
			gstruct.MatchFields(gstruct.IgnoreExtras, revision("1", "superseded", "1.0.0")),
			gstruct.MatchFields(gstruct.IgnoreExtras, revision("2", "deployed", "2.0.0"))))
	})
})

// helm runs the real one against the target, in the namespace of the space.
func (s *space) helm(ctx context.Context, args ...string) string {
	GinkgoHelper()
	helm, err := tools.Path(ctx, tools.Helm)
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, helm, append(args, "--namespace", s.name, "--kubeconfig", env.target.KubeconfigFile())...)
	cmd.Env = []string{"HOME=" + env.dir, "PATH=" + os.Getenv("PATH")}
	errs := &strings.Builder{}
	cmd.Stderr = errs
	out, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred(), "helm %v: %s", args, errs)
	return string(out)
}

// template is what helm renders of a chart, as helm get manifest would print it.
func (s *space) template(ctx context.Context, c chart, set string) string {
	GinkgoHelper()
	return s.helm(ctx, "template", "web", s.folder(c), "--set", set) + "\n"
}

// directory with the files of a chart.
func (s *space) folder(c chart) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for name, data := range c.files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		Expect(os.WriteFile(path, data, 0o600)).To(Succeed())
	}
	return dir
}

func decode(text string) []release {
	GinkgoHelper()
	var out []release
	Expect(json.Unmarshal([]byte(text), &out)).To(Succeed(), text)
	return out
}
