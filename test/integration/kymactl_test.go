// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// Exit codes as scripts know them.
const (
	exitFailure  = 1
	exitUsage    = 2
	exitNotFound = 3
	exitExists   = 5
	exitTimeout  = 6
)

// kymaName is the name that kymactl gives a Kyma, unless it is told another one.
const kymaName = "default"

// A person uses kymactl: as a process with a home, a directory for temporary files and a working directory of its own, and
// without any other program in its path.
type person struct {
	s   *space
	dir string
	// outputs are what -o has named.
	outputs []string
}

// person of the space: the namespace of the kubeconfig is that of the space. At the end of the spec nothing may be left of
// the runs of kymactl but what -o has named.
func (s *space) person() *person {
	GinkgoHelper()
	p := &person{s: s, dir: GinkgoT().TempDir()}
	for _, folder := range []string{"home", "tmp", "work", "path", "input"} {
		Expect(os.Mkdir(p.path(folder), 0o700)).To(Succeed())
	}
	config := must(clientcmd.Load(env.control.Kubeconfig()))
	config.Contexts[config.CurrentContext].Namespace = s.name
	Expect(clientcmd.WriteToFile(*config, p.path("control.kubeconfig"))).To(Succeed())
	DeferCleanup(func() {
		for folder, want := range map[string][]string{"home": nil, "tmp": nil, "work": p.outputs} {
			names := []string{}
			for _, e := range must(os.ReadDir(p.path(folder))) {
				names = append(names, e.Name())
			}
			Expect(names).To(ConsistOf(want), folder)
		}
	})
	return p
}

// bareSpace is a space whose namespace in the control plane does not exist yet, and neither does a ProviderConfig.
func bareSpace(ctx context.Context) *space {
	GinkgoHelper()
	s := &space{name: fmt.Sprintf("spec-%08x", rand.Uint32())}
	Expect(env.targetClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}})).To(Succeed())
	DeferCleanup(s.clean)
	return s
}

func (p *person) path(name string) string { return filepath.Join(p.dir, name) }

// input is the path of a file that another client wrote.
func (p *person) input(name string, content []byte) string {
	GinkgoHelper()
	path := filepath.Join(p.path("input"), name)
	Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
	Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
	return path
}

// output is a name for -o, in the working directory.
func (p *person) output(name string) string {
	p.outputs = append(p.outputs, name)
	return name
}

// A run of kymactl that has ended.
type run struct {
	args           []string
	code           int
	stdout, stderr string
}

func (r run) String() string {
	return fmt.Sprintf("kymactl %s: exit code %d\nstdout:\n%s\nstderr:\n%s", strings.Join(r.args, " "), r.code, r.stdout, r.stderr)
}

// run kymactl. The error is for what is not its own.
func (p *person) run(ctx context.Context, stdin string, args ...string) (run, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, env.kymactl, args...)
	cmd.Dir = p.path("work")
	cmd.Env = []string{
		"HOME=" + p.path("home"), "TMPDIR=" + p.path("tmp"), "PATH=" + p.path("path"), "KUBECONFIG=" + p.path("control.kubeconfig"),
		// The race detector would sleep for a second at the end of each run.
		"GORACE=atexit_sleep_ms=0",
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	r := run{args: args, code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return r, err
	}
	for _, s := range secrets() {
		if strings.Contains(r.stdout, s) || strings.Contains(r.stderr, s) {
			return run{args: args}, errors.Errorf("kymactl %s shows a secret", strings.Join(args, " "))
		}
	}
	return r, nil
}

// secrets of the kubeconfigs, in all forms that they have.
func secrets() []string {
	var all []string
	for _, data := range [][]byte{env.control.Kubeconfig(), env.target.Kubeconfig()} {
		config, err := clientcmd.Load(data)
		if err != nil {
			continue
		}
		for _, user := range config.AuthInfos {
			all = append(all, base64.StdEncoding.EncodeToString(user.ClientKeyData)[:64])
			// The first line of a PEM file says what it is.
			all = append(all, strings.Split(string(user.ClientKeyData), "\n")[1])
		}
		all = append(all, base64.StdEncoding.EncodeToString(data)[:64])
	}
	return all
}

// ok runs kymactl, which must succeed, and returns what it wrote to stdout.
func (p *person) ok(ctx context.Context, args ...string) string {
	GinkgoHelper()
	return p.okWith(ctx, "", args...)
}

// okWith is ok with something on stdin.
func (p *person) okWith(ctx context.Context, stdin string, args ...string) string {
	GinkgoHelper()
	r := must(p.run(ctx, stdin, args...))
	Expect(r.code).To(Equal(0), r.String)
	Expect(r.stderr).NotTo(MatchRegexp(`(?m)^Error: `), r.String)
	return r.stdout
}

// fails runs kymactl, which must exit with a code and say why, in one line that has all these parts.
func (p *person) fails(ctx context.Context, code int, why []string, args ...string) run {
	GinkgoHelper()
	r := must(p.run(ctx, "", args...))
	Expect(r.code).To(Equal(code), r.String)
	Expect(regexp.MustCompile(`(?m)^Error: .*$`).FindAllString(r.stderr, -1)).To(HaveExactElements(containAll(why)), r.String)
	return r
}

// kubectl runs kubectl as someone who does not know of kymactl.
func (p *person) kubectl(ctx context.Context, stdin string, args ...string) {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, must(tools.Path(ctx, tools.Kubectl)), append([]string{"--kubeconfig", p.path("control.kubeconfig")}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

// target is the path of the kubeconfig of the target.
func (p *person) target() string { return p.input("target.kubeconfig", env.target.Kubeconfig()) }

// makeModule makes a version of an offered module with kymactl, pushes it, and returns the path of its ModuleTemplate for a
// channel.
func (p *person) makeModule(ctx context.Context, o *offer, channel, version string) string {
	GinkgoHelper()
	folder := o.name + "-" + version
	definition := fmt.Sprintf("name: example.org/module/%[1]s\nversion: %[2]s\nlabels: {%[3]s: %[4]s}\ncharts: [{name: %[1]s, path: chart}]\n",
		o.name, version, labelSpec, o.s.name)
	for name, content := range o.chart(version).files {
		p.input(filepath.Join(folder, "chart", name), content)
	}
	if o.operated {
		p.input(filepath.Join(folder, "crds", "widgets.yaml"), o.component(version).Resources[1].Files["widgets.yaml"])
		cr := must(yaml.Marshal(values{
			"apiVersion": o.group() + "/v1", "kind": "Widget", "metadata": values{"name": o.name, "namespace": o.s.name}, "spec": values{"size": "small"},
		}))
		p.input(filepath.Join(folder, "default.yaml"), cr)
		definition += "crds: [crds]\ndefaultCustomResource: default.yaml\n"
	}
	path := filepath.Dir(p.input(filepath.Join(folder, "module.yaml"), []byte(definition)))
	layout := p.output(folder + ".tar")
	made := lines(p.ok(ctx, "module", "create", path, "-o", layout))
	pushed := lines(p.ok(ctx, "module", "push", layout, env.registry.Host()+"/"+modulesRepository))
	Expect(pushed[len(pushed)-1]).To(Equal(made[len(made)-1]), "the digest")
	template := p.output(folder + ".yaml")
	p.ok(ctx, "module", "template", pushed[len(pushed)-2], "--channel", channel, "-o", template)
	return filepath.Join(p.path("work"), template)
}

// lines of a text.
func lines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// parsed JSON, with nothing before or after it.
func parsed[T any](text string) T {
	GinkgoHelper()
	var out T
	Expect(json.Unmarshal([]byte(text), &out)).To(Succeed(), text)
	return out
}

// resourceVersions are those of what the space has in the control plane, and of our CRDs. Events are left
// out.
func (s *space) resourceVersions(ctx context.Context) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	note := func(gvk schema.GroupVersionKind, options ...client.ListOption) {
		GinkgoHelper()
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		Expect(env.controlClient.List(ctx, list, options...)).To(Succeed())
		for i := range list.Items {
			out[gvk.Kind+"/"+list.Items[i].GetName()] = list.Items[i].GetResourceVersion()
		}
	}
	own := client.InNamespace(s.name)
	for _, kind := range []string{v1alpha1.KymaKind, v1alpha1.ManifestKind, v1alpha1.ProviderConfigKind} {
		note(v1alpha1.SchemeGroupVersion.WithKind(kind), own)
	}
	note(corev1.SchemeGroupVersion.WithKind("Secret"), own)
	note(v1alpha1.ModuleTemplateGroupVersionKind, client.MatchingLabels{labelSpec: s.name})
	note(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return out
}

// settled are the resource versions once the provider has done its part, so that whatever changes from then on was changed
// by the spec.
func (s *space) settled(ctx context.Context) map[string]string {
	GinkgoHelper()
	var last map[string]string
	Eventually(func(g Gomega) {
		before := last
		last = s.resourceVersions(ctx)
		g.Expect(last).To(Equal(before))
	}).WithContext(ctx).WithPolling(2 * interval).Should(Succeed())
	return last
}

// wantModules matches a Kyma whose spec names these modules, in any order.
func wantModules(names ...string) types.GomegaMatcher {
	return WithTransform(func(k *v1alpha1.Kyma) []string {
		out := []string{}
		for i := range k.Spec.ForProvider.Modules {
			out = append(out, k.Spec.ForProvider.Modules[i].Name)
		}
		return out
	}, ConsistOf(names))
}

// exists says whether an object of the control plane is there.
func exists(ctx context.Context, o client.Object) bool {
	GinkgoHelper()
	err := env.controlClient.Get(ctx, client.ObjectKeyFromObject(o), o)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}

// named is an object of the space by its name, without anything else.
func named[T client.Object](s *space, o T, name string) T {
	must(kmeta.Accessor(o)).SetNamespace(s.name)
	o.SetName(name)
	return o
}
