// SPDX-License-Identifier: Apache-2.0

package kyma_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestListCatalogue(t *testing.T) {
	s := kymactl(t, "default", "module", "list", "-c", "fast")
	s.want(t, command.ExitOK)
	lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
	if len(lines) != 21 {
		t.Fatalf("want a head and 20 modules of one channel, got\n%s", s.out.String())
	}
	want := []string{"m0", "fast", "2.0.0", "m0-fast", "True", "-", "-"}
	if diff := cmp.Diff(want, strings.Fields(lines[1])); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	kymactl(t, "default", "module", "list", "-c", "fast", "-o", "wide").want(t, command.ExitOK, "READY", "RESOLVED", "VERIFIED", "REPOSITORY", "registry.example.org/m")
	kymactl(t, "default", "module", "list", "-c", "broken").want(t, command.ExitOK, "False", "no such registry")
	kymactl(t, "default", "module", "list", "-c", "fast", "-o", "name").want(t, command.ExitOK, "moduletemplate.kyma.m.crossplane.io/m0-fast\n")
	none := kymactl(t, "default", "module", "list", "-c", "none", "-o", "json")
	none.want(t, command.ExitOK, `"modules": []`)
	kymactl(t, "default", "module", "list", "-c", "NONE").want(t, command.ExitUsage, "lowercase")
	kymactl(t, "default", "module", "list", "--kyma", "a", "-A").want(t, command.ExitUsage, "cannot be used with")
	kymactl(t, "default", "module", "list", "--kyma", "a").want(t, command.ExitNotFound, "kymactl deploy")
	kymactl(t, "default", "module", "list", "--enabled").want(t, command.ExitOK, "No Kymas found in namespace default")
}

func TestListEnabled(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"}, v1alpha1.Module{Name: "m2", Channel: "fast"}, v1alpha1.Module{Name: "m3"})
	play(t, k, is("m0", v1alpha1.StateDeleting, "bye"), is("m1", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateProcessing, ""))
	s := kymactl(t, k.Namespace, "module", "list", "--kyma", "k", "-o", "json")
	s.want(t, command.ExitOK)
	var got struct{ Modules []catalog.EnabledModule }
	if err := json.Unmarshal([]byte(s.out.String()), &got); err != nil {
		t.Fatal(err)
	}
	newer := []catalog.Available{{Channel: "fast", Version: "2.0.0", Newer: true}}
	either := []catalog.Available{{Channel: "fast", Version: "2.0.0"}, {Channel: "regular", Version: "1.0.0"}}
	want := []catalog.EnabledModule{
		{Namespace: k.Namespace, Kyma: "k", Name: "m0", ActiveChannel: "regular", Version: "1.0.0", State: "Deleting", Manifest: "k-m0", Message: "bye", Available: []catalog.Available{}},
		{Namespace: k.Namespace, Kyma: "k", Name: "m1", Enabled: true, Channel: "regular", ActiveChannel: "regular", Version: "1.0.0", State: "Ready", Manifest: "k-m1", Available: newer},
		{Namespace: k.Namespace, Kyma: "k", Name: "m2", Enabled: true, Channel: "fast", ActiveChannel: "regular", Version: "1.0.0", State: "Processing", Manifest: "k-m2", Available: newer},
		{Namespace: k.Namespace, Kyma: "k", Name: "m3", Enabled: true, Channel: "regular", Message: catalog.Unseen, Available: either},
	}
	if diff := cmp.Diff(want, got.Modules); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	table := kymactl(t, k.Namespace, "module", "list", "--enabled")
	table.want(t, command.ExitOK, "newer 2.0.0 (fast)", "fast (is regular)")
	kymactl(t, "default", "module", "list", "-A", "-c", "fast").want(t, command.ExitOK, "NAMESPACE", k.Namespace)
	for format, want := range map[string]string{
		"name":                                "manifest.kyma.m.crossplane.io/k-m0\nmanifest.kyma.m.crossplane.io/k-m1\nmanifest.kyma.m.crossplane.io/k-m2\n",
		"custom-columns=M:.name,S:.state":     "M    S\nm0   Deleting\nm1   Ready\nm2   Processing\nm3   <none>\n",
		"jsonpath={.modules[*].manifest}":     "k-m0 k-m1 k-m2 \n",
		"go-template={{len .modules}}":        "4",
		"jsonpath-as-json={.modules[0].name}": "[\n    \"m0\"\n]\n",
	} {
		s := kymactl(t, k.Namespace, "module", "list", "--enabled", "-o", format)
		s.want(t, command.ExitOK)
		if diff := cmp.Diff(want, s.out.String()); diff != "" {
			t.Errorf("-o %s: -want, +got:\n%s", format, diff)
		}
	}
	kymactl(t, k.Namespace, "module", "list", "--enabled", "-o", "wide").want(t, command.ExitOK, "MANIFEST", "k-m1\n")
}

func TestStatus(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"}, v1alpha1.Module{Name: "m2"})
	kymactl(t, k.Namespace, "status").want(t, command.ExitOK, "└─ module m2 [regular]", catalog.Unseen)
	m1, m2 := install(t, k, "m1"), install(t, k, "m2")
	report := func(m *v1alpha1.Manifest, state v1alpha1.State, message string) {
		m.Status.AtProvider = v1alpha1.ManifestObservation{
			State: state, Message: message, Version: "1.0.0", Resources: &v1alpha1.ResourceCounts{Ready: 1, Total: 2},
			Installs: []v1alpha1.InstallStatus{{Name: "operator", State: state, Message: message}, {Name: "extra", State: v1alpha1.StateReady}},
		}
		if err := admin.Status().Update(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	report(m1, v1alpha1.StateReady, "")
	report(m2, v1alpha1.StateError, "Deployment a/b: 0 of 1")
	play(t, k, is("m1", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateError, "operator: Deployment a/b: 0 of 1"))
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: "e"}, Type: corev1.EventTypeWarning, Reason: "ModuleFailed", Message: "oh\x1b[31m dear",
		InvolvedObject: corev1.ObjectReference{Kind: "Manifest", Namespace: k.Namespace, Name: m2.Name, UID: m2.UID}, LastTimestamp: metav1.Now(),
	}
	foreign := event.DeepCopy()
	foreign.Name, foreign.Message, foreign.InvolvedObject.UID = "s", "foreign", types.UID("1")
	for _, e := range []*corev1.Event{event, foreign} {
		if err := admin.Create(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	s := kymactl(t, k.Namespace, "status")
	s.want(t, command.ExitOK, "Kyma/k (", "└─ module m2", "   └─ Manifest/k-m2", "      └─ install operator", "Deployment a/b: 0 of 1", "ModuleFailed", "oh [31m dear")
	for _, hidden := range []string{"install extra", "foreign", "\x1b"} {
		if strings.Contains(s.out.String(), hidden) {
			t.Errorf("want no %q, got\n%s", hidden, s.out.String())
		}
	}
	kymactl(t, k.Namespace, "status", "k", "--all").want(t, command.ExitOK, "install extra")
	kymactl(t, k.Namespace, "status", "--exit-code").want(t, command.ExitFailure, "m2: operator: Deployment a/b: 0 of 1")
	kymactl(t, k.Namespace, "status", "-o", "jsonpath={.modules[1].live.installs[0].message}").want(t, command.ExitOK, "Deployment a/b")
	kymactl(t, k.Namespace, "status", "-o", "name").want(t, command.ExitOK, "kyma.kyma.m.crossplane.io/k\n")
	kymactl(t, k.Namespace, "status", "--as", "jane").want(t, command.ExitFailure, `User "jane" cannot list resource "kymas"`)
	kymactl(t, "default", "status").want(t, command.ExitNotFound, "kymactl deploy")
	play(t, k, is("m1", v1alpha1.StateReady, ""), is("m2", v1alpha1.StateReady, ""))
	kymactl(t, k.Namespace, "status", "--exit-code").want(t, command.ExitOK)
}

func TestCompletion(t *testing.T) {
	k := newKyma(t, v1alpha1.Module{Name: "m1"})
	two := newKyma(t, v1alpha1.Module{Name: "m1"})
	addKyma(t, two.Namespace, "m2", v1alpha1.Module{Name: "m2"})
	cases := map[string]struct {
		reason string
		kyma   *v1alpha1.Kyma
		args   string
		last   string
		want   string
	}{
		"Modules":      {"Modules that are offered and not arguments yet.", k, "module enable m0", "", "m1\nm10\n"},
		"Enabled":      {"Only enabled modules can be disabled.", k, "module disable", "", "m1\n:4"},
		"Channels":     {"Channels are those of the ModuleTemplates.", k, "module list --channel", "", "broken\nfast\nregular\n"},
		"Kymas":        {"Kymas are those in the namespace.", k, "status", "", "k\n:4"},
		"Wait":         {"The modules of the Kyma in the argument.", two, "wait m2 --module", "", "m2\n:4"},
		"WaitOnly":     {"Without an argument, the modules of the only Kyma.", k, "wait --module", "", "m1\n:4"},
		"WaitWhich":    {"Without an argument, nothing if there are several Kymas.", two, "wait --module", "", ":4\n"},
		"Test":         {"The modules of the Kyma in the argument KIND/NAME.", two, "test kyma/m2 --module", "", "m2\n:4"},
		"TestName":     {"A name without a kind can be that of a Kyma.", two, "test k --module", "", "m1\n:4"},
		"TestManifest": {"A Manifest has no modules.", two, "test manifest/m2 --module", "", ":4\n"},
		"Silent":       {"Errors are not shown.", k, "status --context nope", "", ":4\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			args, last := tc.args, tc.last
			// The flag comes before the word to complete.
			for _, flag := range []string{"--channel", "--module"} {
				if strings.HasSuffix(args, flag) {
					args, last = strings.TrimSuffix(args, " "+flag), flag+"="
				}
			}
			s := start(t, "", long, tc.kyma.Namespace, "__complete", args, last).wait()
			if !strings.HasPrefix(s.out.String(), tc.want) {
				t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.want, s.out.String())
			}
		})
	}
}
