// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
)

// informers records the handler for each kind. A kind in errs has no informer.
type informers struct {
	cache.Informers

	handlers map[string]toolscache.ResourceEventHandler
	errs     map[string]error
}

func (i *informers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	return &informer{set: func(h toolscache.ResourceEventHandler) { i.handlers[kind] = h }}, i.errs[kind]
}

type informer struct {
	cache.Informer

	set func(toolscache.ResourceEventHandler)
}

func (i *informer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.set(h)
	return nil, nil //nolint:nilnil // The reader does not use it.
}

// TestForget checks that the content of objects does not stay in memory after they are deleted.
func TestForget(t *testing.T) {
	metadata := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: types.UID(name), ResourceVersion: "1"}}
	}
	cases := map[string]struct {
		reason string
		kind   string
		// deleted is what the watch shows, if anything.
		deleted any
		// missing means that the object is read again after it was deleted.
		missing bool
		// during means that the object is deleted while its content is read.
		during bool
		want   int
	}{
		"Secret":    {reason: "The kubeconfig of a cluster that is gone is not kept.", kind: kindSecret, deleted: metadata("a"), want: 1},
		"ConfigMap": {reason: "Neither are values.", kind: kindConfigMap, deleted: metadata("a"), want: 1},
		"Unknown":   {reason: "The watch was interrupted when the object was deleted.", kind: kindSecret, deleted: toolscache.DeletedFinalStateUnknown{Key: "n/a", Obj: metadata("a")}, want: 1},
		"Missing":   {reason: "The object was read for the last time after the watch showed that it is gone.", kind: kindSecret, missing: true, want: 1},
		"During":    {reason: "The watch shows the deletion before the content is there.", kind: kindSecret, deleted: metadata("a"), during: true, want: 1},
		"Other":     {reason: "Objects that nothing was read from can be deleted.", kind: kindSecret, deleted: metadata("c"), want: 2},
		"Invalid":   {reason: "Something else than an object is ignored.", kind: kindSecret, deleted: "a", want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			gone, i := map[string]bool{}, &informers{handlers: map[string]toolscache.ResourceEventHandler{}}
			r := NewReader(&test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, obj client.Object) error {
				if gone[k.Name] {
					return kerrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, k.Name)
				}
				metadata(k.Name).DeepCopyInto(obj.(*metav1.PartialObjectMetadata))
				return nil
			}}, &test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, obj client.Object) error {
				obj.SetUID(types.UID(k.Name))
				obj.SetResourceVersion("1")
				if tc.during && k.Name == "a" {
					gone[k.Name] = true
					i.handlers[tc.kind].OnDelete(tc.deleted)
				}
				return nil
			}})
			if err := r.Watch(t.Context(), i); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a", "b"} {
				if _, _, err := r.Values(t.Context(), tc.kind, "n", name); err != nil {
					t.Fatal(err)
				}
			}
			if tc.deleted != nil && !tc.during {
				i.handlers[tc.kind].OnDelete(tc.deleted)
			}
			if gone["a"] = tc.missing; tc.missing {
				if _, _, err := r.Values(t.Context(), tc.kind, "n", "a"); err == nil {
					t.Error("no error for an object that is gone")
				}
			}
			got := 0
			for _, name := range []string{"a", "b"} {
				if _, ok := r.versions.Get(objectKey{tc.kind, types.NamespacedName{Namespace: "n", Name: name}}); ok {
					got++
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nobjects in memory: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWatchFails(t *testing.T) {
	r := NewReader(&test.MockClient{}, &test.MockClient{})
	i := &informers{handlers: map[string]toolscache.ResourceEventHandler{}, errs: map[string]error{kindConfigMap: errors.New("forbidden")}}
	if err := r.Watch(t.Context(), i); err == nil || err.Error() != "cannot watch kind ConfigMap: forbidden" {
		t.Errorf("Watch(...): %v", err)
	}
}

// TestManyKubeconfigs reads the Secrets of a large fleet twice, in the same order. The cache must be large enough: otherwise, each object would
// be displaced just before it is read again, and each reconcile would send a request.
func TestManyKubeconfigs(t *testing.T) {
	const clusters, size = 10_000, 5 << 10
	reads := 0
	r := NewReader(&test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, obj client.Object) error {
		obj.SetUID(types.UID(k.Name))
		return nil
	}}, &test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, obj client.Object) error {
		reads++
		obj.(*corev1.Secret).UID, obj.(*corev1.Secret).Data = types.UID(k.Name), map[string][]byte{"kubeconfig": make([]byte, size)}
		return nil
	}})
	for range 2 {
		for n := range clusters {
			if _, err := r.Get(t.Context(), "fleet", "cluster-"+strconv.Itoa(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if reads != clusters {
		t.Errorf("want %d requests, got %d", clusters, reads)
	}
}
