// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// listed is the output of module list with -o json, for the catalogue or for enabled modules.
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

// reported is the output of status with -o json.
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
	// kyma is the Kyma with the module. It is not created yet.
	kyma *v1alpha1.Kyma
	// says holds parts of the message that the user must see.
	says []string
	// state is the expected state of the Kyma.
	state v1alpha1.State
}

var _ = Describe("kymactl status", func() {
	DescribeTable("reports failures with the reason", func(ctx SpecContext, cause func(ctx SpecContext, s *Space, bad *Offer) failure) {
		s := NewSpace(ctx)
		p, fine, bad := NewPerson(s), NewOffer(s, "fine"), NewOffer(s, "bad")
		fine.Release(ctx, "regular", "1.0.0")
		f := cause(ctx, s, bad)
		s.Create(ctx, f.kyma)
		says := append([]string{bad.Name}, f.says...)
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveKymaState(f.state, says...))

		tree := Lines(p.Ok(ctx, "status"))
		Expect(tree[0]).To(ContainAll([]string{"NAME", "STATE", "VERSION", "MESSAGE"}))
		Expect(tree[1]).To(SatisfyAll(HavePrefix("Kyma/kyma"), ContainSubstring(string(f.state))))
		Expect(tree).To(ContainElement(SatisfyAll(ContainSubstring("─ module "+bad.Name), ContainSubstring(string(f.state)), ContainAll(f.says))))
		Expect(p.Ok(ctx, "status", "kyma", "-o", "jsonpath={.message}")).To(ContainAll(says))
		r := parsed[reported](p.Ok(ctx, "status", "kyma", "-o", "json"))
		Expect(r).To(SatisfyAll(HaveField("Kyma", "kyma"), HaveField("State", string(f.state)), HaveField("Message", ContainAll(says))))
		Expect(r.Modules).To(ContainElement(SatisfyAll(HaveField("Name", bad.Name), HaveField("Message", ContainAll(f.says)))))
		Expect(p.Fails(ctx, exitFailure, says, "status", "--exit-code").Stdout).NotTo(BeEmpty())

		By("listing it with its state")
		Expect(p.Ok(ctx, "module", "list", "--kyma", "kyma")).To(ContainAll(append([]string{fine.Name, string(f.state)}, says...)))

		By("waiting until the timeout")
		Expect(p.Fails(ctx, exitTimeout, says, "wait", "kyma", "--timeout", "5s").Stdout).To(BeEmpty())
		if f.state == v1alpha1.StateError {
			p.Fails(ctx, exitFailure, says, "wait", "kyma", "--fail-fast")
		}
	},
		Entry("a Deployment that does not become available", stuckDeployment),
		Entry("a chart that cannot be rendered", wrongChart),
		Entry("a missing kubeconfig", missingKubeconfig),
		Entry("a module without a ModuleTemplate", missingModule),
	)

	It("reports that all modules are Ready, and wait returns immediately", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p, m := NewPerson(s), NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		start := time.Now()
		Expect(p.Ok(ctx, "wait", "--module", m.Name)).To(Equal("module.kyma.m.crossplane.io/" + m.Name + " ready\n"))
		Expect(p.Ok(ctx, "wait", "-o", "jsonpath={.kyma} {.condition}")).To(Equal("kyma ready\n"))
		Expect(time.Since(start)).To(BeNumerically("<", Prompt))
		Expect(p.Ok(ctx, "status", "--exit-code", "--all")).To(SatisfyAll(
			MatchRegexp(`(?m)^Kyma/kyma .* Ready .*True +True`), MatchRegexp(`(?m)^└─ module `+m.Name+` \[regular\] +Ready +1\.0\.0`),
			MatchRegexp(`(?m)^   └─ Manifest/`+m.Manifest("kyma")+` +Ready +1\.0\.0`), MatchRegexp(`(?m)^      └─ install `+m.Name+` +Ready +1\.0\.0`)))
		for _, format := range []string{"json", "yaml"} {
			var r reported
			Expect(yaml.Unmarshal([]byte(p.Ok(ctx, "status", "-o", format)), &r)).To(Succeed())
			Expect(r.State).To(Equal("Ready"))
			Expect(r.Modules[0].Live.Installs).To(HaveExactElements(SatisfyAll(HaveField("Name", m.Name), HaveField("State", "Ready"))))
		}

		By("waiting until it is deleted")
		s.DeleteKyma(ctx, "kyma")
		p.Ok(ctx, "wait", "kyma", "--for", "deleted")
		Expect(s.Kymas(ctx)).To(BeEmpty())
		Expect(s.Manifests(ctx)).To(BeEmpty())
		p.Ok(ctx, "wait", "kyma", "--for", "deleted")
	})
})

var _ = Describe("kymactl module list", func() {
	It("lists available and enabled modules", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p, one, two := NewPerson(s), NewOffer(s, "one"), NewOffer(s, "two")
		one.Release(ctx, "regular", "1.0.0")
		one.Release(ctx, "fast", "1.1.0")
		broken := two.Template("regular", two.Component("9.9.9"))
		s.Create(ctx, broken)
		Eventually(GetTemplate).WithContext(ctx).WithArguments(broken.Name).Should(BeResolved(corev1.ConditionFalse, v1alpha1.ReasonResolveFailed))
		s.Enable(ctx, s.Kyma("kyma", one.Module()))

		all := parsed[listed](p.Ok(ctx, "module", "list", "-o", "json")).Modules
		Expect(all).To(ContainElements(
			beListed("Name", one.Name, "Channel", "fast", "Version", "1.1.0", "Template", one.TemplateName("fast"), "Ready", "True", "Message", ""),
			beListed("Name", one.Name, "Channel", "regular", "Version", "1.0.0", "Template", one.TemplateName("regular"), "Ready", "True", "Message", ""),
			SatisfyAll(beListed("Name", two.Name, "Channel", "regular", "Version", "", "Ready", "False"), HaveField("Message", ContainSubstring("9.9.9"))),
		))
		Expect(parsed[listed](p.Ok(ctx, "module", "list", "--channel", "fast", "-o", "json")).Modules).To(SatisfyAll(
			HaveEach(HaveField("Channel", "fast")), ContainElement(HaveField("Name", one.Name))))
		Expect(p.Ok(ctx, "module", "list")).To(SatisfyAll(MatchRegexp(`^MODULE +CHANNEL +VERSION +`),
			MatchRegexp(`(?m)^`+one.Name+` +fast +1\.1\.0 +`+one.TemplateName("fast")+` +True`), MatchRegexp(`(?m)^`+two.Name+` +regular +- .*9\.9\.9`)))

		By("listing enabled modules")
		want := beListed("Namespace", s.Name, "Kyma", "kyma", "Name", one.Name, "Channel", "regular", "Version", "1.0.0", "State", "Ready")
		for _, args := range [][]string{{"--kyma", "kyma"}, {"--enabled"}} {
			Expect(parsed[listed](p.Ok(ctx, append([]string{"module", "list", "-o", "json"}, args...)...)).Modules).To(HaveExactElements(want))
		}
		Expect(parsed[listed](p.Ok(ctx, "module", "list", "-A", "-o", "json")).Modules).To(ContainElement(want))
		var l listed
		Expect(yaml.Unmarshal([]byte(p.Ok(ctx, "module", "list", "--kyma", "kyma", "-o", "yaml")), &l)).To(Succeed())
		Expect(l.Modules).To(HaveExactElements(want))
		Expect(p.Ok(ctx, "module", "list", "--kyma", "kyma", "-o", "jsonpath={.modules[*].name}")).To(Equal(one.Name + "\n"))
		Expect(p.Ok(ctx, "module", "list", "--kyma", "kyma")).To(SatisfyAll(
			MatchRegexp(`^KYMA +MODULE +CHANNEL +VERSION +STATE`), MatchRegexp(`(?m)^kyma +`+one.Name+` +regular +1\.0\.0 +Ready +.*1\.1\.0`)))
	})
})

// beListed matches a module by its fields, given as alternating names and values.
func beListed(fields ...string) types.GomegaMatcher {
	var all []types.GomegaMatcher
	for i := 0; i < len(fields); i += 2 {
		all = append(all, HaveField(fields[i], fields[i+1]))
	}
	return SatisfyAll(all...)
}

// offerOf releases version 1.0.0 of a module, with one more template in its chart.
func offerOf(ctx SpecContext, s *Space, m *Offer, template string) {
	GinkgoHelper()
	c := m.Component("1.0.0")
	c.Resources[0].Files = m.Chart("1.0.0").With("templates/more.yaml", template).Files
	Push(ctx, c)
	s.Create(ctx, m.Template("regular", c))
	m.AwaitResolved(ctx, m.TemplateName("regular"), "1.0.0")
}

func failing(s *Space, bad *Offer, state v1alpha1.State, says ...string) failure {
	return failure{kyma: s.Kyma("kyma", NewOffer(s, "fine").Module(), bad.Module()), state: state, says: says}
}

func stuckDeployment(ctx SpecContext, s *Space, bad *Offer) failure {
	offerOf(ctx, s, bad, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: stuck, namespace: `+s.Name+`}
spec:
  selector: {matchLabels: {app: stuck}}
  template:
    metadata: {labels: {app: stuck}}
    spec: {serviceAccountName: missing, containers: [{name: main, image: example.org/main}]}
`)
	return failing(s, bad, v1alpha1.StateProcessing, "Deployment "+s.Name+"/stuck")
}

func wrongChart(ctx SpecContext, s *Space, bad *Offer) failure {
	offerOf(ctx, s, bad, `{{ fail "this chart wants more" }}`)
	return failing(s, bad, v1alpha1.StateError, "this chart wants more")
}

func missingKubeconfig(ctx SpecContext, s *Space, bad *Offer) failure {
	bad.Release(ctx, "regular", "1.0.0")
	s.Config(ctx, "locked", Env.Target.Kubeconfig())
	Expect(Env.ControlClient.Delete(ctx, named(s, &corev1.Secret{}, "locked"))).To(Succeed())
	f := failing(s, bad, v1alpha1.StateError, "Secret", s.Name+"/locked")
	OnConfig(f.kyma, "locked")
	return f
}

func missingModule(_ SpecContext, s *Space, bad *Offer) failure {
	return failing(s, bad, v1alpha1.StateError, bad.Name, "ModuleTemplate")
}
