// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

const release, namespace = "provider-kyma", "kyma"

// A helm runs the helm command with the chart and without the user's configuration.
type helm struct {
	path, chart string
	env         []string
}

func newHelm(t *testing.T) helm {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	path, err := tools.Path(t.Context(), tools.Helm)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return helm{path: path, chart: filepath.Join(root, "charts", "provider-kyma"), env: []string{"HOME=" + home, "TMPDIR=" + home}}
}

func (h helm) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, h.path, args...)
	cmd.Env = h.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (h helm) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := h.run(t.Context(), args...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// template renders the chart with values, and returns the objects by kind and name.
func (h helm) template(t *testing.T, values ...string) map[string]*unstructured.Unstructured {
	t.Helper()
	args := []string{"template", release, h.chart, "--namespace", namespace}
	for _, v := range values {
		args = append(args, "--set-json", v)
	}
	cmd := exec.CommandContext(t.Context(), h.path, args...)
	cmd.Env = h.env
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("helm template %q: %v", values, err)
	}
	return byName(t, text)
}

// byName returns the objects in YAML documents, by kind and name.
func byName(t *testing.T, text []byte) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := yamldoc.Objects(text)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*unstructured.Unstructured{}
	for _, o := range objects {
		out[o.GetKind()+" "+o.GetName()] = o
	}
	return out
}

// rulesOf returns the rules of roles in their order. The names of roles are the keys of objects, without their kind.
func rulesOf(t *testing.T, objects map[string]*unstructured.Unstructured, roles ...string) []rbacv1.PolicyRule {
	t.Helper()
	var out []rbacv1.PolicyRule
	for _, name := range roles {
		role := &rbacv1.ClusterRole{}
		if objects[name] == nil {
			t.Fatalf("there is no %s", name)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[name].Object, role); err != nil {
			t.Fatal(err)
		}
		out = append(out, role.Rules...)
	}
	return out
}

// example returns the objects of a file in examples/rbac, by kind and name.
func (h helm) example(t *testing.T, name string) map[string]*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.chart, "..", "..", "examples", "rbac", name))
	if err != nil {
		t.Fatal(err)
	}
	return byName(t, data)
}

func TestLint(t *testing.T) {
	h := newHelm(t)
	h.mustRun(t, "lint", "--strict", h.chart)
}

// TestRules checks that the chart grants what the examples for a control plane grant, and nothing else.
func TestRules(t *testing.T) {
	h := newHelm(t)
	base := rulesOf(t, h.example(t, "control-plane.yaml"), "ClusterRole provider-kyma")
	manifests := rbacv1.PolicyRule{APIGroups: []string{v1alpha1.Group}, Resources: []string{"manifests"}, Verbs: []string{"delete"}}
	cases := map[string]struct {
		reason string
		values []string
		more   []rbacv1.PolicyRule
	}{
		"Default": {reason: "By default, the chart grants what the provider requires."},
		"DeleteManifests": {
			reason: "The provider deletes Manifests itself.", values: []string{"rbac.deleteManifests=true"}, more: []rbacv1.PolicyRule{manifests},
		},
		"ReadNamespaces": {
			reason: "The provider reads labels of namespaces.", values: []string{"rbac.readNamespaces=true"},
			more: rulesOf(t, h.example(t, "read-namespaces.yaml"), "ClusterRole provider-kyma-read-namespaces"),
		},
		"ClusterAPI": {
			reason: "KymaSets read Clusters.", values: []string{"rbac.clusterAPI=true"},
			more: rulesOf(t, h.example(t, "kymaset.yaml"), "ClusterRole provider-kyma-kymaset"),
		},
		"SecureMetrics": {
			reason: "The provider checks who reads its metrics.", values: []string{"metrics.secure=true"},
			more: rulesOf(t, h.example(t, "metrics.yaml"), "ClusterRole provider-kyma-metrics-auth"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := rulesOf(t, h.template(t, tc.values...), "ClusterRole "+release, "Role "+release)
			want := slices.Concat(base, tc.more)
			// The order of rules has no meaning.
			less := func(a, b rbacv1.PolicyRule) bool { return a.String() < b.String() }
			if diff := cmp.Diff(want, got, cmpopts.SortSlices(less)); diff != "" {
				t.Errorf("\n%s\nrules: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUserRoles checks which permissions of users the chart adds to the roles of Kubernetes.
func TestUserRoles(t *testing.T) {
	h := newHelm(t)
	all := func(verbs, resources []string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.Group}, Resources: resources, Verbs: verbs}}
	}
	read, write := []string{"get", "list", "watch"}, []string{"create", "update", "patch", "delete"}
	crds, err := os.ReadDir(filepath.Join(h.chart, "crds"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range crds {
		if name, ok := strings.CutSuffix(f.Name(), ".yaml"); ok {
			kinds = append(kinds, strings.TrimPrefix(name, v1alpha1.Group+"_"))
		}
	}
	want := map[string][]rbacv1.PolicyRule{
		"view": all(read, kinds), "edit": all(write, []string{"kymas", "manifests"}), "admin": all(write, []string{"providerconfigs"}),
	}
	objects, none := h.template(t, "rbac.userRoles=true"), h.template(t)
	for role, rules := range want {
		name := "ClusterRole " + release + "-" + role
		if diff := cmp.Diff(rules, rulesOf(t, objects, name)); diff != "" {
			t.Errorf("rules of %s: -want, +got:\n%s", name, diff)
		}
		if objects[name].GetLabels()["rbac.authorization.k8s.io/aggregate-to-"+role] != "true" {
			t.Errorf("%s is not added to the role %s: %v", name, role, objects[name].GetLabels())
		}
		if none[name] != nil {
			t.Errorf("the chart contains %s by default", name)
		}
	}
}

// TestValues checks that the chart refuses values that would have no effect or render an object that is not valid.
func TestValues(t *testing.T) {
	h := newHelm(t)
	cases := map[string]struct {
		reason string
		value  string
		want   string
	}{
		"Typo":      {"A name that is not a value is refused.", "replica=1", "additional properties 'replica' not allowed"},
		"Replicas":  {"The provider needs a replica.", "replicas=0", "at '/replicas': minimum"},
		"Digest":    {"A digest has a fixed form.", `image.digest="latest"`, "at '/image/digest'"},
		"InCluster": {"The namespaces that may use the cluster must be named.", "inCluster.enabled=true", "inCluster.namespaces: set the namespaces"},
		"Token":     {"Secure metrics need a token.", `metrics={"secure": true, "podMonitor": {"enabled": true}}`, "metrics.podMonitor.tokenSecret: set the name"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := h.run(t.Context(), "template", release, h.chart, "--set-json", tc.value)
			if err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("\n%s\nwant an error that contains %q, got %v:\n%s", tc.reason, tc.want, err, out)
			}
		})
	}
}

// TestContainer checks the settings of the container and of the pod.
func TestContainer(t *testing.T) {
	h := newHelm(t)
	digest := "sha256:" + strings.Repeat("a", 64)
	d := &appsv1.Deployment{}
	o := h.template(t, `image={"repository": "registry.example.org/kyma", "digest": "`+digest+`"}`, "metrics.secure=true", `args=["--shards=3"]`,
		`env=[{"name": "HTTPS_PROXY", "value": "http://proxy.example.org"}]`, "replicas=1")["Deployment "+release]
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d); err != nil {
		t.Fatal(err)
	}
	c := d.Spec.Template.Spec.Containers[0]
	type settings struct {
		Image, Proxy string
		Args         []string
		Spread       bool
	}
	got := settings{Image: c.Image, Args: c.Args, Spread: d.Spec.Template.Spec.Affinity != nil, Proxy: c.Env[len(c.Env)-1].Value}
	want := settings{Image: "registry.example.org/kyma@" + digest, Args: []string{"--metrics-secure", "--shards=3"}, Proxy: "http://proxy.example.org"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
