// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// Names in the tutorial.
const (
	tutorialKyma   = "cluster-a"
	tutorialModule = "greeter"
	// tutorialCRD is the name of the CRD of the module.
	tutorialCRD = "greetings.example.org"
)

var _ = Describe("The tutorial", func() {
	It("works as described, command by command", func(ctx SpecContext) {
		s := NewSpace(ctx)
		p := NewPerson(s)
		for _, name := range []string{
			"greeter", "greeter-1.0.0", "greeter-1.1.0", "release.key", "release.pub", "greeter-regular.yaml", "greeter-fast.yaml",
		} {
			p.Output(name)
		}
		DeferCleanup(func(ctx SpecContext) {
			for _, channel := range []string{"regular", "fast"} {
				t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: tutorialModule + "-" + channel}}
				Expect(client.IgnoreNotFound(Env.ControlClient.Delete(ctx, t))).To(Succeed())
			}
		})
		Expect(tutorialObjects(ctx, Env)).To(BeEmpty())
		page := Must(os.ReadFile(filepath.Join(Must(tools.Root()), "docs", "first-module.md")))
		repository := Env.Registry.Host() + "/" + s.Name
		t := &tutorial{p: p, sections: sectionsOf(page), variables: []string{"REGISTRY=" + repository, "TARGET=" + p.Target()}}
		var digest string
		t.run(ctx, map[string]func(out string){
			"2. Build a module from it": func(out string) {
				made := digestsIn(out)
				Expect(made).To(HaveLen(2), "it is made twice")
				Expect(made[0]).To(Equal(made[1]))
				digest = made[0]
			},
			"3. Sign it": func(out string) {
				signed := digestsIn(out)
				Expect(signed).To(HaveLen(2), "it is signed and verified")
				Expect(signed[0]).To(SatisfyAll(Equal(signed[1]), Not(Equal(digest))))
				digest = signed[0]
			},
			"4. Push and inspect it": func(out string) {
				Expect(out).To(SatisfyAll(ContainSubstring(digest), ContainSubstring("Deployment"), ContainSubstring(tutorialCRD)))
				puts := uploads()
				Expect(Lines(p.Ok(ctx, "module", "push", "greeter-1.0.0", repository))).To(ContainElement(digest))
				Expect(uploads()).To(Equal(puts))
				p.Ok(ctx, "module", "verify", repository+"//example.org/module/greeter:1.0.0", "--key", "release.pub")
			},
			"5. Run it": func(out string) {
				Expect(out).To(ContainSubstring("1.0.0"))
				Expect(Must(s.GetKyma(ctx, tutorialKyma))).To(SatisfyAll(BeReadyKyma(), HaveVersion(tutorialModule, "1.0.0", "regular")))
				Expect(greeter(ctx, Env)).To(haveReplicas(1))
			},
			"6. Release a second version": func(out string) {
				Expect(out).To(SatisfyAll(ContainSubstring("spec.replicas"), ContainSubstring("1.1.0")))
				Expect(Must(s.GetKyma(ctx, tutorialKyma))).To(SatisfyAll(BeReadyKyma(), HaveVersion(tutorialModule, "1.1.0", "fast")))
				Expect(greeter(ctx, Env)).To(haveReplicas(2))
				p.Ok(ctx, "module", "verify", repository+"//example.org/module/greeter:1.1.0", "--key", "release.pub")
			},
			"7. Clean up": func(string) {
				Expect(s.Kymas(ctx)).To(BeEmpty())
				Expect(s.Manifests(ctx)).To(BeEmpty())
				Expect(tutorialObjects(ctx, Env)).To(BeEmpty())
				Expect(exists(ctx, named(s, &v1alpha1.ProviderConfig{}, tutorialKyma))).To(BeFalse())
				Expect(exists(ctx, named(s, &corev1.Secret{}, tutorialKyma+"-kubeconfig"))).To(BeFalse())
				Expect(exists(ctx, &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: tutorialModule + "-fast"}})).To(BeTrue())
			},
		})
	}, SpecTimeout(2*Patience))
})

// A section of a page has a heading and commands.
type section struct{ heading, commands string }

// sectionsOf returns the sections of a page that have commands, which are in its code blocks of language sh.
func sectionsOf(page []byte) []section {
	GinkgoHelper()
	var out []section
	heading, within := "", false
	for line := range strings.Lines(string(page)) {
		switch {
		case within && strings.TrimSpace(line) == "```":
			within = false
		case within:
			out[len(out)-1].commands += line
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case strings.TrimSpace(line) == "```sh":
			within = true
			if len(out) == 0 || out[len(out)-1].heading != heading {
				out = append(out, section{heading: heading})
			}
		}
	}
	Expect(within).To(BeFalse(), "a block has no end")
	return out
}

// A tutorial runs the commands of a page.
type tutorial struct {
	p         *Person
	sections  []section
	variables []string
}

// run runs all commands in one shell, as a script that pauses after each section. look has the checks by heading.
func (t *tutorial) run(ctx context.Context, look map[string]func(out string)) {
	GinkgoHelper()
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	for i, s := range t.sections {
		_, _ = fmt.Fprintf(&script, "%secho '%s'\nread -r <&3\n", s.commands, mark(i))
	}
	wait, resume, err := os.Pipe()
	Expect(err).NotTo(HaveOccurred())
	defer wait.Close()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, Must(exec.LookPath("bash")), "-c", script.String())
	cmd.Dir, cmd.Stderr, cmd.ExtraFiles = t.p.Path("work"), &stderr, []*os.File{wait}
	cmd.Env = append([]string{
		"HOME=" + t.p.Path("home"), "TMPDIR=" + t.p.Path("tmp"), "KUBECONFIG=" + t.p.Path("control.kubeconfig"),
		"PATH=" + filepath.Dir(Env.Kymactl) + string(os.PathListSeparator) + os.Getenv("PATH"),
	}, t.variables...)
	stdout := Must(cmd.StdoutPipe())
	Expect(cmd.Start()).To(Succeed())
	// If a check fails, the shell reads the end of the pipe and exits.
	defer resume.Close()
	output := bufio.NewScanner(stdout)
	for i, s := range t.sections {
		By(s.heading)
		out, found := until(output, mark(i))
		Expect(found).To(BeTrue(), func() string {
			return fmt.Sprintf("the commands end with %v\nstdout:\n%s\nstderr:\n%s", cmd.Wait(), out, stderr.String())
		})
		for _, secret := range Secrets() {
			Expect(strings.Contains(out, secret)).To(BeFalse(), "a secret is shown")
		}
		if f := look[s.heading]; f != nil {
			f(out)
			delete(look, s.heading)
		}
		Must(fmt.Fprintln(resume))
	}
	Expect(cmd.Wait()).To(Succeed(), stderr.String)
	Expect(look).To(BeEmpty(), "there are no commands below these headings")
}

// mark returns the line that the script prints at the end of a section.
func mark(section int) string { return fmt.Sprintf("=== end of section %d ===", section) }

// until returns the lines before the given one, and reports whether that line was read.
func until(output *bufio.Scanner, line string) (string, bool) {
	var out strings.Builder
	for output.Scan() {
		if output.Text() == line {
			return out.String(), true
		}
		_, _ = fmt.Fprintln(&out, output.Text())
	}
	return out.String(), false
}

// digestsIn returns the lines of an output that are digests.
func digestsIn(out string) []string {
	return slices.DeleteFunc(Lines(out), func(line string) bool { return !strings.HasPrefix(line, "sha256:") })
}

// greeter returns the Deployment of the module of the tutorial.
func greeter(ctx context.Context, e *Environment) (*appsv1.Deployment, error) {
	d := &appsv1.Deployment{}
	return d, e.TargetClient.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: tutorialModule}, d)
}

// haveReplicas matches a Deployment with n desired and n available replicas.
func haveReplicas(n int32) types.GomegaMatcher {
	return SatisfyAll(HaveField("Spec.Replicas", HaveValue(Equal(n))), HaveField("Status.AvailableReplicas", n))
}

// tutorialObjects returns the objects of the module of the tutorial in the target.
func tutorialObjects(ctx context.Context, e *Environment) ([]string, error) {
	var found []string
	records := &corev1.SecretList{}
	// Other specs install modules in this namespace, too.
	selector := client.MatchingLabels{"owner": "helm", "name": tutorialModule}
	if err := e.TargetClient.List(ctx, records, client.InNamespace(metav1.NamespaceDefault), selector); err != nil {
		return nil, err
	}
	for i := range records.Items {
		found = append(found, "Secret "+records.Items[i].Name)
	}
	for kind, name := range map[schema.GroupVersionKind]client.ObjectKey{
		appsv1.SchemeGroupVersion.WithKind("Deployment"):                        {Namespace: metav1.NamespaceDefault, Name: tutorialModule},
		apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"): {Name: tutorialCRD},
	} {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(kind)
		err := e.TargetClient.Get(ctx, name, o)
		if err == nil {
			found = append(found, kind.Kind+" "+name.Name)
		}
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
	}
	return found, nil
}

// uploads returns the number of requests to the registry that sent data.
func uploads() int {
	n := 0
	for _, r := range Env.Registry.Requests() {
		if r.Method == http.MethodPut || r.Method == http.MethodPost || r.Method == http.MethodPatch {
			n++
		}
	}
	return n
}
