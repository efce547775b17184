// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
)

// These constants bound the delay until the next pass of a Manifest without a condition, and of one that is not Ready.
const (
	unsaid  = time.Second
	soonest = 5 * time.Second
	latest  = time.Minute
)

// pollIntervalHook returns a hook that polls a Manifest that is not Ready in seconds, less often the longer it is not Ready,
// and a Manifest that is Ready after the poll interval. Watches notice most changes earlier.
func pollIntervalHook(jitter float64) managed.PollIntervalHook {
	return func(mg resource.Managed, poll time.Duration) time.Duration {
		d := poll
		switch c := mg.GetCondition(xpv2.TypeReady); {
		case c.LastTransitionTime.IsZero():
			// The pass that adds the finalizer loses what Observe reports, because the response to that update has the old
			// status. So does a pass in which a Manifest finds its inventory.
			d = min(unsaid, poll)
		case c.Status != corev1.ConditionTrue:
			d = min(max(time.Since(c.LastTransitionTime.Time)/4, soonest), latest, poll)
		case testsRun(mg):
			// No watch notices a test that hangs.
			d = min(soonest, poll)
		}
		d = settings.Spread(d, jitter)
		if mr, ok := mg.(*v1alpha1.Manifest); ok {
			if left := untilRollback(mr, time.Now()); left > 0 {
				d = min(d, left)
			}
		}
		return d
	}
}

// untilRollback returns the time until an upgrade that still does not work is rolled back, or 0 for never.
func untilRollback(mr *v1alpha1.Manifest, now time.Time) time.Duration {
	deadline := rollback.Deadline(mr.Status.AtProvider.Rollback, policyOf(mr, 0))
	if !deadline.After(now) {
		// Time no longer matters: the upgrade does not fail, or is only planned.
		return 0
	}
	return max(deadline.Sub(now), unsaid)
}

// testsRun reports whether tests of a Manifest are running or are about to run.
func testsRun(mg resource.Managed) bool {
	mr, ok := mg.(*v1alpha1.Manifest)
	if !ok || mr.Annotations[v1alpha1.AnnotationTest] == "" || planOnly(mr) || !allows(mr, xpv2.ManagementActionUpdate) {
		return false
	}
	t := mr.Status.AtProvider.Tests
	return t == nil || t.Token != conditions.Truncate(mr.Annotations[v1alpha1.AnnotationTest], conditions.MaxMessage) || t.State == v1alpha1.StateProcessing
}
