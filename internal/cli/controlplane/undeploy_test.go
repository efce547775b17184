// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// actions returns the actions in the output of a command with -o json.
func actions(t testing.TB, r result) map[string]apply.Action {
	t.Helper()
	var list apply.Outcomes
	if err := json.Unmarshal([]byte(r.out), &list); err != nil {
		t.Fatalf("%v\n%s", err, r.out)
	}
	out := map[string]apply.Action{}
	for _, o := range list.Objects {
		out[o.Kind+" "+strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")] = o.Action
	}
	return out
}

func TestWaitingFor(t *testing.T) {
	manifest := func(status map[string]any) unstructured.Unstructured {
		return *apply.Wanted(apply.Object{GroupVersionKind: v1alpha1.ManifestGroupVersionKind, Name: "m"}, map[string]any{"status": status})
	}
	conditions := func(synced, failure string) []any {
		return []any{
			map[string]any{"type": "Ready", "status": "False", "reason": "Deleting"},
			map[string]any{"type": "Synced", "status": synced, "message": failure},
		}
	}
	held := map[string]any{"message": "Widget w: waits for finalizer example.org/hold"}
	cases := map[string]struct {
		reason    string
		manifests []unstructured.Unstructured
		want      string
	}{
		"Alone":  {"Without Manifests, it waits for the provider.", nil, "deletion in progress: is the provider running?"},
		"Silent": {"A Manifest can have no message yet.", []unstructured.Unstructured{manifest(nil)}, "waiting for Manifest m"},
		"Held": {
			"The condition Ready of a Manifest that is being deleted has no message, so that of its status is used.",
			[]unstructured.Unstructured{manifest(map[string]any{"conditions": conditions("True", ""), "atProvider": held})},
			"waiting for Manifest m: Widget w: waits for finalizer example.org/hold",
		},
		"Failure": {
			"An error of the last reconcile takes precedence.",
			[]unstructured.Unstructured{manifest(map[string]any{"conditions": conditions("False", "connection refused"), "atProvider": held})},
			"waiting for Manifest m: connection refused",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := waitingFor(&unstructured.Unstructured{Object: map[string]any{}}, tc.manifests)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nwaitingFor: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUndeployTwice(t *testing.T) {
	template := filepath.Join(t.TempDir(), "t.yaml")
	write(t, template, strings.ReplaceAll(oneTemplate, "istio", "undone"))
	succeed(t, newDeploy, "-n", "undone", "--target-kubeconfig", target(t), "--template", template)
	cases := []struct {
		reason string
		args   []string
		want   map[string]apply.Action
	}{
		{
			reason: "Objects that deploy created for the Kyma are deleted.",
			want: map[string]apply.Action{
				"Kyma undone/default": apply.Deleted, "ProviderConfig undone/default": apply.Deleted, "Secret undone/default-kubeconfig": apply.Deleted,
			},
		},
		{reason: "Objects that no longer exist are unchanged.", want: map[string]apply.Action{"Kyma undone/default": apply.Unchanged, "ProviderConfig undone/default": apply.Unchanged}},
		{
			reason: "A flag also deletes objects that the whole control plane shares.", args: []string{"--templates"},
			want: map[string]apply.Action{"Kyma undone/default": apply.Unchanged, "ProviderConfig undone/default": apply.Unchanged, "ModuleTemplate undone-regular": apply.Deleted},
		},
	}
	for _, tc := range cases {
		r := succeed(t, NewUndeploy, append(tc.args, "-n", "undone", "-o", "json")...)
		got := actions(t, r)
		for name := range got {
			if _, ok := tc.want[name]; !ok && (strings.HasPrefix(name, "ModuleTemplate") || strings.HasPrefix(name, "ClusterProviderConfig")) {
				// It was created by other tests.
				delete(got, name)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s\nundeploy %s: -want, +got:\n%s", tc.reason, tc.args, diff)
		}
		if !strings.Contains(r.said, "Kept: namespace undone") {
			t.Errorf("%s\nundeploy %s: it does not say what is kept: %q", tc.reason, tc.args, r.said)
		}
	}
}

func TestUndeployOfOthers(t *testing.T) {
	defined(t)
	succeed(t, newDeploy, "-n", "others", "--target-kubeconfig", target(t))
	succeed(t, newDeploy, "-n", "others", "--provider-config", "default", "--kyma", "second")
	patch(t, kymaIn("others"), `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)

	r := succeed(t, NewUndeploy, "-n", "others", "-o", "json")
	want := map[string]apply.Action{"Kyma others/default": apply.Kept, "ProviderConfig others/default": apply.Kept, "Secret others/default-kubeconfig": apply.Kept}
	got := actions(t, r)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("undeploy of a Kyma of others: -want, +got:\n%s", diff)
	}
	if !strings.Contains(r.said, "Warning: Kyma others/default was not created by kymactl: to delete it, specify it with --kyma") {
		t.Errorf("undeploy of a Kyma of others: it does not say what to do: %q", r.said)
	}

	got = actions(t, succeed(t, NewUndeploy, "-n", "others", "-o", "json", "--kyma", "default"))
	want["Kyma others/default"] = apply.Deleted
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("undeploy of a Kyma by name: -want, +got:\n%s", diff)
	}
	mustGet(t, secretIn("others"))

	got = actions(t, succeed(t, NewUndeploy, "-n", "others", "-o", "json", "--kyma", "second"))
	if got["Kyma others/second"] != apply.Deleted || get(t, configIn("others")) != nil || get(t, secretIn("others")) != nil {
		t.Errorf("undeploy of the last user: want its config deleted too, got %v", got)
	}
}

func TestUndeployHangs(t *testing.T) {
	succeed(t, newDeploy, "-n", "hangs", "--target-kubeconfig", target(t))
	patch(t, kymaIn("hangs"), `{"metadata":{"finalizers":["example.org/provider"]}}`)
	timeOut(t, NewUndeploy, ": is the provider running?", "-n", "hangs")

	kyma := mustGet(t, kymaIn("hangs"))
	o := apply.Object{GroupVersionKind: v1alpha1.ManifestGroupVersionKind, Namespace: "hangs", Name: "default-istio"}
	m := apply.Wanted(o, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"installs": []any{map[string]any{
		"name": "a", "source": map[string]any{"type": "oci-ref", "repo": "registry.example.org/a", "ref": "sha256:" + strings.Repeat("0", 64), "name": "a"},
	}}}}})
	m.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(kyma, v1alpha1.KymaGroupVersionKind)})
	if err := plane.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	setCondition(t, o, "Synced", "False", "ConfigMap a/b is held by finalizer x")
	timeOut(t, NewUndeploy, "Kyma hangs/default to be deleted: waiting for Manifest default-istio: ConfigMap a/b is held by finalizer x", "-n", "hangs")
	if get(t, configIn("hangs")) == nil || get(t, secretIn("hangs")) == nil {
		t.Error("undeploy that hangs: the access to the cluster is gone before the modules are")
	}

	// A new deployment waits until the old Kyma is deleted, and creates another one.
	if err := plane.Delete(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	kubeconfig, done := target(t), make(chan result)
	go func() { done <- run(t, NewDeploy, "-n", "hangs", "--target-kubeconfig", kubeconfig) }()
	select {
	case r := <-done:
		t.Errorf("deploy while the Kyma is being deleted: it did not wait: %v\n%s", r.err, r.out)
	case <-time.After(2 * time.Second):
	}
	patch(t, kymaIn("hangs"), `{"metadata":{"finalizers":null}}`)
	if r := <-done; r.err != nil {
		t.Fatal(r.err)
	}
	if again := mustGet(t, kymaIn("hangs")); again.GetUID() == kyma.GetUID() {
		t.Error("deploy while the Kyma is being deleted: want another Kyma")
	}
}

// TestRemoveProtected simulates the webhook of Crossplane, which rejects the deletion of an object that is in use, with code 409
// and the message as the reason. The object is deleted once it is no longer in use.
func TestRemoveProtected(t *testing.T) {
	o := apply.Object{GroupVersionKind: apply.CoreKind("ConfigMap"), Namespace: "default", Name: "protected"}
	refusal := &kerrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: "This resource is in-use by 1 usage(s)",
		Message: "admission webhook denied the request: This resource is in-use by 1 usage(s)",
	}}
	cases := map[string]struct {
		reason   string
		refusals int
		timeout  time.Duration
		want     []string
	}{
		"ForAWhile": {"The object is deleted when nothing protects it anymore.", 2, time.Minute, nil},
		"ForEver":   {"The message names what protects the object.", 1000, 2 * time.Second, []string{"ConfigMap default/protected", "in-use by 1 usage(s)"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := plane.Create(t.Context(), apply.Wanted(o, nil)); client.IgnoreAlreadyExists(err) != nil {
				t.Fatal(err)
			}
			refusals := tc.refusals
			k := interceptor.NewClient(watching(t), interceptor.Funcs{
				Delete: func(ctx context.Context, k client.WithWatch, o client.Object, options ...client.DeleteOption) error {
					if refusals--; refusals >= 0 {
						return refusal
					}
					return k.Delete(ctx, o, options...)
				},
			})
			e := &command.Environment{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
			r := &removal{e: e, plane: &apply.Plane{Client: k, Document: documents}, report: &apply.Report{Environment: e, Output: &command.Output{}}}
			protected := mustGet(t, o)
			ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
			defer cancel()
			err := r.remove(ctx, protected, nil)
			if gone := get(t, o) == nil; gone != (tc.want == nil) {
				t.Errorf("%s: gone is %t, and the error %v", tc.reason, gone, err)
			}
			if tc.want == nil {
				if err != nil {
					t.Errorf("%s: %v", tc.reason, err)
				}
				return
			}
			if got := command.CodeOf(err); got != command.ExitTimeout {
				t.Errorf("%s: want exit code %d, got %d (%v)", tc.reason, command.ExitTimeout, got, err)
			}
			for _, part := range tc.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%s: want %q in the error, got %v", tc.reason, part, err)
				}
			}
		})
	}
}
