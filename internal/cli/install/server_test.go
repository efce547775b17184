// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const build = "v1.2.3"

// One control plane for all tests. It has no controllers, and no CRDs at the beginning.
var (
	server *controlplane.Cluster
	admin  client.Client
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(controlplane.RunTests(m, controlplane.Options{Name: "install"}, func(_ context.Context, c *controlplane.Cluster) (err error) {
		server = c
		admin, err = client.New(c.Config(), client.Options{Scheme: runtime.NewScheme()})
		return err
	}))
}

// A result contains the error and the output of a command.
type result struct {
	out, said string
	err       error
}

// run runs the command of a version against the control plane.
func run(t *testing.T, timeout time.Duration, version string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var out, said bytes.Buffer
	c := newCommand(&command.Environment{In: strings.NewReader(""), Out: &out, Err: &said, Timeout: timeout}, version)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(append(args, "--kubeconfig", server.KubeconfigFile()))
	err := c.ExecuteContext(ctx)
	return result{out: out.String(), said: said.String(), err: err}
}

// succeed runs a command that must not fail, without waiting.
func succeed(t *testing.T, args ...string) result {
	t.Helper()
	r := run(t, time.Minute, build, append(args, "--wait=false")...)
	if r.err != nil {
		t.Fatalf("install %s: %v\n%s%s", args, r.err, r.out, r.said)
	}
	return r
}

// actions returns the number of lines of an output, by their action.
func actions(out string) map[string]int {
	all := map[string]int{}
	for l := range strings.Lines(out) {
		_, action, _ := strings.Cut(strings.TrimSpace(l), " ")
		all[action]++
	}
	return all
}

// object returns an object in the namespace of the provider.
func object(version, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(version)
	u.SetKind(kind)
	u.SetNamespace(defaultNamespace)
	u.SetName(name)
	return u
}

func deployment() *unstructured.Unstructured { return object("apps/v1", "Deployment", release) }

// get reads an object, and reports whether it exists.
func get(t *testing.T, u *unstructured.Unstructured) bool {
	t.Helper()
	err := admin.Get(t.Context(), client.ObjectKeyFromObject(u), u)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

// patch changes an object as another client.
func patch(t *testing.T, u *unstructured.Unstructured, data string) {
	t.Helper()
	if err := admin.Patch(t.Context(), u, client.RawPatch(types.MergePatchType, []byte(data)), client.FieldOwner("another")); err != nil {
		t.Fatal(err)
	}
}

// installed returns the resource versions of all objects that the flags install.
func installed(t *testing.T, args ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, u := range exported(t, args...) {
		if !get(t, u) {
			t.Fatalf("%s does not exist", apply.ObjectOf(u).Words())
		}
		out[apply.ObjectOf(u).Words()] = u.GetResourceVersion()
	}
	return out
}

// TestInstallTwice checks that the first run creates what --export prints, that further runs change nothing, and that objects disappear with
// their values.
func TestInstallTwice(t *testing.T) {
	inCluster := []string{"--in-cluster", "--set=kubeStateMetrics.enabled=true"}
	dry := succeed(t, append(inCluster, "--dry-run")...)
	if got := actions(dry.out); len(got) != 1 || got["created (server dry run)"] < 20 {
		t.Errorf("install --dry-run in an empty cluster: want everything created, got\n%s", dry.out)
	}
	if get(t, deployment()) {
		t.Error("install --dry-run created a Deployment")
	}
	first := succeed(t, inCluster...)
	if got := actions(first.out); len(got) != 1 || got["created"] != actions(dry.out)["created (server dry run)"] {
		t.Errorf("install: want the same as in the dry run, got\n%s", first.out)
	}
	if !strings.Contains(first.said, "kymactl deploy -n provider-kyma-system --provider-config in-cluster") {
		t.Errorf("install --in-cluster: want advice, got %q", first.said)
	}
	before := installed(t, inCluster...)
	for _, again := range [][]string{inCluster, append(inCluster, "--force-conflicts"), append(inCluster, "--skip-crds"), append(inCluster, "--dry-run")} {
		r := succeed(t, again...)
		if got := actions(r.out); got["unchanged"]+got["unchanged (server dry run)"] == 0 || len(got) != 1 {
			t.Errorf("install %s: want everything unchanged, got\n%s", again, r.out)
		}
		if diff := cmp.Diff(before, installed(t, inCluster...)); diff != "" {
			t.Errorf("install %s: -before, +after:\n%s", again, diff)
		}
	}
	upgraded := run(t, time.Minute, "v1.2.4", append(inCluster, "--wait=false", "-o", "jsonpath={.objects[?(@.action=='configured')].kind}")...)
	if upgraded.err != nil || !strings.Contains(upgraded.out, "Deployment") || strings.Contains(upgraded.out, "CustomResourceDefinition") {
		t.Errorf("install of another version: want the objects of the chart configured, got %q, %v", upgraded.out, upgraded.err)
	}

	off := []string{"--in-cluster", "--set=podDisruptionBudget.enabled=false"}
	for _, args := range [][]string{append(off, "--dry-run"), off} {
		deleted := succeed(t, args...).out
		for _, want := range []string{
			"poddisruptionbudget.policy/provider-kyma deleted", "configmap/provider-kyma-kube-state-metrics deleted",
			"clusterrole.rbac.authorization.k8s.io/provider-kyma-kube-state-metrics deleted",
		} {
			if !strings.Contains(deleted, want) {
				t.Errorf("install %s: want %q, got\n%s", args, want, deleted)
			}
		}
	}
	if got := actions(succeed(t, off...).out); len(got) != 1 || got["unchanged"] == 0 {
		t.Errorf("install again: want nothing deleted twice, got %v", got)
	}
	checkConfigStays(t)
}

// checkConfigStays checks that the ClusterProviderConfig of the in-cluster mode is not deleted without a request, while other objects of the
// mode are.
func checkConfigStays(t *testing.T) {
	t.Helper()
	before := installed(t, "--in-cluster", "--set=podDisruptionBudget.enabled=false")
	r := run(t, time.Minute, build, "--wait=false")
	const want = "ClusterProviderConfig in-cluster belongs to the in-cluster mode of an earlier installation: use --in-cluster with the same name, " +
		"or delete it first with 'kubectl delete clusterproviderconfigs.kyma.m.crossplane.io in-cluster'"
	if r.err == nil || r.err.Error() != want || command.CodeOf(r.err) != command.ExitExists {
		t.Errorf("install without --in-cluster: want %q, got %v", want, r.err)
	}
	if diff := cmp.Diff(before, installed(t, "--in-cluster", "--set=podDisruptionBudget.enabled=false")); diff != "" {
		t.Errorf("install without --in-cluster changed something: -before, +after:\n%s", diff)
	}
	config := object("kyma.m.crossplane.io/v1alpha1", "ClusterProviderConfig", "in-cluster")
	config.SetNamespace("")
	if err := admin.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if r := succeed(t); !strings.Contains(r.out, "clusterrolebinding.rbac.authorization.k8s.io/provider-kyma-modules-cluster-admin deleted") {
		t.Errorf("install without --in-cluster: want the binding deleted, got\n%s", r.out)
	}
}

// TestConflict checks that a value that another client has set is kept, unless the user takes it over.
func TestConflict(t *testing.T) {
	succeed(t)
	d := deployment()
	patch(t, d, `{"spec":{"replicas":5}}`)
	r := run(t, time.Minute, build, "--wait=false")
	const want = `Deployment provider-kyma-system/provider-kyma: field spec.replicas is owned by "another"; use --force-conflicts to take over these fields`
	if r.err == nil || r.err.Error() != want || command.CodeOf(r.err) != command.ExitExists {
		t.Errorf("install: want %q, got %v", want, r.err)
	}
	get(t, d)
	if n, _, _ := unstructured.NestedInt64(d.Object, "spec", "replicas"); n != 5 {
		t.Fatalf("want 5 replicas before the takeover, got %d", n)
	}
	succeed(t, "--force-conflicts")
	get(t, d)
	if n, _, _ := unstructured.NestedInt64(d.Object, "spec", "replicas"); n != 2 {
		t.Errorf("install --force-conflicts: want 2 replicas, got %d", n)
	}
}

// TestWait checks that the command waits for the replicas, and says why they cannot run.
func TestWait(t *testing.T) {
	succeed(t)
	r := run(t, 5*time.Second, build)
	if command.CodeOf(r.err) != command.ExitTimeout || !strings.Contains(r.err.Error(), "timed out waiting for Deployment provider-kyma-system/provider-kyma to become available: ") {
		t.Errorf("install without a controller: want a timeout, got %v", r.err)
	}
	// No controller creates the ServiceAccount of the namespace.
	account := object("v1", "ServiceAccount", "default")
	pod := object("v1", "Pod", "provider-kyma-x")
	pod.SetLabels(map[string]string{labelName: release, labelInstance: release})
	pod.Object["spec"] = map[string]any{"containers": []any{map[string]any{"name": "provider", "image": "x"}}}
	for _, u := range []*unstructured.Unstructured{account, pod} {
		if err := admin.Create(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	setStatus(t, pod, map[string]any{"containerStatuses": []any{map[string]any{
		"name": "provider", "image": "x", "imageID": "", "ready": false, "restartCount": int64(0),
		"state": map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff", "message": "not found"}},
	}}})
	r = run(t, 5*time.Second, build)
	if command.CodeOf(r.err) != command.ExitTimeout || !strings.HasSuffix(r.err.Error(), "; Pod provider-kyma-x: ImagePullBackOff: not found") {
		t.Errorf("install with a pod that cannot run: want its reason, got %v", r.err)
	}
	d := deployment()
	get(t, d)
	setStatus(t, d, map[string]any{
		"observedGeneration": d.GetGeneration(), "replicas": int64(2), "updatedReplicas": int64(2), "readyReplicas": int64(2), "availableReplicas": int64(2),
		"conditions": []any{map[string]any{"type": "Available", "status": "True"}, map[string]any{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}},
	})
	if r := run(t, time.Minute, build); r.err != nil || !strings.Contains(r.said, "kymactl deploy -n NAMESPACE --target-kubeconfig FILE") {
		t.Errorf("install of a provider that is available: want advice, got %q, %v", r.said, r.err)
	}
	// The replicas of the previous generation do not count.
	r = run(t, 5*time.Second, build, "--set=args={--debug}")
	if command.CodeOf(r.err) != command.ExitTimeout {
		t.Errorf("install of a change: want a timeout, got %v", r.err)
	}
}

func setStatus(t *testing.T, u *unstructured.Unstructured, fields map[string]any) {
	t.Helper()
	u.Object["status"] = fields
	if err := admin.Status().Update(t.Context(), u); err != nil {
		t.Fatal(err)
	}
}

// TestRefuse checks that nothing changes if the provider was installed in another way.
func TestRefuse(t *testing.T) {
	succeed(t)
	crd := exported(t)[0]
	get(t, crd)
	cases := map[string]struct {
		reason    string
		object    *unstructured.Unstructured
		patch     string
		undo      string
		namespace string
		want      string
	}{
		"Package": {
			reason: "Crossplane would revert changes.", object: crd,
			patch: `{"metadata":{"ownerReferences":[{"apiVersion":"pkg.crossplane.io/v1","kind":"ProviderRevision","name":"provider-kyma-1","uid":"1","controller":true}]}}`,
			undo:  `{"metadata":{"ownerReferences":null}}`, namespace: defaultNamespace,
			want: "CRD clusterproviderconfigs.kyma.m.crossplane.io belongs to ProviderRevision provider-kyma-1: Crossplane runs the provider in this cluster: " +
				"to upgrade it, change the package of its Provider, for example with 'kymactl deploy --package IMAGE'",
		},
		"Helm": {
			reason: "Helm would revert changes.", object: deployment(), namespace: defaultNamespace,
			patch: `{"metadata":{"annotations":{"meta.helm.sh/release-name":"mine","meta.helm.sh/release-namespace":"provider-kyma-system"}}}`,
			undo:  `{"metadata":{"annotations":{"meta.helm.sh/release-name":null,"meta.helm.sh/release-namespace":null}}}`,
			want: "Deployment provider-kyma-system/provider-kyma belongs to Helm release mine: upgrade it with " +
				"'helm upgrade mine CHART --namespace provider-kyma-system'",
		},
		"Namespace": {
			reason: "Two providers would reconcile the same objects.", object: deployment(), patch: `{}`, undo: `{}`, namespace: "other",
			want: "Deployment provider-kyma-system/provider-kyma already runs the provider: use --namespace provider-kyma-system",
		},
		"Others": {
			reason: "The way in which it was installed is not known.", object: deployment(), namespace: "other",
			patch: `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"Helm"}}}`, undo: `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"kymactl"}}}`,
			want: "Deployment provider-kyma-system/provider-kyma already runs the provider, and was not installed by kymactl: " +
				"upgrade it in the way in which it was installed",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			patch(t, tc.object, tc.patch)
			defer patch(t, tc.object, tc.undo)
			before := installed(t)
			for _, args := range [][]string{{"--dry-run"}, {"--force-conflicts"}} {
				r := run(t, time.Minute, build, append(args, "--namespace", tc.namespace)...)
				if r.err == nil || r.err.Error() != tc.want || command.CodeOf(r.err) != command.ExitExists || r.out != "" {
					t.Errorf("\n%s\ninstall %s: want %q and no output, got %v\n%s", tc.reason, args, tc.want, r.err, r.out)
				}
			}
			if diff := cmp.Diff(before, installed(t)); diff != "" {
				t.Errorf("\n%s\ninstall: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}
