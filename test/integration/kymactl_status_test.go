// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// listed is what module list writes with -o json, of the catalogue and of what is enabled.
type listed struct {
	Modules []listedModule `json:"modules"`
}

type listedModule struct {
	Namespace string `json:"namespace"`
	Kyma      string `json:"kyma"`
	Name      string `json:"name"`
	Channel   string `json:"channel"`
	Version   string `json:"version"`
	State     string `json:"state"`
	Message   string `json:"message"`
	Template  string `json:"template"`
	Ready     string `json:"ready"`
}

// reported is what status writes with -o json.
type reported struct {
	Kyma    string `json:"kyma"`
	State   string `json:"state"`
	Message string `json:"message"`
	Modules []struct {
		Name    string `json:"name"`
		State   string `json:"state"`
		Message string `json:"message"`
		Live    *struct {
			Name     string `json:"name"`
			State    string `json:"state"`
			Installs []struct {
				Name    string `json:"name"`
				State   string `json:"state"`
				Message string `json:"message"`
			} `json:"installs"`
		} `json:"live"`
	} `json:"modules"`
}

// A failure is a module that does not become Ready.
type failure struct {
	// kyma that has it, not created yet.
	kyma *v1alpha1.Kyma
	// says are parts of the message that the user must see.
	says []string
	// state of the Kyma.
	state v1alpha1.State
}

var _ = Describe("kymactl status", func() {
	DescribeTable("shows what fails, and why", func(ctx SpecContext, cause func(ctx SpecContext, s *space, bad *offer) failure) {
		s := newSpace(ctx)
		p, fine, bad := s.person(), s.offer("fine"), s.offer("bad")
		fine.release(ctx, "regular", "1.0.0")
		f := cause(ctx, s, bad)
		s.create(ctx, f.kyma)
		says := append([]string{bad.name}, f.says...)
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveKymaState(f.state, f.says...))

		tree := lines(p.ok(ctx, "status"))
		Expect(tree[0]).To(containAll([]string{"NAME", "STATE", "VERSION", "MESSAGE"}))
		Expect(tree[1]).To(SatisfyAll(HavePrefix("Kyma/kyma"), ContainSubstring(string(f.state))))
		Expect(tree).To(ContainElement(SatisfyAll(ContainSubstring("─ module "+bad.name), ContainSubstring(string(f.state)), containAll(f.says))))
		Expect(p.ok(ctx, "status", "kyma", "-o", "jsonpath={.message}")).To(containAll(says))
		r := parsed[reported](p.ok(ctx, "status", "kyma", "-o", "json"))
		Expect(r).To(SatisfyAll(HaveField("Kyma", "kyma"), HaveField("State", string(f.state)), HaveField("Message", containAll(says))))
		Expect(r.Modules).To(ContainElement(SatisfyAll(HaveField("Name", bad.name), HaveField("Message", containAll(f.says)))))
		Expect(p.fails(ctx, exitFailure, says, "status", "--exit-code").stdout).NotTo(BeEmpty())

		By("listing it so")
		Expect(p.ok(ctx, "module", "list", "--kyma", "kyma")).To(containAll(append([]string{fine.name, string(f.state)}, says...)))

		By("waiting in vain")
		Expect(p.fails(ctx, exitTimeout, says, "wait", "kyma", "--timeout", "1s").stdout).To(BeEmpty())
		if f.state == v1alpha1.StateError {
			p.fails(ctx, exitFailure, says, "wait", "kyma", "--fail-fast")
		}
	},
		Entry("a Deployment that does not become available", stuckDeployment),
		Entry("a chart that cannot be rendered", wrongChart),
		Entry("a kubeconfig that is missing", missingKubeconfig),
		Entry("a module that no one offers", missingModule),
	)

	It("says that all is well, and wait ends at once", func(ctx SpecContext) {
		s := newSpace(ctx)
		p, m := s.person(), s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		s.enable(ctx, s.kyma("kyma", m.module()))
		start := time.Now()
		Expect(p.ok(ctx, "wait", "--module", m.name)).To(Equal("module.kyma.m.crossplane.io/" + m.name + " ready\n"))
		Expect(p.ok(ctx, "wait", "-o", "jsonpath={.kyma} {.condition}")).To(Equal("kyma ready\n"))
		Expect(time.Since(start)).To(BeNumerically("<", prompt))
		Expect(p.ok(ctx, "status", "--exit-code", "--all")).To(SatisfyAll(
			MatchRegexp(`(?m)^Kyma/kyma .* Ready .*True +True`), MatchRegexp(`(?m)^└─ module `+m.name+` \[regular\] +Ready +1\.0\.0`),
			MatchRegexp(`(?m)^   └─ Manifest/`+m.manifest("kyma")+` +Ready +1\.0\.0`), MatchRegexp(`(?m)^      └─ install `+m.name+` +Ready +1\.0\.0`)))
		for _, format := range []string{"json", "yaml"} {
			var r reported
			Expect(yaml.Unmarshal([]byte(p.ok(ctx, "status", "-o", format)), &r)).To(Succeed())
			Expect(r.State).To(Equal("Ready"))
			Expect(r.Modules[0].Live.Installs).To(HaveExactElements(SatisfyAll(HaveField("Name", m.name), HaveField("State", "Ready"))))
		}

		By("waiting until it is gone")
		s.deleteKyma(ctx, "kyma")
		p.ok(ctx, "wait", "kyma", "--for", "deleted")
		Expect(s.kymas(ctx)).To(BeEmpty())
		Expect(s.manifests(ctx)).To(BeEmpty())
		p.ok(ctx, "wait", "kyma", "--for", "deleted")
	})
})

var _ = Describe("kymactl module list", func() {
	It("lists what there is, and what is enabled", func(ctx SpecContext) {
		s := newSpace(ctx)
		p, one, two := s.person(), s.offer("one"), s.offer("two")
		one.release(ctx, "regular", "1.0.0")
		one.release(ctx, "fast", "1.1.0")
		broken := two.template("regular", two.component("9.9.9"))
		s.create(ctx, broken)
		Eventually(getTemplate).WithContext(ctx).WithArguments(broken.Name).Should(beResolved(corev1.ConditionFalse, v1alpha1.ReasonResolveFailed))
		s.enable(ctx, s.kyma("kyma", one.module()))

		all := parsed[listed](p.ok(ctx, "module", "list", "-o", "json")).Modules
		Expect(all).To(ContainElements(
			beListed("Name", one.name, "Channel", "fast", "Version", "1.1.0", "Template", one.templateName("fast"), "Ready", "True", "Message", ""),
			beListed("Name", one.name, "Channel", "regular", "Version", "1.0.0", "Template", one.templateName("regular"), "Ready", "True", "Message", ""),
			SatisfyAll(beListed("Name", two.name, "Channel", "regular", "Version", "", "Ready", "False"), HaveField("Message", ContainSubstring("9.9.9"))),
		))
		Expect(parsed[listed](p.ok(ctx, "module", "list", "--channel", "fast", "-o", "json")).Modules).To(SatisfyAll(
			HaveEach(HaveField("Channel", "fast")), ContainElement(HaveField("Name", one.name))))
		Expect(p.ok(ctx, "module", "list")).To(SatisfyAll(MatchRegexp(`^MODULE +CHANNEL +VERSION +`),
			MatchRegexp(`(?m)^`+one.name+` +fast +1\.1\.0 +`+one.templateName("fast")+` +True`), MatchRegexp(`(?m)^`+two.name+` +regular +- .*9\.9\.9`)))

		By("listing what is enabled")
		want := beListed("Namespace", s.name, "Kyma", "kyma", "Name", one.name, "Channel", "regular", "Version", "1.0.0", "State", "Ready")
		for _, args := range [][]string{{"--kyma", "kyma"}, {"--enabled"}} {
			Expect(parsed[listed](p.ok(ctx, append([]string{"module", "list", "-o", "json"}, args...)...)).Modules).To(HaveExactElements(want))
		}
		Expect(parsed[listed](p.ok(ctx, "module", "list", "-A", "-o", "json")).Modules).To(ContainElement(want))
		var l listed
		Expect(yaml.Unmarshal([]byte(p.ok(ctx, "module", "list", "--kyma", "kyma", "-o", "yaml")), &l)).To(Succeed())
		Expect(l.Modules).To(HaveExactElements(want))
		Expect(p.ok(ctx, "module", "list", "--kyma", "kyma", "-o", "jsonpath={.modules[*].name}")).To(Equal(one.name + "\n"))
		Expect(p.ok(ctx, "module", "list", "--kyma", "kyma")).To(SatisfyAll(
			MatchRegexp(`^KYMA +MODULE +CHANNEL +VERSION +STATE`), MatchRegexp(`(?m)^kyma +`+one.name+` +regular +1\.0\.0 +Ready +.*1\.1\.0`)))
	})
})

// beListed matches a module by fields and their values, in turn.
func beListed(fields ...string) types.GomegaMatcher {
	var all []types.GomegaMatcher
	for i := 0; i < len(fields); i += 2 {
		all = append(all, HaveField(fields[i], fields[i+1]))
	}
	return SatisfyAll(all...)
}

// offerOf a module whose only chart has one more template.
func (s *space) offerOf(ctx SpecContext, m *offer, template string) {
	GinkgoHelper()
	c := m.component("1.0.0")
	c.Resources[0].Files = m.chart("1.0.0").with("templates/more.yaml", template).files
	push(ctx, c)
	s.create(ctx, m.template("regular", c))
	m.awaitResolved(ctx, m.templateName("regular"), "1.0.0")
}

func (s *space) failing(bad *offer, state v1alpha1.State, says ...string) failure {
	return failure{kyma: s.kyma("kyma", s.offer("fine").module(), bad.module()), state: state, says: says}
}

func stuckDeployment(ctx SpecContext, s *space, bad *offer) failure {
	s.offerOf(ctx, bad, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: stuck, namespace: `+s.name+`}
spec:
  selector: {matchLabels: {app: stuck}}
  template:
    metadata: {labels: {app: stuck}}
    spec: {serviceAccountName: missing, containers: [{name: main, image: example.org/main}]}
`)
	return s.failing(bad, v1alpha1.StateProcessing, "Deployment "+s.name+"/stuck")
}

func wrongChart(ctx SpecContext, s *space, bad *offer) failure {
	s.offerOf(ctx, bad, `{{ fail "this chart wants more" }}`)
	return s.failing(bad, v1alpha1.StateError, "this chart wants more")
}

func missingKubeconfig(ctx SpecContext, s *space, bad *offer) failure {
	bad.release(ctx, "regular", "1.0.0")
	s.config(ctx, "locked", env.target.Kubeconfig())
	Expect(env.controlClient.Delete(ctx, named(s, &corev1.Secret{}, "locked"))).To(Succeed())
	f := s.failing(bad, v1alpha1.StateError, "Secret", s.name+"/locked")
	onConfig(f.kyma, "locked")
	return f
}

func missingModule(_ SpecContext, s *space, bad *offer) failure {
	return s.failing(bad, v1alpha1.StateError, bad.name, "ModuleTemplate")
}
