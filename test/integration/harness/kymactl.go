// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// AtOnce runs kymactl once for each name, all at the same time. All runs must succeed.
func (p *Person) AtOnce(ctx context.Context, names []string, args ...string) {
	GinkgoHelper()
	var g errgroup.Group
	runs := make([]Run, len(names))
	for i, name := range names {
		g.Go(func() error {
			var err error
			runs[i], err = p.Run(ctx, "", append(slices.Clone(args), name)...)
			return err
		})
	}
	Expect(g.Wait()).To(Succeed())
	Expect(runs).To(HaveEach(WithTransform(func(r Run) int { return r.code }, BeZero())))
}

// A Person runs kymactl as a process with its own home directory, directory for temporary files and working directory, and with
// no other program in PATH.
type Person struct {
	s   *Space
	dir string
	// outputs lists the files named with -o.
	outputs []string
}

// NewPerson returns a Person whose kubeconfig has the namespace of the space. At the end of the spec, the runs of kymactl must
// have left no files but those named with -o.
func NewPerson(s *Space) *Person {
	GinkgoHelper()
	p := &Person{s: s, dir: GinkgoT().TempDir()}
	for _, dir := range []string{"home", "tmp", "work", "path", "input"} {
		Expect(os.Mkdir(p.Path(dir), 0o700)).To(Succeed())
	}
	config := Must(clientcmd.Load(Env.Control.Kubeconfig()))
	config.Contexts[config.CurrentContext].Namespace = s.Name
	Expect(clientcmd.WriteToFile(*config, p.Path("control.kubeconfig"))).To(Succeed())
	DeferCleanup(func() {
		for dir, want := range map[string][]string{"home": nil, "tmp": nil, "work": p.outputs} {
			names := []string{}
			for _, e := range Must(os.ReadDir(p.Path(dir))) {
				names = append(names, e.Name())
			}
			Expect(names).To(ConsistOf(want), dir)
		}
	})
	return p
}

func (p *Person) Path(name string) string { return filepath.Join(p.dir, name) }

// Input writes a file as another client would, and returns its path.
func (p *Person) Input(name string, content []byte) string {
	GinkgoHelper()
	path := filepath.Join(p.Path("input"), name)
	Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
	Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
	return path
}

// Output registers and returns the name of a file for -o, in the working directory.
func (p *Person) Output(name string) string {
	p.outputs = append(p.outputs, name)
	return name
}

// A Run is a finished run of kymactl.
type Run struct {
	args           []string
	code           int
	Stdout, Stderr string
}

func (r Run) String() string {
	return fmt.Sprintf("kymactl %s: exit code %d\nstdout:\n%s\nstderr:\n%s", strings.Join(r.args, " "), r.code, r.Stdout, r.Stderr)
}

// Run runs kymactl and waits until it exits. It returns an error if kymactl cannot be run or shows a secret, but not for an
// exit code.
func (p *Person) Run(ctx context.Context, stdin string, args ...string) (Run, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, Env.Kymactl, args...)
	cmd.Dir = p.Path("work")
	cmd.Env = []string{
		"HOME=" + p.Path("home"), "TMPDIR=" + p.Path("tmp"), "PATH=" + p.Path("path"), "KUBECONFIG=" + p.Path("control.kubeconfig"),
		// The race detector would sleep for a second at the end of each run.
		"GORACE=atexit_sleep_ms=0",
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	r := Run{args: args, code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return r, err
	}
	for _, s := range Secrets() {
		if strings.Contains(r.Stdout, s) || strings.Contains(r.Stderr, s) {
			return Run{args: args}, errors.Errorf("kymactl %s shows a secret", strings.Join(args, " "))
		}
	}
	return r, nil
}

// Secrets returns the texts by which a client key or a kubeconfig is recognized in an output, plain or in base64.
func Secrets() []string {
	var all []string
	for _, data := range [][]byte{Env.Control.Kubeconfig(), Env.Target.Kubeconfig()} {
		config, err := clientcmd.Load(data)
		if err != nil {
			continue
		}
		for _, user := range config.AuthInfos {
			all = append(all, base64.StdEncoding.EncodeToString(user.ClientKeyData)[:64])
			// The first line of a PEM file is its type.
			all = append(all, strings.Split(string(user.ClientKeyData), "\n")[1])
		}
		all = append(all, base64.StdEncoding.EncodeToString(data)[:64])
	}
	return all
}

// Ok runs kymactl, which must succeed, and returns its stdout.
func (p *Person) Ok(ctx context.Context, args ...string) string {
	GinkgoHelper()
	return p.okWith(ctx, "", args...)
}

// okWith runs kymactl like Ok, with a text on stdin.
func (p *Person) okWith(ctx context.Context, stdin string, args ...string) string {
	GinkgoHelper()
	r := Must(p.Run(ctx, stdin, args...))
	Expect(r.code).To(Equal(0), r.String)
	Expect(r.Stderr).NotTo(MatchRegexp(`(?m)^Error: `), r.String)
	return r.Stdout
}

// Fails runs kymactl, which must exit with a code and print one error line that contains all parts of why.
func (p *Person) Fails(ctx context.Context, code int, why []string, args ...string) Run {
	GinkgoHelper()
	r := Must(p.Run(ctx, "", args...))
	Expect(r.code).To(Equal(code), r.String)
	Expect(regexp.MustCompile(`(?m)^Error: .*$`).FindAllString(r.Stderr, -1)).To(HaveExactElements(ContainAll(why)), r.String)
	return r
}

// Kubectl runs kubectl against the control plane, as a user who does not know kymactl.
func (p *Person) Kubectl(ctx context.Context, stdin string, args ...string) {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, Must(tools.Path(ctx, tools.Kubectl)), append([]string{"--kubeconfig", p.Path("control.kubeconfig")}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

// Target writes the kubeconfig of the target to a file, and returns its path.
func (p *Person) Target() string { return p.Input("target.kubeconfig", Env.Target.Kubeconfig()) }

// MakeModule creates a version of an offered module with kymactl, pushes it, and returns the path of its ModuleTemplate for a
// channel.
func (p *Person) MakeModule(ctx context.Context, o *Offer, channel, version string) string {
	GinkgoHelper()
	dir := o.Name + "-" + version
	moduleYAML := fmt.Sprintf("name: example.org/module/%[1]s\nversion: %[2]s\nlabels: {%[3]s: %[4]s}\ncharts: [{name: %[1]s, path: chart}]\n",
		o.Name, version, LabelSpec, o.s.Name)
	for name, content := range o.Chart(version).Files {
		p.Input(filepath.Join(dir, "chart", name), content)
	}
	if o.operated {
		p.Input(filepath.Join(dir, "crds", "widgets.yaml"), o.Component(version).Resources[1].Files["widgets.yaml"])
		cr := Must(yaml.Marshal(Values{
			"apiVersion": o.Group() + "/v1", "kind": "Widget", "metadata": Values{"name": o.Name, "namespace": o.s.Name}, "spec": Values{"size": "small"},
		}))
		p.Input(filepath.Join(dir, "default.yaml"), cr)
		moduleYAML += "crds: [crds]\ndefaultCustomResource: default.yaml\n"
	}
	path := filepath.Dir(p.Input(filepath.Join(dir, "module.yaml"), []byte(moduleYAML)))
	layout := p.Output(dir + ".tar")
	made := Lines(p.Ok(ctx, "module", "create", path, "-o", layout))
	pushed := Lines(p.Ok(ctx, "module", "push", layout, Env.Registry.Host()+"/"+ModulesRepository))
	Expect(pushed[len(pushed)-1]).To(Equal(made[len(made)-1]), "the digest")
	template := p.Output(dir + ".yaml")
	p.Ok(ctx, "module", "template", pushed[len(pushed)-2], "--channel", channel, "-o", template)
	return filepath.Join(p.Path("work"), template)
}

// Lines splits a text into lines, without the empty ones at its end.
func Lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }
