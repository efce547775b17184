// SPDX-License-Identifier: Apache-2.0

package readyourwrites

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A laggingServer contains one object. Its cache contains a write only after some reads.
type laggingServer struct {
	version, cached, reads int
}

func (s *laggingServer) client() *test.MockClient {
	return &test.MockClient{
		MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
			if s.reads++; s.reads%3 == 0 {
				s.cached = s.version
			}
			obj.SetUID("u")
			obj.SetResourceVersion(strconv.Itoa(s.cached))
			return nil
		},
		MockUpdate: func(_ context.Context, obj client.Object, _ ...client.UpdateOption) error {
			if obj.GetResourceVersion() != strconv.Itoa(s.version) {
				return kerrors.NewConflict(schema.GroupResource{}, obj.GetName(), errors.New("the object has been modified"))
			}
			s.version++
			obj.SetResourceVersion(strconv.Itoa(s.version))
			return nil
		},
	}
}

// TestNoConflict checks the purpose of the client: a reconcile that immediately follows a write does not end in a conflict.
func TestNoConflict(t *testing.T) {
	cases := map[string]struct {
		reason string
		client func(c client.Client) client.Client
		want   bool
	}{
		"Plain":          {reason: "A client that reads from a cache has the state before its write.", client: func(c client.Client) client.Client { return c }, want: true},
		"ReadYourWrites": {reason: "The client waits until the cache has the write.", client: func(c client.Client) client.Client { return New(c) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &laggingServer{version: 1, cached: 1}
			c := tc.client(s.client())
			var err error
			for range 2 {
				k := &v1alpha1.Kyma{}
				if err := c.Get(t.Context(), client.ObjectKey{}, k); err != nil {
					t.Fatal(err)
				}
				err = c.Update(t.Context(), k)
			}
			if kerrors.IsConflict(err) != tc.want {
				t.Errorf("\n%s\nUpdate(...) of the second reconcile: want a conflict %t, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestApply checks that the client waits for the version of an applied object.
func TestApply(t *testing.T) {
	gets := 0
	c := New(&test.MockClient{
		MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
			obj.SetUID("u")
			obj.SetResourceVersion([]string{"8", "8", "9"}[gets])
			gets++
			return nil
		},
		MockApply: func(_ context.Context, obj runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			return json.Unmarshal([]byte(`{"apiVersion":"kyma.m.crossplane.io/v1alpha1","kind":"Manifest","metadata":{"uid":"u","resourceVersion":"9"}}`), obj)
		},
	})
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{})); err != nil {
		t.Fatal(err)
	}
	got := &v1alpha1.Manifest{}
	if err := c.Get(t.Context(), client.ObjectKey{}, got); err != nil || got.ResourceVersion != "9" || gets != 3 {
		t.Errorf("Get(...): %v, want version 9 after 3 attempts, got %s after %d", err, got.ResourceVersion, gets)
	}
}

func TestGet(t *testing.T) {
	kyma := func(version string) *v1alpha1.Kyma {
		return &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "k", UID: "u", ResourceVersion: version}}
	}
	cases := map[string]struct {
		reason string
		// cached contains the versions that the cache returns, one after the other. The last one is repeated.
		cached  []string
		written string
		stopped bool
		want    string
		looks   int
	}{
		"Nothing": {reason: "An object without a write is returned at once.", cached: []string{"7"}, want: "7", looks: 1},
		"Shown":   {reason: "The cache shows what we wrote.", cached: []string{"8"}, written: "8", want: "8", looks: 1},
		"Newer":   {reason: "Another client wrote later.", cached: []string{"10"}, written: "9", want: "10", looks: 1},
		"Behind":  {reason: "Get waits for the cache.", cached: []string{"9", "9", "10"}, written: "10", want: "10", looks: 3},
		"Stuck":   {reason: "The wait has a limit.", cached: []string{"9"}, written: "10", want: "9", looks: attempts + 1},
		"Stopped": {reason: "The context has ended.", cached: []string{"9"}, written: "10", stopped: true, want: "9", looks: 1},
		"Words":   {reason: "Versions that are not numbers cannot be compared.", cached: []string{"a"}, written: "b", want: "a", looks: 1},
		"Word":    {reason: "A resource version that is not a number cannot be compared.", cached: []string{"a"}, written: "1", want: "a", looks: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n := 0
			c := New(&test.MockClient{
				MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
					kyma(tc.cached[min(n, len(tc.cached)-1)]).DeepCopyInto(obj.(*v1alpha1.Kyma))
					n++
					return nil
				},
				MockUpdate: func(context.Context, client.Object, ...client.UpdateOption) error { return nil },
			})
			if tc.written != "" {
				if err := c.Update(t.Context(), kyma(tc.written)); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.stopped {
				cancel()
			}
			got := &v1alpha1.Kyma{}
			if err := c.Get(ctx, client.ObjectKey{}, got); err != nil || got.ResourceVersion != tc.want || n != tc.looks {
				t.Errorf("\n%s\nGet(...): %v, want version %s after %d looks, got %s after %d", tc.reason, err, tc.want, tc.looks, got.ResourceVersion, n)
			}
		})
	}
}
