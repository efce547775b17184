// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestUsageTracker checks which Manifests need no usage of their own.
func TestUsageTracker(t *testing.T) {
	ref := func(name string) *xpv2.ProviderConfigReference {
		return &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: name}
	}
	yes := true
	cases := map[string]struct {
		reason string
		owner  string
		uid    types.UID
		config string
		err    error
		want   bool
	}{
		"Child":     {reason: "The usage of the Kyma covers its Manifests.", owner: v1alpha1.KymaKind, uid: "1", config: "a"},
		"Alone":     {reason: "A Manifest without a Kyma is tracked.", config: "a", want: true},
		"Composed":  {reason: "A Manifest with another owner is tracked.", owner: "XCluster", uid: "1", config: "a", want: true},
		"Elsewhere": {reason: "The Kyma uses another cluster, or did when the Manifest was created.", owner: v1alpha1.KymaKind, uid: "1", config: "b", want: true},
		"Former":    {reason: "Another Kyma has the name now.", owner: v1alpha1.KymaKind, uid: "2", config: "a", want: true},
		"Unknown":   {reason: "If the Kyma cannot be read, the Manifest is tracked.", owner: v1alpha1.KymaKind, uid: "1", config: "a", err: errors.New("boom"), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := &v1alpha1.Manifest{}
			mr.Spec.ProviderConfigReference = ref(tc.config)
			if tc.owner != "" {
				mr.OwnerReferences = []metav1.OwnerReference{{Kind: tc.owner, Name: "k", UID: tc.uid, Controller: &yes}}
			}
			got := false
			tracker := &UsageTracker{
				ModernTracker: resource.ModernTrackerFn(func(context.Context, resource.ModernManaged) error {
					got = true
					return nil
				}),
				Client: &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
					k, _ := o.(*v1alpha1.Kyma)
					k.UID, k.Spec.ProviderConfigReference = "1", ref("a")
					return tc.err
				}},
			}
			if err := tracker.Track(t.Context(), mr); err != nil || got != tc.want {
				t.Errorf("\n%s\nTrack(...): want tracked %t, got %t, %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// TestUsageClient checks which lists use the index of usages.
func TestUsageClient(t *testing.T) {
	labels := client.MatchingLabels{xpv2.LabelKeyProviderName: "a", xpv2.LabelKeyProviderKind: v1alpha1.ProviderConfigKind}
	cases := map[string]struct {
		reason string
		list   client.ObjectList
		opts   []client.ListOption
		want   string
	}{
		"Usages": {
			"The usages of a config are found by its name, and by the other labels.", &v1alpha1.ProviderConfigUsageList{},
			[]client.ListOption{labels, client.InNamespace("n")},
			"n crossplane.io/provider-config=a,crossplane.io/provider-config-kind=ProviderConfig config=a",
		},
		"All":    {"All usages have no index.", &v1alpha1.ProviderConfigUsageList{}, []client.ListOption{client.InNamespace("n")}, "n  "},
		"Others": {"Other lists are unchanged.", &v1alpha1.ManifestList{}, []client.ListOption{labels}, " crossplane.io/provider-config=a,crossplane.io/provider-config-kind=ProviderConfig "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			c := usageClient{&test.MockClient{MockList: func(_ context.Context, _ client.ObjectList, opts ...client.ListOption) error {
				o := (&client.ListOptions{}).ApplyOptions(opts)
				selector, fields := "", ""
				if o.LabelSelector != nil {
					selector = o.LabelSelector.String()
				}
				if o.FieldSelector != nil {
					fields = o.FieldSelector.String()
				}
				got = strings.Join([]string{o.Namespace, selector, fields}, " ")
				return nil
			}}}
			if err := c.List(t.Context(), tc.list, tc.opts...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nList(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
