// SPDX-License-Identifier: Apache-2.0

package kyma_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// released creates the ModuleReleaseMeta of a module, until the end of the test: fast has version 1.1.0, and regular 1.0.0.
func released(t *testing.T, module string) *v1alpha1.ModuleReleaseMeta {
	t.Helper()
	m := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: module}}
	m.Spec.ModuleName = module
	m.Spec.Channels = []v1alpha1.ChannelRelease{
		{Channel: "fast", Release: v1alpha1.Release{Version: "1.1.0"}}, {Channel: "regular", Release: v1alpha1.Release{Version: "1.0.0"}},
	}
	if err := admin.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Delete(t.Context(), m) })
	report(t, m, v1alpha1.RolloutComplete, "0.9.0")
	return m
}

// report simulates the provider: it reports the phase of the current version of all channels.
func report(t *testing.T, m *v1alpha1.ModuleReleaseMeta, phase v1alpha1.RolloutPhase, previous string) {
	t.Helper()
	refresh(t, m)
	m.Status.ObservedGeneration, m.Status.Channels = m.Generation, nil
	for _, c := range m.Spec.Channels {
		r := v1alpha1.ChannelRollout{Channel: c.Channel, Version: c.Version, Previous: previous, Phase: phase, WaveName: "canary", Total: 4, Updated: 1}
		if phase == v1alpha1.RolloutFailed {
			r.Failed, r.Message = 1, "1 of 4 Kymas failed"
			r.Failures = []v1alpha1.RolloutFailure{{Namespace: "team-a", Name: "cluster-a", Message: "Deployment a/b: 0 of 1"}}
		}
		m.Status.Channels = append(m.Status.Channels, r)
	}
	if err := admin.Status().Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func refresh(t *testing.T, m *v1alpha1.ModuleReleaseMeta) {
	t.Helper()
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil {
		t.Fatal(err)
	}
}

func TestRollout(t *testing.T) {
	m := released(t, "rolled")
	const name = "modulereleasemeta.kyma.m.crossplane.io/rolled "
	do := func(code command.ExitCode, args string, says ...string) {
		t.Helper()
		kymactl(t, "default", strings.Fields(args)...).want(t, code, says...)
		refresh(t, m)
	}
	regular := func(want v1alpha1.Release) {
		t.Helper()
		if diff := cmp.Diff(want, m.Spec.Channels[1].Release); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}
	do(command.ExitNotFound, "module promote m0 --from fast --to regular", "has no ModuleReleaseMeta", "kymactl module template")
	do(command.ExitNotFound, "module promote rolled --from beta --to regular", "one of fast, regular")
	do(command.ExitNotFound, "module promote rolled --version 3.0.0 --to regular", "no ModuleTemplate provides version 3.0.0")
	do(command.ExitUsage, "module promote rolled --to regular", "exactly one of")
	do(command.ExitUsage, "rollout pause rolled", "one of fast, regular")
	do(command.ExitOK, "module promote rolled --from fast --to regular", name+"promoted")
	regular(v1alpha1.Release{Version: "1.1.0"})
	before := m.ResourceVersion
	do(command.ExitOK, "module promote rolled --from fast --to regular", name+"unchanged", "already has version 1.1.0")
	if m.ResourceVersion != before {
		t.Error("want no write if the channel has the version")
	}
	do(command.ExitOK, "rollout status rolled -c regular", "not reconciled by the provider yet")

	report(t, m, v1alpha1.RolloutProgressing, "1.0.0")
	do(command.ExitOK, "rollout status rolled", "regular   1.1.0     1.0.0      Progressing   canary   1/4")
	do(command.ExitOK, "rollout status rolled -c regular -o jsonpath={.channels[*].phase}", "Progressing")
	do(command.ExitOK, "rollout pause rolled -c regular", name+"paused")
	regular(v1alpha1.Release{Version: "1.1.0", Paused: true})
	do(command.ExitOK, "rollout pause rolled -c regular", name+"already paused")
	do(command.ExitOK, "rollout resume rolled -c regular", name+"resumed")
	do(command.ExitOK, "rollout abort rolled -c regular -o name", "modulereleasemeta.kyma.m.crossplane.io/rolled\n")
	regular(v1alpha1.Release{Version: "1.1.0", AbortedVersion: "1.1.0"})

	watching := start(t, "", long, "default", "rollout", "status", "rolled", "-w")
	watching.says(t, "not reconciled by the provider yet")
	report(t, m, v1alpha1.RolloutProgressing, "1.0.0")
	watching.says(t, "wave canary, 1 of 4 updated")
	report(t, m, v1alpha1.RolloutFailed, "1.0.0")
	watching.want(t, command.ExitRollout, "is Failed: 1 of 4 Kymas failed", "team-a", "Deployment a/b: 0 of 1")

	refresh(t, m)
	do(command.ExitOK, "rollout retry rolled -c regular", name+"retried")
	if r := m.Spec.Channels[1]; r.Retry == "" || r.AbortedVersion != "" {
		t.Errorf("want a retry that is not aborted, got %v", r)
	}
	report(t, m, v1alpha1.RolloutFailed, "1.0.0")
	do(command.ExitOK, "rollout undo rolled -c regular", name+"undone")
	if r := m.Spec.Channels[1]; r.Version != "1.0.0" || m.Annotations[v1alpha1.AnnotationAllowDowngrade] != "regular@1.0.0" {
		t.Errorf("want version 1.0.0 and the annotation, got %v, %v", r, m.Annotations)
	}
	do(command.ExitFailure, "module promote rolled --version 0.1.0 --allow-missing --to fast", "--allow-downgrade")
	do(command.ExitOK, "module promote rolled --version 0.1.0 --allow-missing --allow-downgrade --to fast", "Warning: version 0.1.0 is lower")
	if got := m.Annotations[v1alpha1.AnnotationAllowDowngrade]; got != "regular@1.0.0,fast@0.1.0" {
		t.Errorf("want both downgrades, got %s", got)
	}
	report(t, m, v1alpha1.RolloutComplete, "1.1.0")
	do(command.ExitOK, "rollout status rolled --watch", "Complete")
	do(command.ExitOK, "module list -o wide", "no ModuleTemplate provides version 0.1.0")
	for flag, want := range map[string]string{"module promote": "rolled\n", "rollout pause rolled --channel": "fast\nregular\n"} {
		last := ""
		if before, ok := strings.CutSuffix(flag, " --channel"); ok {
			flag, last = before, "--channel="
		}
		if s := start(t, "", long, "default", "__complete", flag, last).wait(); !strings.HasPrefix(s.out.String(), want) {
			t.Errorf("completion of %s: want %q, got %q", flag, want, s.out.String())
		}
	}
}

// TestRolloutPage runs the commands in docs/rollouts-with-kymactl.md.
func TestRolloutPage(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "rollouts-with-kymactl.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := released(t, "greeter")
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			args := strings.Fields(strings.TrimPrefix(line, "kymactl "))
			kymactl(t, "default", args...).want(t, command.ExitOK)
			ran++
			report(t, m, v1alpha1.RolloutProgressing, "1.0.0")
		}
	}
	if got := m.Spec.Channels[1].Version; ran != 8 || got != "1.0.0" {
		t.Errorf("want 8 commands that end with version 1.0.0, got %d and %s", ran, got)
	}
}
