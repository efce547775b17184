// SPDX-License-Identifier: Apache-2.0

package noopupdate

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/readyourwrites"
)

// newClient returns a client over a server that is its own cache.
func newClient(c client.Client) *Client { return New(readyourwrites.New(c), c) }

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

// TestStaleCache checks that an update is sent if the cache does not contain the last write yet and equals the update.
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
