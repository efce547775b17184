// SPDX-License-Identifier: Apache-2.0

package noopupdate

import (
	"context"
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestUpdateStatus(t *testing.T) {
	manifest := func(version string, ready bool) *v1alpha1.Manifest {
		m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "m", ResourceVersion: version}}
		if ready {
			m.SetConditions(xpv2.Available())
			m.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		}
		return m
	}
	cases := map[string]struct {
		reason string
		cached *v1alpha1.Manifest
		obj    client.Object
		want   int
	}{
		"Same":      {reason: "An update that changes nothing is not sent.", cached: manifest("1", true), obj: manifest("1", true)},
		"Different": {reason: "An update that changes something is sent.", cached: manifest("1", false), obj: manifest("1", true), want: 1},
		"Stale":     {reason: "A cache with another version decides nothing.", cached: manifest("2", true), obj: manifest("1", true), want: 1},
		"Other":     {reason: "Updates of other kinds are sent.", cached: manifest("1", true), obj: &v1alpha1.ProviderConfigUsage{}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			writes := 0
			c := newClient(&test.MockClient{
				MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
					tc.cached.DeepCopyInto(obj.(*v1alpha1.Manifest))
					return nil
				},
				MockStatusUpdate: func(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
					writes++
					return nil
				},
			})
			if err := c.Status().Update(t.Context(), tc.obj); err != nil || writes != tc.want {
				t.Errorf("\n%s\nUpdate(...): %v, want %d writes, got %d", tc.reason, err, tc.want, writes)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	config := func(version, finalizer string) *v1alpha1.ProviderConfig {
		return &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{
			Namespace: "n", Name: "c", ResourceVersion: version, Finalizers: []string{finalizer},
		}}
	}
	cases := map[string]struct {
		reason string
		cached *v1alpha1.ProviderConfig
		obj    client.Object
		want   int
	}{
		"Same":      {reason: "An update that changes nothing is not sent.", cached: config("1", "a"), obj: config("1", "a")},
		"Different": {reason: "An update that changes something is sent.", cached: config("1", "a"), obj: config("1", "b"), want: 1},
		"Stale":     {reason: "A cache with another version decides nothing.", cached: config("2", "a"), obj: config("1", "a"), want: 1},
		"Other":     {reason: "A Manifest is always written.", cached: config("1", "a"), obj: &v1alpha1.Manifest{}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			writes := 0
			c := newClient(&test.MockClient{
				MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
					tc.cached.DeepCopyInto(obj.(*v1alpha1.ProviderConfig))
					return nil
				},
				MockUpdate: func(context.Context, client.Object, ...client.UpdateOption) error {
					writes++
					return nil
				},
			})
			if err := c.Update(t.Context(), tc.obj); err != nil || writes != tc.want {
				t.Errorf("\n%s\nUpdate(...): %v, want %d writes, got %d", tc.reason, err, tc.want, writes)
			}
		})
	}
}

// TestStaleCache holds that an update is sent where the cache does not have the last write yet, and looks like the update.
func TestStaleCache(t *testing.T) {
	manifest := func(version string, ready bool) *v1alpha1.Manifest {
		m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "m", UID: "u", ResourceVersion: version}}
		if ready {
			m.Status.AtProvider.State = v1alpha1.StateReady
		}
		return m
	}
	writes := 0
	c := newClient(&test.MockClient{
		MockGet: func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
			manifest("1", true).DeepCopyInto(obj.(*v1alpha1.Manifest))
			return nil
		},
		MockStatusUpdate: func(_ context.Context, obj client.Object, _ ...client.SubResourceUpdateOption) error {
			writes++
			obj.SetResourceVersion("2")
			return nil
		},
	})
	for want, ready := range []bool{true, false, true} {
		if err := c.Status().Update(t.Context(), manifest("1", ready)); err != nil || writes != want {
			t.Fatalf("after update %d there must be %d writes, got %d, %v", want, want, writes, err)
		}
	}
}

// TestApply holds that the version of an object that was applied is waited for.
func TestApply(t *testing.T) {
	gets := 0
	c := newClient(&test.MockClient{
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
		// cached are the versions that the cache shows, one after the other; the last one stays.
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
		"Stuck":   {reason: "The wait ends.", cached: []string{"9"}, written: "10", want: "9", looks: attempts + 1},
		"Stopped": {reason: "The context has ended.", cached: []string{"9"}, written: "10", stopped: true, want: "9", looks: 1},
		"Words":   {reason: "Versions that are not numbers cannot be compared.", cached: []string{"a"}, written: "b", want: "a", looks: 1},
		"Word":    {reason: "Nor can one of them.", cached: []string{"a"}, written: "1", want: "a", looks: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n := 0
			c := newClient(&test.MockClient{
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
