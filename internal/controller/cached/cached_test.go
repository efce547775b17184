// SPDX-License-Identifier: Apache-2.0

package cached

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const byChannel = "channel"

func channelOf(k *v1alpha1.Kyma) []string { return []string{k.Spec.ForProvider.Channel} }

func newKyma(namespace, name, channel string) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	k.Spec.ForProvider.Channel = channel
	return k
}

// informers has one informer, or returns an error.
type informers struct {
	informer cache.Informer
	err      error
}

func (i informers) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return i.informer, i.err
}

// synced is an informer that has received all objects.
type synced struct{ toolscache.SharedIndexInformer }

func (synced) HasSynced() bool { return true }

// plain is an informer without an indexer.
type plain struct{ cache.Informer }

func TestObjects(t *testing.T) {
	informer := toolscache.NewSharedIndexInformer(nil, &v1alpha1.Kyma{}, 0, toolscache.Indexers{})
	kind := Of(informers{informer: synced{informer}}, &v1alpha1.Kyma{})
	if err := kind.Index(t.Context(), byChannel, channelOf); err != nil {
		t.Fatal(err)
	}
	first, second, other := newKyma("a", "k", "fast"), newKyma("b", "k", "fast"), newKyma("a", "l", "regular")
	for _, k := range []*v1alpha1.Kyma{first, second, other} {
		if err := informer.GetIndexer().Add(k); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := kind.Objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fast, err := objects.By(byChannel, "fast")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := objects.Get("b", "k")
	_, missing := objects.Get("", "k")
	cases := map[string]struct {
		reason    string
		got, want []*v1alpha1.Kyma
	}{
		"All":  {reason: "All objects are listed.", got: objects.All(), want: []*v1alpha1.Kyma{first, other, second}},
		"By":   {reason: "An index has the objects of all namespaces.", got: fast, want: []*v1alpha1.Kyma{first, second}},
		"Name": {reason: "An object has a name in its namespace.", got: []*v1alpha1.Kyma{got}, want: []*v1alpha1.Kyma{second}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			slices.SortFunc(tc.got, func(a, b *v1alpha1.Kyma) int {
				return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
			})
			// The pointers are compared: nothing is copied.
			if diff := cmp.Diff(tc.want, tc.got, cmp.Comparer(func(a, b *v1alpha1.Kyma) bool { return a == b })); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if missing {
		t.Error("want that no object without a namespace has the name of one that has a namespace")
	}
}

func TestKindErrors(t *testing.T) {
	informer := toolscache.NewSharedIndexInformer(nil, &v1alpha1.Kyma{}, 0, toolscache.Indexers{byChannel: func(any) ([]string, error) { return nil, nil }})
	cases := map[string]struct {
		reason string
		do     func() error
	}{
		"Index": {"An index with this name exists.", func() error {
			return Of(informers{informer: informer}, &v1alpha1.Kyma{}).Index(t.Context(), byChannel, channelOf)
		}},
		"By": {"An index with this name does not exist.", func() error {
			objects, err := Of(informers{informer: synced{informer}}, &v1alpha1.Kyma{}).Objects(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = objects.By("other", "x")
			return err
		}},
		"Unknown": {"The API server does not serve the kind.", func() error {
			_, err := Of(informers{err: errors.New("no match")}, &v1alpha1.Kyma{}).Objects(t.Context())
			return err
		}},
		"NotStarted": {"A cache without objects that was not started must not look like an empty one.", func() error {
			_, err := Of(informers{informer: informer}, &v1alpha1.Kyma{}).Objects(t.Context())
			return err
		}},
		"Plain": {"The informer has no indexer.", func() error {
			return Of(informers{informer: plain{informer}}, &v1alpha1.Kyma{}).Index(t.Context(), "x", channelOf)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.do(); err == nil {
				t.Errorf("%s want an error", tc.reason)
			}
		})
	}
}
