// SPDX-License-Identifier: Apache-2.0

package kyma_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/cli"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// One server for all tests of commands about Kymas, including those of packages module and manifest, because starting it is slow.
// There is no provider: the tests set the status that it would report.
var (
	server *controlplane.Cluster
	admin  client.WithWatch
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{Name: "kyma"}, setUp))
}

func setUp(ctx context.Context, c *controlplane.Cluster) error {
	server = c
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if err := c.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}
	if admin, err = c.Client(); err != nil {
		return err
	}
	for _, version := range []string{"regular 1.0.0", "fast 2.0.0", "broken "} {
		channel, version, _ := strings.Cut(version, " ")
		for i := range 20 {
			if err := offer(ctx, fmt.Sprintf("m%d", i), channel, version); err != nil {
				return err
			}
		}
	}
	return nil
}

// offer creates a ModuleTemplate for a module in a channel. Without a version, its descriptor could not be read.
func offer(ctx context.Context, name, channel, version string) error {
	t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: name + "-" + channel}}
	t.Spec.ModuleName, t.Spec.Channel = name, channel
	t.Spec.Component = &v1alpha1.Component{Repository: "registry.example.org/m", Name: "example.org/" + name, Version: "1.0.0"}
	if err := admin.Create(ctx, t); err != nil {
		return err
	}
	c := xpv2.Condition{Type: v1alpha1.TypeResolved, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonResolved, LastTransitionTime: metav1.Now()}
	if version == "" {
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, v1alpha1.ReasonResolveFailed, "no such registry"
	}
	ready := c
	ready.Type = xpv2.TypeReady
	t.Status.SetConditions(c, ready)
	t.Status.Version, t.Status.ObservedGeneration = version, t.Generation
	if version != "" {
		t.Status.ResolvedGeneration = t.Generation
	}
	return admin.Status().Update(ctx, t)
}

// newKyma creates a Kyma in a new namespace.
func newKyma(t *testing.T, modules ...v1alpha1.Module) *v1alpha1.Kyma {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	if err := admin.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return addKyma(t, n.Name, "k", modules...)
}

func addKyma(t *testing.T, namespace, name string, modules ...v1alpha1.Module) *v1alpha1.Kyma {
	t.Helper()
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	k.Spec.ForProvider.Modules = modules
	if err := admin.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	return k
}

// current returns the current Kyma.
func current(t *testing.T, k *v1alpha1.Kyma) *v1alpha1.Kyma {
	t.Helper()
	out := &v1alpha1.Kyma{}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(k), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// rawOf returns a Kyma with fields that the Go types don't have.
func rawOf(t *testing.T, k *v1alpha1.Kyma) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(v1alpha1.KymaGroupVersionKind)
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(k), u); err != nil {
		t.Fatal(err)
	}
	return u
}

// play simulates the provider: it reports a status for the current spec of the Kyma. The state of the Kyma is the state of the
// last module.
func play(t *testing.T, k *v1alpha1.Kyma, modules ...v1alpha1.ModuleStatus) {
	t.Helper()
	k = current(t, k)
	at := &k.Status.AtProvider
	at.State, at.Message, at.Modules = v1alpha1.StateReady, "", modules
	k.SetConditions(xpv2.Available())
	for _, m := range modules {
		at.State, at.Message = m.State, m.Name+": "+m.Message
	}
	if at.State != v1alpha1.StateReady {
		k.SetConditions(xpv2.Unavailable().WithMessage(at.Message))
	}
	k.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(k.Generation))
	if err := admin.Status().Update(t.Context(), k); err != nil {
		t.Fatal(err)
	}
}

func is(name string, state v1alpha1.State, message string) v1alpha1.ModuleStatus {
	return v1alpha1.ModuleStatus{Name: name, State: state, Message: message, Version: "1.0.0", Channel: "regular", Manifest: "k-" + name}
}

// install creates the Manifest of a module.
func install(t *testing.T, k *v1alpha1.Kyma, module string) *v1alpha1.Manifest {
	t.Helper()
	yes := true
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: k.Namespace, Name: k.Name + "-" + module, Labels: map[string]string{v1alpha1.LabelModuleName: module},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.KymaKind, Name: k.Name, UID: k.UID, Controller: &yes,
		}},
	}}
	m.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: "operator", Source: v1alpha1.Source{
		Type: v1alpha1.SourceTypeHelmChart, URL: "https://charts.example.org", ChartName: "c", Version: "1.0.0",
	}}}
	if err := admin.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// output of a command that can still be running.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// A session is a run of kymactl.
type session struct {
	out, err output
	code     command.ExitCode
	failure  error
	done     chan struct{}
}

// start runs a command in a namespace, in the background.
func start(t *testing.T, in string, timeout time.Duration, namespace string, args ...string) *session {
	t.Helper()
	s := &session{done: make(chan struct{})}
	e := &command.Environment{In: strings.NewReader(in), Out: &s.out, Err: &s.err}
	root := cli.New(e)
	root.SetOut(&s.out)
	root.SetErr(&s.err)
	root.SetArgs(append(args, "--kubeconfig", server.KubeconfigFile(), "-n", namespace))
	if args[0] == cobra.ShellCompRequestCmd {
		root.SetArgs(append([]string{args[0]}, append(strings.Fields(args[1]), "--kubeconfig", server.KubeconfigFile(), "-n", namespace, args[2])...))
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	go func() {
		defer close(s.done)
		defer cancel()
		s.failure = root.ExecuteContext(ctx)
		s.code = command.CodeOf(s.failure)
	}()
	return s
}

// wait returns the exit code after the command has ended.
func (s *session) wait() *session {
	<-s.done
	return s
}

func (s *session) want(t *testing.T, code command.ExitCode, parts ...string) {
	t.Helper()
	s.wait()
	if s.code != code {
		t.Fatalf("want exit code %d, got %d: %v\n%s", code, s.code, s.failure, s.err.String())
	}
	all := fmt.Sprint(s.out.String(), s.err.String(), s.failure)
	for _, p := range parts {
		if !strings.Contains(all, p) {
			t.Errorf("want %q in the output, got\n%s", p, all)
		}
	}
}

// kymactl runs a command and waits for its end.
func kymactl(t *testing.T, namespace string, args ...string) *session {
	t.Helper()
	return start(t, "", time.Minute, namespace, args...).wait()
}

// timeOut checks that a command times out, and its output. On a busy machine, a second can end before the command waits: then the
// command runs again with twice the time.
func timeOut(t *testing.T, namespace, says string, args ...string) {
	t.Helper()
	for timeout := time.Second; ; timeout *= 2 {
		s := start(t, "", timeout, namespace, args...).wait()
		if timeout > long || s.failure != nil && strings.Contains(s.failure.Error(), says) {
			s.want(t, command.ExitTimeout, says)
			return
		}
	}
}

// eventually polls until a condition is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out: %s", what)
		}
	}
}

func (s *session) says(t *testing.T, part string) {
	t.Helper()
	eventually(t, part, func() bool {
		select {
		case <-s.done:
			t.Fatalf("it ended: %v\n%s", s.failure, s.err.String())
		default:
		}
		return strings.Contains(s.err.String(), part)
	})
}

// patch changes an object as another client.
func patch(ctx context.Context, o client.Object, merge string) error {
	return errors.Wrap(admin.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(merge))), "cannot patch")
}
