// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// The config layer comes with the module. It may take over objects without an owner, but none of another module: only the author
// of the Manifest may decide that.
func TestTakeOwnershipOfOtherBundles(t *testing.T) {
	b := newBench(t)
	theirs := bundleOf(install("web", configMap("one")))
	theirs.Name = "team-b-web"
	b.reconcile(theirs)
	s := bundleOf(install("web", configMap("one")))
	s.Config = configOf(entryFor("web", "TakeOwnership=true", ""))
	_, err := b.Apply(t.Context(), b.c, s)
	if err == nil || !strings.Contains(err.Error(), "belongs to another owner") && !strings.Contains(err.Error(), "does not belong to this module") {
		t.Errorf("the object of another module: %v", err)
	}
	if o := b.observe(theirs); o.State != Ready || !o.UpToDate || len(o.Drift) > 0 {
		t.Errorf("the other module: %+v", o)
	}
	s.Adopt = true
	b.reconcile(s)
}

// Helm keeps only objects with the annotation. Any other object belongs to a release that is recorded elsewhere.
func TestNotKeptByHelm(t *testing.T) {
	b := newBench(t)
	b.s.put(manifestOf(t, namespaceOf("apps")).Object)
	k := b.s.put(manifestOf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: apps, name: one, labels: {app.kubernetes.io/managed-by: Helm},
		annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: apps}}}`).Object)
	_, err := b.Apply(t.Context(), b.c, bundleOf(install("web", configMap("one"))))
	if err == nil || !strings.Contains(err.Error(), "already exists and does not belong to this module") || b.s.objects[k].u().GetLabels()[object.LabelPartOf] != "" {
		t.Errorf("want a refusal, got %v", err)
	}
}

// A hook deletes an object with its name. With adoption, this can be an object of another owner, but not an object that
// contains other objects.
func TestHookReplacesNoNamespaceOfOthers(t *testing.T) {
	b := newBench(t)
	b.s.put(manifestOf(t, namespaceOf("apps")).Object)
	k := b.s.put(manifestOf(t, namespaceOf("theirs")).Object)
	uid := b.s.uidOf(k)
	s := bundleOf(install("web", hookOf("v1", "Namespace", "theirs", "pre-install")))
	s.Adopt = true
	_, err := b.Apply(t.Context(), b.c, s)
	if err == nil || !strings.Contains(err.Error(), "Namespace theirs already exists and does not belong to this module") || b.s.uidOf(k) != uid {
		t.Errorf("want a refusal, got %v", err)
	}
}

// The output of a hook may contain secrets. They are removed before it is stored anywhere.
func TestRedactLastWords(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install")))
	redact := WithRedactor(func(text string) string { return strings.ReplaceAll(text, "hunter2", "(hidden)") })
	b.apply(s, redact)
	b.s.put(manifestOf(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: apps, labels: {batch.kubernetes.io/job-name: first}}\n"+
		"status: {phase: Failed, containerStatuses: [{name: c, state: {terminated: {exitCode: 1, reason: Error}}}]}\n").Object)
	b.s.logs = map[string]string{"p": strings.Repeat("x", text.MaxExcerpt-4) + "hunter2\n"}
	failJob(b, "first")
	if got := b.fails(s, redact); strings.Contains(got, "hunt") || !strings.Contains(got, "xxx") {
		t.Errorf("the error is %q", got)
	}
	if run := b.inventory(s).Parts["web"].Run; strings.Contains(run.Failed, "hunt") {
		t.Errorf("in the inventory is %q", run.Failed)
	}
	info, err := b.begun(s).history().Get(t.Context(), inventory.Release{Namespace: "apps", Name: "web"}, 1)
	if err != nil || strings.Contains(info.Description, "hunt") {
		t.Errorf("in the record is %q, %v", info.Description, err)
	}
	if diff := cmp.Diff([]string{"1 failed"}, b.statuses()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
