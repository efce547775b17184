// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/helptest"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// export runs the command of a version with --export, without a cluster.
func export(t *testing.T, version, in string, args ...string) (string, error) {
	t.Helper()
	var out, said bytes.Buffer
	c := newCommand(&command.Environment{In: strings.NewReader(in), Out: &out, Err: &said}, version)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(append(slices.Clone(args), "--export", "--kubeconfig", filepath.Join(t.TempDir(), "none")))
	err := c.ExecuteContext(t.Context())
	if said.Len() > 0 {
		t.Errorf("install --export: want no messages, got %q", said.String())
	}
	return out.String(), err
}

// exported returns the objects that the flags install.
func exported(t *testing.T, args ...string) []*unstructured.Unstructured {
	t.Helper()
	text, err := export(t, build, "", args...)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := yamldoc.Objects([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestExport checks the order of the objects, which kubectl apply keeps, and that the output is always the same.
func TestExport(t *testing.T) {
	const crd, kyma = "CustomResourceDefinition", "kyma.m.crossplane.io/v1alpha1"
	own := []string{
		"Namespace", "NetworkPolicy", "PodDisruptionBudget", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ClusterRoleBinding", "Role", "RoleBinding",
		"Service", "Deployment", "ClusterProviderConfig",
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
	}{
		"Everything": {"CRDs come first, and custom resources last.", []string{"--in-cluster"}, slices.Concat(slices.Repeat([]string{crd}, 9), own)},
		"NoCRDs":     {"The CRDs can be left out.", []string{"--in-cluster", "--skip-crds"}, own},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, u := range exported(t, tc.args...) {
				got = append(got, u.GetKind())
				if m := u.GetLabels()[apply.LabelManagedBy]; m == helm {
					t.Errorf("%s is managed by %s", apply.ObjectOf(u).Words(), m)
				}
				if ns := u.GetNamespace(); ns != "" && ns != defaultNamespace || u.GetAPIVersion() == kyma && ns != "" {
					t.Errorf("%s is in the wrong namespace", apply.ObjectOf(u).Words())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nkinds: -want, +got:\n%s", tc.reason, diff)
			}
			first, _ := export(t, build, "", tc.args...)
			if again, err := export(t, build, "", tc.args...); err != nil || first != again {
				t.Errorf("\n%s\nwant the same output twice, got %v", tc.reason, err)
			}
		})
	}
}

// TestValues checks how the flags become values, at the objects that they change.
func TestValues(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	digest := "sha256:" + strings.Repeat("a", 64)
	type args struct {
		version, in string
		flags       []string
	}
	type want struct {
		Image      string
		Replicas   int64
		Namespaces []string
		Err        string
	}
	const image = "xpkg.crossplane.io/crossplane-contrib/provider-kyma:v1.2.3"
	const development = "this build of kymactl (v1.2.3-4-gabcdef0) has no released image of the provider: use --image"
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Default": {reason: "The image has the version of kymactl.", want: want{Image: image, Replicas: 2}},
		"Image": {
			reason: "An image can have a digest.", args: args{flags: []string{"--image=registry.example.org/kyma@" + digest}},
			want: want{Image: "registry.example.org/kyma@" + digest, Replicas: 2},
		},
		"NoTag": {
			reason: "The tag of another image is not known.", args: args{flags: []string{"--image=registry.example.org/kyma"}},
			want: want{Err: "--image registry.example.org/kyma: add a tag or a digest"},
		},
		"Development": {
			reason: "Development builds have no published image.", args: args{version: "v1.2.3-4-gabcdef0"}, want: want{Err: development},
		},
		"DevelopmentImage": {
			reason: "A development build can install another image.", args: args{version: "v0.0.0-dev", flags: []string{"--set=image.tag=v1"}},
			want: want{Image: "xpkg.crossplane.io/crossplane-contrib/provider-kyma:v1", Replicas: 2},
		},
		"Order": {
			reason: "--set overrides --image, which overrides files in their order.",
			args: args{in: "replicas: 5\nimage: {pullPolicy: Never}", flags: []string{
				"--values", file("a.yaml", "replicas: 4\nimage: {tag: a, repository: a}"), "--values=-",
				"--image=registry.example.org/b:v2", "--set=image.tag=v3",
			}},
			want: want{Image: "registry.example.org/b:v3", Replicas: 5},
		},
		"InCluster": {
			reason: "By default, only the namespace of the provider can use its identity.", args: args{flags: []string{"--in-cluster", "--namespace=mine"}},
			want: want{Image: image, Replicas: 2, Namespaces: []string{"mine"}},
		},
		"InClusterNamespaces": {
			reason: "Other namespaces can be named.", args: args{flags: []string{"--in-cluster", "--set=inCluster.namespaces={a,b}"}},
			want: want{Image: image, Replicas: 2, Namespaces: []string{"a", "b"}},
		},
		"InClusterFile": {
			reason: "A file can name them, too.", args: args{flags: []string{"--in-cluster", "--values=" + file("n.yaml", "inCluster: {namespaces: [c]}")}},
			want: want{Image: image, Replicas: 2, Namespaces: []string{"c"}},
		},
		"Typo": {
			reason: "The error names the value.", args: args{flags: []string{"--set=replica=1"}},
			want: want{Err: `chart "provider-kyma": values: additional properties 'replica' not allowed`},
		},
		"Type": {
			reason: "The schema is enforced.", args: args{flags: []string{"--set-string=replicas=1"}},
			want: want{Err: `chart "provider-kyma": values: replicas: got string, want integer`},
		},
		"Format": {
			reason: "The error does not contain the text.", args: args{flags: []string{"--set=secret"}},
			want: want{Err: `--set: must have the format of helm --set: a.b=c,d[0]=e, with \, for a comma in a value`},
		},
		"Template": {
			reason: "A template can refuse values.", args: args{flags: []string{"--set=inCluster.enabled=true"}},
			want: want{Err: "inCluster.namespaces: set the namespaces whose Kymas and Manifests can use the cluster itself"},
		},
		"NotAMap": {
			reason: "A value that replaces the mode is refused.", args: args{flags: []string{"--in-cluster", "--set=inCluster=yes"}},
			want: want{Err: "inCluster"},
		},
		"NoFile": {reason: "The file does not exist.", args: args{flags: []string{"--values=/does/not/exist"}}, want: want{Err: "no such file"}},
		"NotMap": {reason: "Values are a map.", args: args{in: "- a", flags: []string{"--values=-"}}, want: want{Err: "--values -: "}},
		"Stdin":  {reason: "Stdin can be read once.", args: args{flags: []string{"-f=-", "-f=-"}}, want: want{Err: "--values - can only be used once"}},
		"Name":   {reason: "A namespace has a name.", args: args{flags: []string{"--namespace=A"}}, want: want{Err: `--namespace "A": `}},
		"Output": {reason: "The objects are YAML.", args: args{flags: []string{"-o=json"}}, want: want{Err: "--export and --output cannot be used together"}},
		"DryRun": {reason: "Nothing is applied.", args: args{flags: []string{"--dry-run"}}, want: want{Err: "--export and --dry-run cannot be used together"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.args.version == "" {
				tc.args.version = build
			}
			text, err := export(t, tc.args.version, tc.args.in, tc.args.flags...)
			if tc.want.Err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want.Err) || command.CodeOf(err) != command.ExitUsage || text != "" {
					t.Errorf("\n%s\ninstall --export: want a usage error with %q and no output, got %v\n%s", tc.reason, tc.want.Err, err, text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got want
			objects, err := yamldoc.Objects([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			i := &installation{objects: objects}
			containers, _, _ := unstructured.NestedSlice(i.find("Deployment").Object, "spec", "template", "spec", "containers")
			got.Image, _, _ = unstructured.NestedString(containers[0].(map[string]any), "image")
			got.Replicas, _, _ = unstructured.NestedInt64(i.find("Deployment").Object, "spec", "replicas")
			if c := i.find("ClusterProviderConfig"); c != nil {
				got.Namespaces, _, _ = unstructured.NestedStringSlice(c.Object, "spec", "allowedNamespaces", "names")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ninstall --export: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKinds checks that objects of all kinds that the chart can contain are deleted when their value is switched off.
func TestKinds(t *testing.T) {
	known := []string{"CustomResourceDefinition", "Namespace", "Deployment", "ClusterProviderConfig"}
	for _, k := range kinds() {
		known = append(known, k.Kind)
	}
	found := map[string]bool{}
	for _, u := range exported(t, "--in-cluster", "--set=metrics.podMonitor.enabled=true,kubeStateMetrics.enabled=true") {
		found[u.GetKind()] = true
		if !slices.Contains(known, u.GetKind()) {
			t.Errorf("%s would be left behind: add its kind to kinds", apply.ObjectOf(u).Words())
		}
	}
	for _, k := range known {
		if !found[k] {
			t.Errorf("the chart contains no %s: change this test if it became optional", k)
		}
	}
}

func TestReleased(t *testing.T) {
	cases := map[string]struct {
		reason  string
		version string
		want    bool
	}{
		"Release":   {"A release has an image.", "v0.1.0", true},
		"Candidate": {"A release candidate has an image.", "v0.1.0-rc.1", true},
		"Unset":     {"The linker set no version.", "v0.0.0-dev", false},
		"Commit":    {"The repository has no tag yet.", "v0.0.0-5a38b1ea", false},
		"Describe":  {"Commits after a tag have no image.", "v0.1.0-3-g5a38b1ea", false},
		"Changed":   {"Changes that are not committed have no image.", "v0.1.0-dirty", false},
		"Pseudo":    {"The go command installed a commit.", "v0.1.1-0.20260102030405-5a38b1ea0000", false},
		"GoChanged": {"The go command built changes that are not committed.", "v0.1.0+dirty", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := released(tc.version); got != tc.want {
				t.Errorf("\n%s\nreleased(%q): want %t, got %t", tc.reason, tc.version, tc.want, got)
			}
		})
	}
}

func TestWhyBlocked(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	scheduled := func(s corev1.ConditionStatus) corev1.PodStatus {
		return corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: s, Message: "no node"}}}
	}
	cases := map[string]struct {
		reason string
		status corev1.PodStatus
		want   string
	}{
		"New":         {"Nothing is known yet.", corev1.PodStatus{}, ""},
		"NoNode":      {"No node has room.", scheduled(corev1.ConditionFalse), "no node"},
		"Scheduled":   {"The pod has a node.", scheduled(corev1.ConditionTrue), ""},
		"Pull":        {"The image cannot be pulled.", waiting("ImagePullBackOff", "not found"), "ImagePullBackOff: not found"},
		"NoMessage":   {"There can be no message.", waiting("CrashLoopBackOff", ""), "CrashLoopBackOff"},
		"Progressing": {"The container is being created.", waiting("ContainerCreating", ""), ""},
		"Running":     {"The container runs.", corev1.PodStatus{ContainerStatuses: make([]corev1.ContainerStatus, 1)}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := whyBlocked(&corev1.Pod{Status: tc.status}); got != tc.want {
				t.Errorf("\n%s\nwhyBlocked(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestAdvise(t *testing.T) {
	config := func(namespaces ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": v1alpha1.ClusterProviderConfigKind, "metadata": map[string]any{"name": "in-cluster"},
			"spec": map[string]any{"allowedNamespaces": map[string]any{"names": namespaces}},
		}}
	}
	cases := map[string]struct {
		reason  string
		objects []*unstructured.Unstructured
		want    string
	}{
		"Remote": {
			reason: "Without the in-cluster mode, a cluster must be added.",
			want:   "The provider is installed in namespace kyma. To add a cluster, use 'kymactl deploy -n NAMESPACE --target-kubeconfig FILE'.\n",
		},
		"InCluster": {
			reason: "The command for the first module names an allowed namespace.", objects: []*unstructured.Unstructured{config("team-a", "team-b")},
			want: "The provider is installed in namespace kyma and manages its own cluster: all users who can create Kymas or Manifests in team-a, team-b have " +
				"its permissions. To install modules, use 'kymactl deploy -n team-a --provider-config in-cluster --module NAME'.\n",
		},
		"NoNamespace": {
			reason: "The list of namespaces can be empty.", objects: []*unstructured.Unstructured{config()},
			want: "The provider is installed in namespace kyma. No namespace may use its permissions yet: set inCluster.namespaces.\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			(&installation{objects: tc.objects}).advise(&command.Environment{Err: &said}, &options{namespace: "kyma"})
			if diff := cmp.Diff(tc.want, said.String()); diff != "" {
				t.Errorf("\n%s\nadvise(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCompleteValues(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Part":    {"Values are completed by their path.", "rbac.", []string{"rbac.clusterAPI=", "rbac.deleteManifests=", "rbac.readNamespaces=", "rbac.userRoles="}},
		"Second":  {"Earlier values stay.", "replicas=1,env", []string{"replicas=1,env="}},
		"Unknown": {"The chart does not have this value.", "nope", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := completeValues(nil, nil, tc.text)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\ncompleteValues(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

// TestHelp checks that the help names the fields of the output.
func TestHelp(t *testing.T) {
	helptest.CheckFields(t, New(&command.Environment{}).Long, apply.Outcomes{}, apply.Outcome{})
}
