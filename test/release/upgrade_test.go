// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// previous is the version of the release that is upgraded.
const previous = "v0.0.9"

// since is the commit or tag of the previous release. See make test-upgrade.
var since = flag.String("since", "", "commit or tag from which the previous release is built (default: the same source as the release)")

// controllers are the controllers of modules, with the numbers of their objects in this test.
var controllers = map[string]int{"kyma": 1, "manifest": len(modules)}

// A module is a module of the demo.
type module struct {
	deployment types.NamespacedName
	// resource and sample are the kind and the name of its custom resource.
	resource schema.GroupVersionResource
	sample   types.NamespacedName
}

// modules are the modules in the target, by their directories in cluster/local/modules.
var modules = map[string]module{
	"greeter": {
		deployment: types.NamespacedName{Namespace: "default", Name: "greeter"},
		resource:   schema.GroupVersionResource{Group: "demo.example.org", Version: "v1", Resource: "greetings"},
		sample:     types.NamespacedName{Namespace: "default", Name: "greeter"},
	},
	"template-operator": {
		deployment: types.NamespacedName{Namespace: "template-operator-system", Name: "template-operator-controller-manager"},
		resource:   schema.GroupVersionResource{Group: "operator.kyma-project.io", Version: "v1alpha1", Resource: "samples"},
		sample:     types.NamespacedName{Namespace: "default", Name: "sample-yaml"},
	},
}

// upgraded checks that Crossplane installs the previous release from its registry, and that an upgrade to the release changes nothing in
// a cluster in which modules run.
func upgraded(t *testing.T, w *world) {
	log.SetLogger(logr.Discard())
	w.releasePrevious(t)
	i := newInstallation(t, w)
	before := i.install(t, previous)
	i.enable(t)
	objects, written := i.target.settle(t)
	if pods := countOf(objects, "pods "); pods != len(modules) || written == 0 {
		t.Fatalf("want %d pods and some writes in the target, got %d pods and %d writes:\n%v", len(modules), pods, written, objects)
	}
	read := len(i.target.requests(t))

	after := i.install(t, version)
	if after.Deployment == before.Deployment || before.Process.Err() != nil {
		t.Errorf("Deployment %s replaced %s, which ended with error %v", after.Deployment, before.Deployment, before.Process.Err())
	}
	i.awaitReconciled(t)
	now, writes := i.target.settle(t)
	if diff := cmp.Diff(objects, now); diff != "" {
		t.Errorf("the upgrade changed objects in the target: -before, +after:\n%s", diff)
	}
	if writes != written {
		t.Errorf("the upgrade sent %d writes to the target: %q", writes-written, i.target.writes(t)[written:])
	}
	if len(i.target.requests(t)) == read {
		t.Error("the new version sent no request to the target, so the test proves nothing")
	}

	// The same measurements must notice a change, and the new version must revert it.
	i.target.scale(t, modules["greeter"].deployment)
	err := process.Wait{What: "the new version reverts a change"}.Until(t.Context(), func(context.Context) (bool, string, error) {
		n := len(i.target.writes(t)) - written
		return n > 0, fmt.Sprintf("%d writes", n), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if now, _ = i.target.settle(t); cmp.Equal(objects, now) {
		t.Error("the objects do not show the change, so the test proves nothing")
	}
}

// releasePrevious builds the previous release and pushes it to the same registry.
func (w *world) releasePrevious(t *testing.T) {
	t.Helper()
	program, source := w.program, ""
	if *since != "" {
		program, source = programOf(t, *since)
	}
	build(t, program, source, previous, "-registry", w.base)
}

// programOf builds the program that builds releases at a commit, and returns its path and the directory of its source.
func programOf(t *testing.T, commit string) (program, source string) {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	source, program = filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "release")
	commit = command(t, root, "git", "rev-parse", "--verify", "--end-of-options", commit+"^{commit}")
	command(t, root, "git", "clone", "--quiet", "--shared", "--no-checkout", root, source)
	command(t, source, "git", "checkout", "--quiet", "--detach", commit)
	// It may need another version of the command line of Crossplane.
	command(t, source, "go", "run", "./cluster/tools/cmd/tools", "build", string(tools.Crank))
	if err := tools.Compile(t.Context(), tools.Program{Dir: source, Package: "./cluster/release", Output: program}); err != nil {
		t.Fatal(err)
	}
	return program, source
}

// command runs a command that must succeed in a directory, with the environment of this test, and returns its output.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// An installation is Crossplane in a control plane, and a target. It installs the packages of a registry.
type installation struct {
	w          *world
	control    *controlplane.Cluster
	client     client.Client
	target     *target
	crossplane *crossplane.Crossplane
	// kymactl is the path of the program of the release, and metrics the address of the metrics of the provider.
	kymactl, metrics string
}

func newInstallation(t *testing.T, w *world) *installation {
	t.Helper()
	i := &installation{w: w, kymactl: filepath.Join(w.unpack(t), "kymactl")}
	options, err := crossplane.ClusterOptions(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	targetOptions := audited(t)
	clusters, err := controlplane.StartAll(t.Context(), options, targetOptions)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clusters {
		t.Cleanup(c.Stop)
	}
	i.control, i.target = clusters[0], newTarget(t, clusters[1])
	i.crossplane, err = crossplane.Start(t.Context(), crossplane.Options{Cluster: i.control, Registry: w.registry, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.crossplane.Stop)
	if i.client, err = i.control.Client(); err != nil {
		t.Fatal(err)
	}
	if err := pkgv1beta1.SchemeBuilder.AddToScheme(i.client.Scheme()); err != nil {
		t.Fatal(err)
	}
	port, err := process.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i.metrics = net.JoinHostPort(process.Loopback, strconv.Itoa(port))
	if err := i.client.Create(t.Context(), runtimeConfig("--metrics-bind-address="+i.metrics)); err != nil {
		t.Fatal(err)
	}
	return i
}

// runtimeConfig returns the runtime of the provider, with arguments and a fixed ServiceAccount, as in examples/provider. With it, the
// previous version still has its permissions when it ends, and can release its lease.
func runtimeConfig(args ...string) *pkgv1beta1.DeploymentRuntimeConfig {
	c := &pkgv1beta1.DeploymentRuntimeConfig{ObjectMeta: metav1.ObjectMeta{Name: provider}}
	c.Spec.ServiceAccountTemplate = &pkgv1beta1.ServiceAccountTemplate{Metadata: &pkgv1beta1.ObjectMeta{Name: new(provider)}}
	c.Spec.DeploymentTemplate = &pkgv1beta1.DeploymentTemplate{Spec: &appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "package-runtime", Args: args}}}},
	}}
	return c
}

// install installs a version of the provider, or upgrades it, as users do, and returns its process.
func (i *installation) install(t *testing.T, version string) crossplane.Pod {
	t.Helper()
	name := crossplane.ObjectName(crossplane.ProviderPackage)
	args := []string{"xpkg", "install", "provider", i.w.base + "/" + provider + ":" + version, name, "--runtime-config=" + provider}
	if version != previous {
		args = []string{"xpkg", "update", "provider", i.w.base + "/" + provider + ":" + version, name}
	}
	if _, err := i.crossplane.Crank(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
	if err := i.crossplane.AwaitInstalled(t.Context(), crossplane.ProviderPackage, nil); err != nil {
		t.Fatal(err)
	}
	pod, err := i.crossplane.AwaitPod(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i.await(t, "version "+version, func(m metrics) string {
		if m.sum("provider_kyma_build_info", `version="`+version+`"`) == 1 {
			return ""
		}
		return fmt.Sprintf("%v", m)
	})
	return pod
}

// enable packs modules with the released kymactl, and enables them in the target.
func (i *installation) enable(t *testing.T) {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	control := []string{"--kubeconfig", i.control.KubeconfigFile(), "--namespace", "team-a"}
	deploy := append([]string{"deploy", "--skip-crds", "--kyma", "cluster-a", "--target-kubeconfig", i.target.kubeconfig}, control...)
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		file := func(extension string) string { return filepath.Join(dir, name+extension) }
		i.do(t, "module", "create", filepath.Join(root, "cluster", "local", "modules", name), "-o", file(".tar"))
		reference := i.do(t, "module", "push", file(".tar"), i.w.registry.Host()+"/modules", "-o", "jsonpath={.repository}:{.tag}")
		i.do(t, "module", "template", reference, "-o", file(".yaml"))
		deploy = append(deploy, "--template", file(".yaml"), "--module", name)
	}
	i.do(t, deploy...)
	i.target.report(t)
	i.do(t, append([]string{"wait", "cluster-a"}, control...)...)
}

// do runs the released kymactl, which must succeed.
func (i *installation) do(t *testing.T, args ...string) string {
	t.Helper()
	out, err := execute(t.Context(), t.TempDir(), i.kymactl, args...)
	if err != nil {
		t.Fatalf("kymactl %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(out)
}

// awaitReconciled waits until the running version has reconciled each Kyma and each Manifest.
func (i *installation) awaitReconciled(t *testing.T) {
	t.Helper()
	i.await(t, "all modules are reconciled", func(m metrics) string {
		for kind, count := range controllers {
			done := m.sum("controller_runtime_reconcile_total", `controller="managed/`+kind+`.kyma.m.crossplane.io"`)
			if done < float64(count) {
				return fmt.Sprintf("%v reconciles of %s", done, kind)
			}
		}
		return ""
	})
}

// await waits until the metrics of the provider lack nothing.
func (i *installation) await(t *testing.T, what string, lacks func(metrics) string) {
	t.Helper()
	err := process.Wait{What: what, Broken: i.crossplane.Broken}.Until(t.Context(), func(ctx context.Context) (bool, string, error) {
		m, err := scrape(ctx, i.metrics)
		seen := lacks(m)
		return seen == "", seen, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// metrics are the samples of a scrape, by their names and labels.
type metrics map[string]float64

func scrape(ctx context.Context, address string) (metrics, error) {
	text, err := process.Get(ctx, http.DefaultClient, "http://"+address+"/metrics")
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the metrics")
	}
	m := metrics{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				m[name] = v
			}
		}
	}
	return m, nil
}

// sum returns the sum of the samples of a metric with a label.
func (m metrics) sum(name, label string) float64 {
	total := 0.0
	for sample, v := range m {
		if strings.HasPrefix(sample, name+"{") && strings.Contains(sample, label) {
			total += v
		}
	}
	return total
}
