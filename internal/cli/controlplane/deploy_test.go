// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// patch changes an object as another client.
func patch(t testing.TB, o apply.Object, data string) {
	t.Helper()
	if err := plane.Patch(t.Context(), mustGet(t, o), client.RawPatch(types.MergePatchType, []byte(data)), client.FieldOwner("another")); err != nil {
		t.Fatal(err)
	}
}

// state returns what must not change: resource versions and field managers.
func state(t testing.TB, objects ...apply.Object) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, o := range objects {
		u := mustGet(t, o)
		fields, err := json.Marshal(u.GetManagedFields())
		if err != nil {
			t.Fatal(err)
		}
		out[o.Words()] = u.GetResourceVersion() + " " + string(fields)
	}
	return out
}

func crdObjects(t testing.TB) []apply.Object {
	t.Helper()
	all, err := apply.ReadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	var out []apply.Object
	for _, d := range all {
		out = append(out, apply.ObjectOf(d))
	}
	return out
}

func modulesOf(t testing.TB, namespace string) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, _, err := unstructured.NestedSlice(mustGet(t, kymaIn(namespace)).Object, "spec", "forProvider", "modules")
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		out[name], _ = m["channel"].(string)
	}
	return out
}

func TestDryRunOnAnEmptyControlPlane(t *testing.T) {
	wipe(t)
	template := filepath.Join(t.TempDir(), "t.yaml")
	write(t, template, oneTemplate)
	r := succeed(t, newDeploy, "-n", "nowhere", "--target-kubeconfig", target(t), "--template", template, "--module", "istio", "--dry-run")
	got := lines(r.out)
	if n := len(got["created (server dry run)"]); len(got) != 1 || n != 9+5 {
		t.Errorf("deploy --dry-run: want 14 objects that would be created, got\n%s", r.out)
	}
	for _, o := range append(crdObjects(t), apply.Object{GroupVersionKind: apply.CoreKind("Namespace"), Name: "nowhere"}) {
		if get(t, o) != nil {
			t.Errorf("deploy --dry-run: it created %s", o.Words())
		}
	}
}

func TestDeployTwice(t *testing.T) {
	template := filepath.Join(t.TempDir(), "t.yaml")
	write(t, template, oneTemplate)
	args := []string{"-n", "twice", "--target-kubeconfig", target(t), "--template", template, "--channel", "fast", "--module", "istio", "--module", "other=regular"}
	objects := append(crdObjects(t), kymaIn("twice"), configIn("twice"), secretIn("twice"), templateObject("istio-regular"))

	first := succeed(t, newDeploy, args...)
	if n := len(lines(first.out)["created"]); n != 14 {
		t.Errorf("deploy: want 14 objects created, got\n%s", first.out)
	}
	if !strings.Contains(first.out, "\nkyma.kyma.m.crossplane.io/default created\n") {
		t.Errorf("deploy: want lines as those of kubectl, got\n%s", first.out)
	}
	for _, o := range objects {
		if !apply.Ours(mustGet(t, o)) {
			t.Errorf("deploy: %s does not have the label of kymactl", o.Words())
		}
	}
	patch(t, kymaIn("twice"), `{"spec":{"forProvider":{"modules":[{"name":"istio"},{"name":"other","channel":"regular"},{"name":"mine","values":{"a":1}}]}}}`)
	// Any first update of an object stores the default of its status. There is no provider here that would report something.
	patch(t, templateObject("istio-regular"), `{"metadata":{"annotations":{"example.org/touched":"yes"}}}`)
	before := state(t, objects...)

	for _, again := range [][]string{args, {"-n", "twice"}, {"-n", "twice", "--provider-config", "default"}, append(args, "--dry-run"), append(args, "--force-conflicts")} {
		r := succeed(t, newDeploy, again...)
		got := lines(r.out)
		if len(got) != 1 || len(got["unchanged"])+len(got["unchanged (server dry run)"]) == 0 {
			t.Errorf("deploy %s: want everything unchanged, got\n%s", again, r.out)
		}
		if diff := cmp.Diff(before, state(t, objects...)); diff != "" {
			t.Errorf("deploy %s: -before, +after:\n%s", again, diff)
		}
	}
	want := map[string]string{"istio": "", "other": "regular", "mine": ""}
	if diff := cmp.Diff(want, modulesOf(t, "twice")); diff != "" {
		t.Errorf("modules after two runs: -want, +got:\n%s", diff)
	}

	changes := append(slices.Clone(args), "--channel", "stable", "--module", "mine=fast", "--dry-run")
	r := succeed(t, newDeploy, changes...)
	if got := lines(r.out)["configured (server dry run)"]; len(got) != 1 {
		t.Errorf("deploy %s: want the Kyma configured, got\n%s", changes, r.out)
	}
	if diff := cmp.Diff(before, state(t, objects...)); diff != "" {
		t.Errorf("a dry run changed something: -before, +after:\n%s", diff)
	}
	r = succeed(t, newDeploy, "-n", "twice", "--channel", "stable", "--module", "mine=fast", "--skip-crds", "-o", "jsonpath={.objects[?(@.action=='configured')].kind}")
	if strings.TrimSpace(r.out) != "Kyma" {
		t.Errorf("deploy: want the Kyma configured, got %q", r.out)
	}
	want["mine"] = "fast"
	if diff := cmp.Diff(want, modulesOf(t, "twice")); diff != "" {
		t.Errorf("modules after a change: -want, +got:\n%s", diff)
	}
}

func TestDeployConflict(t *testing.T) {
	defined(t)
	succeed(t, newDeploy, "-n", "conflict", "--in-cluster", "--channel", "regular")
	patch(t, kymaIn("conflict"), `{"spec":{"forProvider":{"channel":"fast"}}}`)
	r := run(t, NewDeploy, "-n", "conflict", "--channel", "regular")
	const want = `Kyma conflict/default: field spec.forProvider.channel is owned by "another"; use --force-conflicts to take over these fields`
	if r.err == nil || r.err.Error() != want || command.CodeOf(r.err) != command.ExitExists {
		t.Errorf("deploy: want %q, got %v", want, r.err)
	}
	if diff := cmp.Diff(r.err != nil, run(t, NewDeploy, "-n", "conflict", "--channel", "regular", "--dry-run").err != nil); diff != "" {
		t.Errorf("a dry run does not see the conflict: %s", diff)
	}
	// Without --channel there is no conflict, and the channel stays.
	succeed(t, newDeploy, "-n", "conflict")
	if got, _, _ := unstructured.NestedString(mustGet(t, kymaIn("conflict")).Object, "spec", "forProvider", "channel"); got != "fast" {
		t.Errorf("channel: want fast, got %s", got)
	}
	succeed(t, newDeploy, "-n", "conflict", "--channel", "regular", "--force-conflicts")
	if got, _, _ := unstructured.NestedString(mustGet(t, kymaIn("conflict")).Object, "spec", "forProvider", "channel"); got != "regular" {
		t.Errorf("channel: want regular, got %s", got)
	}
}

func TestDeployConfigs(t *testing.T) {
	defined(t)
	r := run(t, NewDeploy, "-n", "configs")
	if command.CodeOf(r.err) != command.ExitNotFound || r.out != "" {
		t.Errorf("deploy without a config: want exit code %d and nothing done, got %v\n%s", command.ExitNotFound, r.err, r.out)
	}
	succeed(t, newDeploy, "-n", "configs", "--in-cluster")
	if diff := cmp.Diff(reference{kind: "ClusterProviderConfig", name: "control-plane"}, referenceOf(mustGet(t, kymaIn("configs"))), cmp.AllowUnexported(reference{})); diff != "" {
		t.Errorf("config of the Kyma: -want, +got:\n%s", diff)
	}
	succeed(t, newDeploy, "-n", "configs-of-others", "--in-cluster")
	names, _, _ := unstructured.NestedStringSlice(mustGet(t, apply.Object{
		GroupVersionKind: v1alpha1.ClusterProviderConfigGroupVersionKind, Name: "control-plane",
	}).Object, "spec", "allowedNamespaces", "names")
	// The config belongs to the control plane, which other tests share.
	if !slices.Contains(names, "configs") || !slices.Contains(names, "configs-of-others") {
		t.Errorf("namespaces that may use the config: want those of both deploys, got %v", names)
	}
	r = run(t, NewDeploy, "-n", "configs", "--target-kubeconfig", target(t))
	if command.CodeOf(r.err) != command.ExitExists || !strings.Contains(r.err.Error(), "cannot be changed to") || get(t, secretIn("configs")) != nil {
		t.Errorf("deploy to another cluster: want exit code %d and nothing done, got %v", command.ExitExists, r.err)
	}
	succeed(t, newDeploy, "-n", "configs", "--kyma", "second", "--provider-config", "control-plane")
}

func TestDeploysAtOnce(t *testing.T) {
	kubeconfig := target(t)
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wg.Go(func() {
			errs[i] = run(t, NewDeploy, "-n", "at-once", "--target-kubeconfig", kubeconfig, "--channel", "fast", "--module", "m"+strconv.Itoa(i)).err
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if got := modulesOf(t, "at-once"); len(got) != len(errs) {
		t.Errorf("modules: want %d, got %v", len(errs), got)
	}
}

// If a deployment is killed before its n-th request, the next one completes it.
func TestDeployKilledAnywhere(t *testing.T) {
	defined(t)
	kubeconfig := target(t)
	for n := 0; ; n++ {
		namespace := "killed-" + strconv.Itoa(n)
		ctx, kill := context.WithCancel(t.Context())
		writes := 0
		die := func() error {
			if writes++; writes > n {
				kill()
			}
			return ctx.Err()
		}
		counted := interceptor.NewClient(watching(t), interceptor.Funcs{
			Apply: func(ctx context.Context, k client.WithWatch, o runtimeApply, options ...client.ApplyOption) error {
				if err := die(); err != nil {
					return err
				}
				return k.Apply(ctx, o, options...)
			},
			Create: func(ctx context.Context, k client.WithWatch, o client.Object, options ...client.CreateOption) error {
				if err := die(); err != nil {
					return err
				}
				return k.Create(ctx, o, options...)
			},
			Patch: func(ctx context.Context, k client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
				if err := die(); err != nil {
					return err
				}
				return k.Patch(ctx, o, p, options...)
			},
		})
		d := deploymentFor(t, counted, namespace, kubeconfig)
		err := d.run(ctx)
		kill()
		succeed(t, newDeploy, "-n", namespace, "--target-kubeconfig", kubeconfig, "--module", "m")
		mustGet(t, secretIn(namespace))
		mustGet(t, configIn(namespace))
		if diff := cmp.Diff(map[string]string{"m": ""}, modulesOf(t, namespace)); diff != "" {
			t.Errorf("killed before write %d: modules: -want, +got:\n%s", n, diff)
		}
		if err == nil {
			return
		}
	}
}

// newDeploy returns the command without the warning about a provider, which does not run here.
func newDeploy(e *command.Environment) *cobra.Command {
	c := NewDeploy(e)
	if err := c.Flags().Set("provider-timeout", "0"); err != nil {
		panic(err)
	}
	return c
}

// TestDeployWarns checks that deploy warns only if no provider processes the current spec of the Kyma.
func TestDeployWarns(t *testing.T) {
	defined(t)
	const warning = "no provider has processed Kyma warns/default within 500ms: check that it runs in this control plane"
	args := []string{"-n", "warns", "--in-cluster", "--provider-timeout=500ms"}
	if r := succeed(t, NewDeploy, args...); !strings.Contains(r.said, warning) {
		t.Errorf("deploy without a provider: want a warning, got %q", r.said)
	}
	setCondition(t, kymaIn("warns"), "Synced", "False", "cannot connect")
	if r := succeed(t, NewDeploy, args...); strings.Contains(r.said, "no provider") {
		t.Errorf("deploy with a provider: want no warning, got %q", r.said)
	}
	if r := succeed(t, NewDeploy, append(args, "--module", "istio")...); !strings.Contains(r.said, warning) {
		t.Errorf("deploy of a new spec that no provider has processed: want a warning, got %q", r.said)
	}
	if r := succeed(t, NewDeploy, append(args, "--module", "other", "--dry-run")...); strings.Contains(r.said, "no provider") {
		t.Errorf("deploy --dry-run: want no warning, got %q", r.said)
	}
}

func TestDeployWaits(t *testing.T) {
	defined(t)
	args := []string{"-n", "waits", "--in-cluster", "--wait"}
	const unknown = "Kyma waits/default to become Ready: the current spec has not been reconciled: is the provider running?"
	timeOut(t, NewDeploy, unknown, args...)
	setCondition(t, kymaIn("waits"), "Synced", "True", "")
	setCondition(t, kymaIn("waits"), "Ready", "False", "module istio: waits for Deployment")
	timeOut(t, NewDeploy, "module istio: waits for Deployment", args...)
	setCondition(t, kymaIn("waits"), "Ready", "True", "")
	succeed(t, newDeploy, args...)
	// The Kyma was Ready with its previous spec.
	timeOut(t, NewDeploy, unknown, append(args, "--module", "istio")...)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := apply.Await(ctx, &command.Environment{}, "x", func(context.Context) (bool, string, error) { return false, "", nil }); command.CodeOf(err) != command.ExitFailure {
		t.Errorf("await(...) that is interrupted: want exit code %d, got %v", command.ExitFailure, err)
	}
}
