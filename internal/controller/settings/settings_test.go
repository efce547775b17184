// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestReconciler(t *testing.T) {
	plain := Options{Options: controller.Options{Logger: logging.NewNopLogger(), Features: &feature.Flags{}}}
	full := plain
	full.Features = &feature.Flags{}
	full.Features.Enable(feature.EnableBetaManagementPolicies)
	full.ChangeLogOptions = &controller.ChangeLogOptions{}
	few := len(plain.Reconciler("x", event.NewNopRecorder()))
	if got := len(full.Reconciler("x", event.NewNopRecorder())); got != few+2 {
		t.Errorf("Reconciler(...): policies and change log are two options more than %d, got %d", few, got)
	}
}

func TestSpread(t *testing.T) {
	cases := map[string]struct {
		reason    string
		share     float64
		low, high time.Duration
	}{
		"None": {reason: "Without a share nothing changes.", low: time.Minute, high: time.Minute},
		"Some": {reason: "The interval varies by at most the share.", share: 0.1, low: 54 * time.Second, high: 66 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 1000 {
				if got := Spread(time.Minute, tc.share); got < tc.low || got > tc.high {
					t.Fatalf("\n%s\nSpread(...): %s is not within %s and %s", tc.reason, got, tc.low, tc.high)
				}
			}
		})
	}
}

func TestIsFirstUpdate(t *testing.T) {
	cases := map[string]struct {
		reason         string
		finalizer      bool
		name           string
		create, update bool
		want           bool
	}{
		"New":      {reason: "The finalizer and the name are written together.", create: true, update: true, want: true},
		"Again":    {reason: "A second attempt has both.", finalizer: true, name: "x", create: true, update: true, want: true},
		"Unnamed":  {reason: "With the finalizer only, the name would not be written.", finalizer: true, create: true, update: true},
		"Renamed":  {reason: "With the finalizer, another name would not be written.", finalizer: true, name: "y", create: true, update: true},
		"NoUpdate": {reason: "Update may be forbidden.", create: true},
		"NoCreate": {reason: "Create may be forbidden.", update: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := &v1alpha1.Manifest{}
			if tc.finalizer {
				mr.Finalizers = []string{managed.FinalizerName}
			}
			if tc.name != "" {
				meta.SetExternalName(mr, tc.name)
			}
			if got := IsFirstUpdate(mr, "x", tc.create, tc.update); got != tc.want {
				t.Errorf("\n%s\nIsFirstUpdate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestController checks that the queue of a controller measures waits if someone needs to know.
func TestController(t *testing.T) {
	if (&Options{}).Controller().NewQueue != nil {
		t.Error("Controller(): want the default queue")
	}
	got := 0
	o := (&Options{Queued: func(controller, priority string, _ time.Duration) {
		if controller == "c" && priority == "User" {
			got++
		}
	}}).Controller()
	q := o.NewQueue("c", o.RateLimiter)
	defer q.ShutDown()
	q.Add(reconcile.Request{})
	if _, _ = q.Get(); got != 1 {
		t.Errorf("Controller(): want 1 measured wait, got %d", got)
	}
}
