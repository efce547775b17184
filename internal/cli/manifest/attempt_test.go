// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// manifestOf returns a Manifest of a version, as in a file.
func manifestOf(version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"forProvider": map[string]any{"installs": []any{map[string]any{"name": "web", "version": version}}}},
	}}
	u.SetGroupVersionKind(v1alpha1.ManifestGroupVersionKind)
	u.SetNamespace("ns")
	u.SetName("web")
	return u
}

// stored returns an object as an API server stores it: with a UID, a field manager and defaults, and without empty fields.
func stored(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := u.DeepCopy()
	if out.GetUID() == "" {
		out.SetUID("1")
	}
	for _, field := range []string{"labels", "annotations"} {
		if m, _, _ := unstructured.NestedMap(out.Object, "metadata", field); len(m) == 0 {
			unstructured.RemoveNestedField(out.Object, "metadata", field)
		}
	}
	out.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: command.FieldManager}})
	_ = unstructured.SetNestedStringSlice(out.Object, []string{"*"}, "spec", "managementPolicies")
	return out
}

// A faulty server fails the response to its first write, and ends the context of the command.
type faulty struct {
	now     *unstructured.Unstructured // Nil if it does not exist.
	failure error                      // Error of the first write.
	written bool                       // Whether the first write succeeds nevertheless.
	writes  int
	end     context.CancelFunc
}

func (f *faulty) client(t *testing.T) client.WithWatch {
	t.Helper()
	write := func(o client.Object) error {
		f.writes++
		if f.writes > 1 || f.written {
			f.now = stored(o.(*unstructured.Unstructured))
		}
		if f.writes > 1 {
			return nil
		}
		f.end()
		return f.failure
	}
	return interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if f.now == nil {
				return kerrors.NewNotFound(schema.GroupResource{Resource: "manifests"}, key.Name)
			}
			f.now.DeepCopyInto(o.(*unstructured.Unstructured))
			return nil
		},
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			return write(o)
		},
		Update: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.UpdateOption) error {
			return write(o)
		},
		Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, o ...client.DeleteOption) error {
			if p := (&client.DeleteOptions{}).ApplyOptions(o).Preconditions; p == nil || p.UID == nil || *p.UID != f.now.GetUID() {
				return errors.New("want the UID of the object")
			}
			f.now = nil
			return nil
		},
	})
}

// TestUnansweredWrite checks that enterPlanMode restores an object if the write that puts it into plan mode fails.
func TestUnansweredWrite(t *testing.T) {
	lost := errors.New("connection reset")
	was := stored(manifestOf("1"))
	kept := was.DeepCopy()
	if err := setMode(kept, v1alpha1.ModePlan); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		before *unstructured.Unstructured
		want   *unstructured.Unstructured
		server faulty
		writes int
	}{
		"Interrupted": {"The previous mode is restored.", was, nil, faulty{failure: context.Canceled, written: true}, 2},
		"File":        {"The previous spec is restored.", was, manifestOf("2"), faulty{failure: lost, written: true}, 2},
		"InPlanMode":  {"An object that was in plan mode stays in it.", kept, manifestOf("2"), faulty{failure: lost, written: true}, 2},
		"ServerError": {"After an internal error, the write could have succeeded.", was, manifestOf("2"), faulty{failure: kerrors.NewInternalError(lost), written: true}, 2},
		"New":         {"An object that did not exist is deleted.", nil, manifestOf("2"), faulty{failure: lost, written: true}, 2},
		"Unwritten":   {"If the write did not succeed, nothing is restored.", was, manifestOf("2"), faulty{failure: lost}, 1},
		"NoneWritten": {"If the object was not created, nothing is deleted.", nil, manifestOf("2"), faulty{failure: lost}, 1},
		"Refused": {
			"After a rejected write, the object is not read.", nil, manifestOf("2"),
			faulty{failure: kerrors.NewAlreadyExists(schema.GroupResource{}, "web"), written: true}, 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			s := &tc.server
			s.end = end
			if tc.before != nil {
				s.now = tc.before.DeepCopy()
			}
			d := &planSession{client: s.client(t), want: tc.want, before: tc.before}
			d.resourceRef = resourceRef{kind: v1alpha1.ManifestGroupVersionKind, NamespacedName: types.NamespacedName{Namespace: "ns", Name: "web"}}
			if err := (&plan{}).enterPlanMode(ctx, d); !errors.Is(err, s.failure) {
				t.Errorf("\n%s\nenterPlanMode(...): want %v, got %v", tc.reason, s.failure, err)
			}
			want := tc.before
			if name == "Refused" {
				want = s.now
			}
			if diff := cmp.Diff(want, s.now); diff != "" || s.writes != tc.writes {
				t.Errorf("\n%s\nenterPlanMode(...): %d writes, want %d; object: -want, +got:\n%s", tc.reason, s.writes, tc.writes, diff)
			}
		})
	}
}

func TestContains(t *testing.T) {
	type args struct{ all, part any }
	one := map[string]any{"a": int64(1)}
	two := map[string]any{"a": int64(1), "b": "c"}
	cases := map[string]struct {
		reason string
		args   args
		want   bool
	}{
		"Equal":    {"A value contains itself.", args{two, two}, true},
		"Default":  {"Additional fields are allowed.", args{two, one}, true},
		"Missing":  {"A missing field is a difference.", args{one, two}, false},
		"Other":    {"Another value is a difference.", args{map[string]any{"a": int64(2)}, one}, false},
		"Null":     {"A field that is null can be missing.", args{one, map[string]any{"b": nil}}, true},
		"List":     {"Additional fields in items are allowed.", args{[]any{two}, []any{one}}, true},
		"Longer":   {"Additional items are a difference.", args{[]any{one, one}, []any{one}}, false},
		"Item":     {"Items are compared.", args{[]any{one}, []any{two}}, false},
		"NoObject": {"An object only contains objects.", args{"a", one}, false},
		"NoList":   {"A list only contains lists.", args{one, []any{}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := contains(tc.args.all, tc.args.part); got != tc.want {
				t.Errorf("\n%s\ncontains(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
