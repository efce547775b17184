// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// exitExists is the exit code of kymactl if something belongs to another owner.
const exitExists = 5

// A program is a command line with a kubeconfig and without the user's configuration.
type program struct {
	path string
	env  []string
}

// run runs the program with a text on stdin, and returns stdout, stderr and the exit code.
func (p program) run(ctx context.Context, in string, args ...string) (out, said string, code int) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.env, strings.NewReader(in), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		code = max(cmd.ProcessState.ExitCode(), 1)
	}
	return stdout.String(), stderr.String(), code
}

func (p program) mustRun(t *testing.T, in string, args ...string) string {
	t.Helper()
	out, said, code := p.run(t.Context(), in, args...)
	if code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", filepath.Base(p.path), strings.Join(args, " "), code, out, said)
	}
	return out
}

// versions returns the resource versions of the objects that kymactl installs with these flags.
func (p program) versions(t *testing.T, kubectl program, install []string) string {
	t.Helper()
	return kubectl.mustRun(t, p.mustRun(t, "", append(slices.Clone(install), "--export")...),
		"get", "-f", "-", "-o", "custom-columns=KIND:.kind,NAME:.metadata.name,VERSION:.metadata.resourceVersion,GENERATION:.metadata.generation")
}

// TestKymactlInstall installs and upgrades the provider with the kymactl binary in a real control plane, and checks that it stays away from
// a Helm release.
func TestKymactlInstall(t *testing.T) {
	dir := t.TempDir()
	path, err := controlplane.BuildKymactl(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	c, admin := start(t)
	h := newHelm(t)
	h.env = append(h.env, "KUBECONFIG="+c.KubeconfigFile())
	kymactl := program{path: path, env: h.env}
	kubectl := program{env: h.env}
	if kubectl.path, err = tools.Path(t.Context(), tools.Kubectl); err != nil {
		t.Fatal(err)
	}
	crds := filepath.Join(h.chart, "..", "..", "package", "crds")
	base := []string{"install", "--namespace", namespace, "--image=registry.example.org/kyma:v1"}

	// With kubectl, as a GitOps tool would.
	kubectl.mustRun(t, kymactl.mustRun(t, "", append(slices.Clone(base), "--export")...), "apply", "--server-side", "-f", "-")
	kubectl.mustRun(t, "", "rollout", "status", "deployment/"+release, "-n", namespace, "--timeout=5m")
	checkRunning(t, admin, 2)
	checkKinds(t, admin, crds)

	// kymactl takes over, in one command, and the cluster manages itself.
	inCluster := append(slices.Clone(base), "--in-cluster")
	kymactl.mustRun(t, "", inCluster...)
	checkRunning(t, admin, 2)
	before := kymactl.versions(t, kubectl, inCluster)
	for line := range strings.Lines(kymactl.mustRun(t, "", inCluster...)) {
		if !strings.HasSuffix(line, " unchanged\n") {
			t.Errorf("a second installation: want everything unchanged, got %q", line)
		}
	}
	if diff := cmp.Diff(before, kymactl.versions(t, kubectl, inCluster)); diff != "" {
		t.Errorf("a second installation changes objects: -before, +after:\n%s", diff)
	}
	kymactl.mustRun(t, "", "deploy", "-n", namespace, "--provider-config=in-cluster", "--provider-timeout=0")
	kyma := &v1alpha1.Kyma{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "default"}, kyma); err != nil {
		t.Fatal(err)
	}

	// An upgrade waits for the new replicas, and deletes what is switched off. kubectl still owns the fields that it has set.
	change := append(slices.Clone(inCluster), "--set=replicas=3,networkPolicy.enabled=false,inCluster.clusterRole=view")
	const conflict = `Deployment kyma/provider-kyma: field spec.replicas is owned by "kubectl"; use --force-conflicts`
	if _, said, code := kymactl.run(t.Context(), "", change...); code != exitExists || !strings.Contains(said, conflict) {
		t.Errorf("want exit code %d and %q, got %d and %q", exitExists, conflict, code, said)
	}
	upgraded := kymactl.mustRun(t, "", append(change, "--force-conflicts")...)
	for _, want := range []string{
		"networkpolicy.networking.k8s.io/" + release + " deleted\n",
		"clusterrolebinding.rbac.authorization.k8s.io/" + release + "-modules-cluster-admin deleted\n",
	} {
		if !strings.Contains(upgraded, want) {
			t.Errorf("want %q, got\n%s", want, upgraded)
		}
	}
	checkRunning(t, admin, 3)
	checkRefusals(t, kymactl, kubectl, h, admin, base)
}

// checkRefusals replaces the installation with a Helm release, which kymactl must not change.
func checkRefusals(t *testing.T, kymactl, kubectl program, h helm, admin client.Client, base []string) {
	t.Helper()
	objects := kymactl.mustRun(t, "", append(slices.Clone(base), "--export", "--skip-crds", "--in-cluster", "--set=inCluster.clusterRole=view")...)
	kubectl.mustRun(t, "", "delete", "kymas.kyma.m.crossplane.io", "--all", "-A", "--wait=false")
	kubectl.mustRun(t, objects, "delete", "-f", "-", "--ignore-not-found", "--timeout=5m")
	err := admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: release}, &appsv1.Deployment{})
	if !kerrors.IsNotFound(err) {
		t.Fatalf("the Deployment is left: %v", err)
	}
	if err := admin.Get(t.Context(), client.ObjectKey{Name: release + "-modules-view"}, &rbacv1.ClusterRoleBinding{}); !kerrors.IsNotFound(err) {
		t.Fatalf("the binding is left: %v", err)
	}
	h.mustRun(t, "install", "mine", h.chart, "--namespace", namespace, "--create-namespace", "--skip-crds", "--wait", "--timeout=5m")
	for _, args := range [][]string{base, append(slices.Clone(base), "--force-conflicts"), {"install", "--image=registry.example.org/kyma:v1"}} {
		out, said, code := kymactl.run(t.Context(), "", args...)
		want := "Error: Deployment kyma/mine belongs to Helm release mine: upgrade it with 'helm upgrade mine CHART --namespace kyma'\n"
		if code != exitExists || said != want || out != "" {
			t.Errorf("kymactl %s beside a Helm release: want exit code %d and %q, got %d, %q and %q", args, exitExists, want, code, said, out)
		}
	}
	if left := kubectl.mustRun(t, "", "get", "deployments", "-A", "-l", "app.kubernetes.io/managed-by=kymactl", "-o", "name"); left != "" {
		t.Errorf("kymactl installed something beside a Helm release: %s", left)
	}
}
