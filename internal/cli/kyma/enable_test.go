// SPDX-License-Identifier: Apache-2.0

package kyma_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func modulesIn(t *testing.T, k *v1alpha1.Kyma) []any {
	t.Helper()
	l, _, err := unstructured.NestedSlice(rawOf(t, k).Object, "spec", "forProvider", "modules")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestManyAtOnce checks that concurrent commands don't undo the changes of each other.
func TestManyAtOnce(t *testing.T) {
	var before []v1alpha1.Module
	for i := range 10 {
		before = append(before, v1alpha1.Module{Name: fmt.Sprintf("old%d", i)})
	}
	k := newKyma(t, before...)
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed []string
	do := func(args ...string) {
		all.Go(func() {
			if s := kymactl(t, k.Namespace, args...); s.code != command.ExitOK {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, fmt.Sprint(args, s.failure))
			}
		})
	}
	want := []string{}
	for i := range 20 {
		want = append(want, fmt.Sprintf("m%d", i))
		do("module", "enable", fmt.Sprintf("m%d", i))
	}
	for i := range 10 {
		do("module", "disable", fmt.Sprintf("old%d", i))
	}
	all.Go(func() {
		for i := range 50 {
			if err := patch(t.Context(), k.DeepCopy(), fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}},"spec":{"forProvider":{"channel":"fast"}}}`, i)); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	if len(failed) > 0 {
		t.Fatal(failed)
	}
	got := []string{}
	now := current(t, k)
	for _, m := range now.Spec.ForProvider.Modules {
		got = append(got, m.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if now.Annotations["n"] != "49" || now.Spec.ForProvider.Channel != "fast" {
		t.Errorf("what others wrote is lost: %v", now.Annotations)
	}
}

func TestEnable(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{
		Name: "m1", CustomResourcePolicy: v1alpha1.CustomResourcePolicyIgnore,
		Values: &runtime.RawExtension{Raw: []byte(`{"replicas":3,"off":null,"large":9007199254740993}`)},
	})
	values := map[string]any{"replicas": int64(3), "off": nil, "large": int64(9007199254740993)}
	m1 := map[string]any{"name": "m1", "customResourcePolicy": "Ignore", "values": values}
	m2 := map[string]any{"name": "m2", "customResourcePolicy": "CreateAndDelete"}
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("replicas: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	unchanged := "module.kyma.m.crossplane.io/m1 unchanged\n"
	with := func(m map[string]any, key string, value any) map[string]any {
		out := runtime.DeepCopyJSON(m)
		out[key] = value
		return out
	}
	replaced := with(with(m1, "channel", "fast"), "values", map[string]any{"replicas": int64(1)})
	withInstall := with(replaced, "installs", []any{map[string]any{"name": "web", "values": map[string]any{"replicas": int64(1)}}})
	// Each step continues with the result of the previous one.
	for _, step := range []struct {
		reason string
		args   string
		out    string
		want   []any
	}{
		{"What is enabled stays as it is.", "m1", unchanged, []any{m1}},
		{"A second one is added, and a name that is there twice counts once.", "m2 m1 m2", "module.kyma.m.crossplane.io/m2 enabled\n" + unchanged, []any{m1, m2}},
		{"The channel is changed in place, and values are kept.", "m1 -c fast", "module.kyma.m.crossplane.io/m1 changed\n", []any{with(m1, "channel", "fast"), m2}},
		{"Without a channel the module keeps its own.", "m1", unchanged, []any{with(m1, "channel", "fast"), m2}},
		{"So it does with an empty one.", "m1 --channel=", unchanged, []any{with(m1, "channel", "fast"), m2}},
		{"Values are replaced.", "m1 --values " + file, "module.kyma.m.crossplane.io/m1 changed\n", []any{replaced, m2}},
		{"The same values change nothing.", "m1 --values " + file, unchanged, []any{replaced, m2}},
		{"Values of one chart are set.", "m1 --install-values web=" + file, "module.kyma.m.crossplane.io/m1 changed\n", []any{withInstall, m2}},
		{"The same ones change nothing.", "m1 --install-values web=" + file, unchanged, []any{withInstall, m2}},
		{"An empty file removes them.", "m1 --install-values web=/dev/null", "module.kyma.m.crossplane.io/m1 changed\n", []any{replaced, m2}},
		{"The policy is changed.", "m2 --custom-resource-policy Ignore", "module.kyma.m.crossplane.io/m2 changed\n", []any{
			replaced, with(m2, "customResourcePolicy", "Ignore"),
		}},
	} {
		before := current(t, k).ResourceVersion
		s := kymactl(t, k.Namespace, append([]string{"module", "enable"}, strings.Fields(step.args)...)...)
		if s.code != command.ExitOK {
			t.Fatalf("\n%s\nenable %s: %v", step.reason, step.args, s.failure)
		}
		if diff := cmp.Diff(step.out, s.out.String()); diff != "" {
			t.Errorf("\n%s\nenable %s: -want, +got:\n%s", step.reason, step.args, diff)
		}
		if diff := cmp.Diff(step.want, modulesIn(t, k)); diff != "" {
			t.Errorf("\n%s\nenable %s: -want, +got:\n%s", step.reason, step.args, diff)
		}
		written := before != current(t, k).ResourceVersion
		if diff := cmp.Diff(strings.Contains(step.out, " changed\n") || strings.Contains(step.out, " enabled\n"), written); diff != "" {
			t.Errorf("\n%s\nenable %s: whether the Kyma was written: -want, +got:\n%s", step.reason, step.args, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"}, v1alpha1.Module{Name: "gone"})
	composed := newKyma(t, v1alpha1.Module{Name: "m1"})
	if err := patch(t.Context(), composed, `{"metadata":{"labels":{"crossplane.io/composite":"x-1","crossplane.io/claim-name":"c","crossplane.io/claim-namespace":"team"}}}`); err != nil {
		t.Fatal(err)
	}
	play(t, k, is("m1", v1alpha1.StateReady, ""))
	several := newKyma(t)
	addKyma(t, several.Namespace, "other")
	cases := map[string]struct {
		reason    string
		namespace string
		args      string
		code      command.ExitCode
		parts     []string
	}{
		"NoModule":      {"If one module does not exist, nothing is changed.", k.Namespace, "module enable m2 nope", command.ExitNotFound, []string{`module "nope"`, "m19"}},
		"NoChannel":     {"The error lists the channels of the module.", k.Namespace, "module enable m2 -c beta", command.ExitNotFound, []string{"broken, fast, regular"}},
		"Move":          {"A module that changes its channel needs a template.", k.Namespace, "module enable m1 -c beta", command.ExitNotFound, []string{"broken, fast, regular"}},
		"Stays":         {"A module that keeps its channel needs no template.", k.Namespace, "module enable gone", command.ExitOK, []string{"Warning: no ModuleTemplate provides", "gone unchanged"}},
		"Channel":       {"The name of a channel is checked.", k.Namespace, "module enable m2 -c Fast", command.ExitUsage, []string{"lowercase"}},
		"Name":          {"The name of a module is checked.", k.Namespace, "module enable M2", command.ExitUsage, []string{"not a valid module name"}},
		"Policy":        {"The policy is checked.", k.Namespace, "module enable m2 --custom-resource-policy Keep", command.ExitUsage, []string{"CreateAndDelete or Ignore"}},
		"ValuesOfTwo":   {"Values require a single module.", k.Namespace, "module enable m2 m3 --values x.yaml", command.ExitUsage, []string{"one at a time"}},
		"NoValues":      {"A file that does not exist is wrong usage.", k.Namespace, "module enable m2 --values /does/not/exist", command.ExitUsage, []string{"no such file"}},
		"InstallOfTwo":  {"Values of an install require a single module.", k.Namespace, "module enable m2 m3 --install-values a=x.yaml", command.ExitUsage, []string{"one at a time"}},
		"InstallFile":   {"An install needs a file.", k.Namespace, "module enable m2 --install-values a", command.ExitUsage, []string{"use INSTALL=FILE"}},
		"InstallNone":   {"A file needs an install.", k.Namespace, "module enable m2 --install-values =a", command.ExitUsage, []string{"use INSTALL=FILE"}},
		"InstallTwice":  {"An install has one file.", k.Namespace, "module enable m2 --install-values a=/dev/null --install-values a=/dev/null", command.ExitUsage, []string{`install "a" twice`}},
		"TwoStdin":      {"Stdin can be read once.", k.Namespace, "module enable m2 --values - --install-values a=-", command.ExitUsage, []string{"only one values file"}},
		"Output":        {"An unknown format is wrong usage.", k.Namespace, "module enable m2 -o xml", command.ExitUsage, []string{"xml"}},
		"NoKyma":        {"The error for a missing Kyma says what to do.", k.Namespace, "module enable m2 --kyma nope", command.ExitNotFound, []string{"kymactl deploy"}},
		"NoNamespace":   {"The error for a namespace without a Kyma says what to do.", "default", "module enable m2", command.ExitNotFound, []string{"kymactl deploy"}},
		"Several":       {"If there are several Kymas, a name is required.", several.Namespace, "module disable m2", command.ExitUsage, []string{"k, other"}},
		"Composed":      {"Enabling a module of a composed Kyma is refused.", composed.Namespace, "module enable m2", command.ExitFailure, []string{"x-1 (claim team/c)", "--force"}},
		"ComposedGone":  {"Disabling a module of a composed Kyma is refused.", composed.Namespace, "module disable m1", command.ExitFailure, []string{"x-1 (claim team/c)", "--force"}},
		"ComposedSame":  {"A command that changes nothing is allowed for a composed Kyma.", composed.Namespace, "module enable m1", command.ExitOK, []string{"m1 unchanged"}},
		"NotEnabled":    {"A module that is not enabled is disabled already.", k.Namespace, "module disable m5", command.ExitOK, []string{"m5 unchanged"}},
		"JSON":          {"The result is in the JSON output.", k.Namespace, "module disable m5 -o jsonpath={.modules[0].result}-{.kyma}", command.ExitOK, []string{"unchanged-k"}},
		"DisableAFalse": {"module disable checks names too.", k.Namespace, "module disable M5", command.ExitUsage, []string{"not a valid module name"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kymactl(t, tc.namespace, strings.Fields(tc.args)...).want(t, tc.code, tc.parts...)
			want := []any{map[string]any{"name": "m1", "customResourcePolicy": "CreateAndDelete"}, map[string]any{"name": "gone", "customResourcePolicy": "CreateAndDelete"}}
			if diff := cmp.Diff(want, modulesIn(t, k)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAllowed(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1", Channel: "fast"})
	play(t, k, v1alpha1.ModuleStatus{Name: "m1", State: v1alpha1.StateReady, Version: "2.0.0", Channel: "fast"})
	kymactl(t, k.Namespace, "module", "enable", "m1", "-c", "regular").want(t, command.ExitOK,
		"Warning: channel regular has version 1.0.0 of module m1, which is lower than the installed version 2.0.0", "allow-downgrade=m1@1.0.0", "m1 changed")
	kymactl(t, k.Namespace, "module", "enable", "m2", "-c", "broken").want(t, command.ExitOK, "Warning: ModuleTemplate m2-broken: no such registry", "m2 enabled")
	start(t, "a: {b: 1}", long, k.Namespace, "module", "enable", "m2", "--values", "-").want(t, command.ExitOK, "m2 changed")
	start(t, "", long, k.Namespace, "module", "enable", "m2", "--values", "-").want(t, command.ExitOK, "m2 changed")
	if diff := cmp.Diff(map[string]any{"name": "m2", "channel": "broken", "customResourcePolicy": "CreateAndDelete"}, modulesIn(t, k)[1]); diff != "" {
		t.Errorf("an empty file of values takes them out: -want, +got:\n%s", diff)
	}
	kymactl(t, k.Namespace, "module", "enable", "later", "--allow-missing").want(t, command.ExitOK, "Warning: no ModuleTemplate provides", "later enabled")
	if err := patch(t.Context(), k, `{"metadata":{"labels":{"crossplane.io/composite":"x-1"}}}`); err != nil {
		t.Fatal(err)
	}
	kymactl(t, k.Namespace, "module", "enable", "m3", "--force").want(t, command.ExitOK, "m3 enabled")
	kymactl(t, k.Namespace, "module", "disable", "m1", "m2", "m3", "later", "--force").want(t, command.ExitOK, "m1 disabled", "later disabled")
	if got := modulesIn(t, k); len(got) != 0 {
		t.Errorf("want no modules, got %v", got)
	}
}
