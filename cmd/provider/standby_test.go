// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// fakeInformers records the kinds whose informers are started. errs contains the errors of the first attempts, by kind.
type fakeInformers struct {
	mu      sync.Mutex
	errs    map[string][]error
	started []string
	tried   int
}

func (f *fakeInformers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tried++
	kind := fmt.Sprintf("%T", o)
	if errs := f.errs[kind]; len(errs) > 0 {
		f.errs[kind] = errs[1:]
		return nil, errs[0]
	}
	f.started = append(f.started, kind)
	return nil, nil //nolint:nilnil // The standby does not use it.
}

// TestStandby checks which informers are started before a replica is the leader.
func TestStandby(t *testing.T) {
	const kyma, manifest = "*v1alpha1.Kyma", "*v1alpha1.Manifest"
	unserved := &meta.NoKindMatchError{}
	cases := map[string]struct {
		reason  string
		errs    map[string][]error
		elected time.Duration
		want    []string
		tried   int
	}{
		"Served": {reason: "All kinds are watched, once.", elected: time.Hour, want: []string{kyma, manifest}, tried: 2},
		"Later": {
			reason: "A kind that is activated later is watched from then on, and others are not requested again.", elected: time.Hour,
			errs: map[string][]error{kyma: {unserved, unserved}}, want: []string{manifest, kyma}, tried: 4,
		},
		"Failed": {
			reason: "A failure does not end the replica, and is tried again.", elected: time.Hour,
			errs: map[string][]error{manifest: {errors.New("boom")}}, want: []string{kyma, manifest}, tried: 3,
		},
		"Elected": {
			reason: "The controllers of the leader start what they need.", elected: 90 * time.Second,
			errs: map[string][]error{kyma: {unserved, unserved, unserved}}, want: []string{manifest}, tried: 3,
		},
		"Leader": {reason: "A replica that is the leader already does nothing."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, elected := &fakeInformers{errs: tc.errs}, make(chan struct{})
				timer := time.AfterFunc(tc.elected, func() { close(elected) })
				defer timer.Stop()
				s := &standby{
					informers: f, kinds: []client.Object{&v1alpha1.Kyma{}, &v1alpha1.Manifest{}}, elected: elected, log: logging.NewNopLogger(),
				}
				if tc.elected == 0 {
					<-elected
				}
				if err := s.Start(t.Context()); err != nil {
					t.Errorf("\n%s\nStart(...): %v", tc.reason, err)
				}
				if diff := cmp.Diff(tc.want, f.started); diff != "" {
					t.Errorf("\n%s\ninformers: -want, +got:\n%s", tc.reason, diff)
				}
				if tc.tried != f.tried {
					t.Errorf("\n%s\nwant %d attempts, got %d", tc.reason, tc.tried, f.tried)
				}
			})
		})
	}
}

// TestStandbyEnds checks that a standby ends with the process.
func TestStandbyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		f := &fakeInformers{errs: map[string][]error{"*v1alpha1.Kyma": make([]error, 100)}}
		for i := range f.errs["*v1alpha1.Kyma"] {
			f.errs["*v1alpha1.Kyma"][i] = &meta.NoKindMatchError{}
		}
		s := &standby{informers: f, kinds: []client.Object{&v1alpha1.Kyma{}}, elected: make(chan struct{}), log: logging.NewNopLogger()}
		if err := s.Start(ctx); err != nil {
			t.Error(err)
		}
	})
}
