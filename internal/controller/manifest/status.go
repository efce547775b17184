// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// maxMessage bounds a message in the status, in bytes.
const maxMessage = 1024

// report an observation in the status. Equal observations make equal statuses, so that nothing is written.
func report(mr *v1alpha1.Manifest, o engine.Observation) {
	at := &mr.Status.AtProvider
	at.State = v1alpha1.State(o.State)
	at.Message = cut(o.Message)
	at.Installs = nil
	at.Version = mr.Spec.ForProvider.Version
	for i := range o.Parts {
		p := &o.Parts[i]
		at.Installs = append(at.Installs, v1alpha1.InstallStatus{
			Name: p.Name, State: v1alpha1.State(p.State), Version: p.Version, Message: cut(p.Message),
		})
		if at.Version == "" {
			at.Version = p.Version
		}
	}
	reportVersion(mr)
	reportTests(at, &o)
	at.Resources = &v1alpha1.ResourceCounts{Ready: count(o.Ready), Total: count(o.Total)}
	switch {
	case o.State == engine.Ready:
		mark(mr, xpv2.Available())
		return
	case o.Works:
		mark(mr, xpv2.Available().WithMessage(at.Message))
		return
	}
	mark(mr, xpv2.Unavailable().WithMessage(at.Message))
}

// mark conditions of a Manifest, as seen of the generation that this pass is about.
func mark(mr *v1alpha1.Manifest, c xpv2.Condition) {
	settings.Mark(&mr.Status.ConditionedStatus, mr.Generation, c)
	if c.Type == xpv2.TypeReady {
		mr.Status.ObservedGeneration = mr.Generation
	}
}

// reportError says in the status that nothing can be seen of the set.
func reportError(mr *v1alpha1.Manifest, err error) {
	at := &mr.Status.AtProvider
	at.State, at.Message = v1alpha1.StateError, cut(err.Error())
	mark(mr, xpv2.Unavailable().WithMessage(at.Message))
}

// reportDeletion says in the status that the set is on its way out, and what is in the way. The message of a removal
// that waits is kept, as it is the answer to the same question.
func reportDeletion(mr *v1alpha1.Manifest, err error) {
	at := &mr.Status.AtProvider
	if err != nil {
		at.State, at.Message = v1alpha1.StateDeleting, cut(err.Error())
		mark(mr, xpv2.Deleting().WithMessage(at.Message))
		return
	}
	if at.State != v1alpha1.StateDeleting && at.State != v1alpha1.StateWarning {
		at.State, at.Message = v1alpha1.StateDeleting, ""
	}
}

func count(n int) int32 {
	return int32(min(n, math.MaxInt32)) //nolint:gosec // Bounded right here.
}

func cut(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	// Half a character would come back from the API server as another one, and be corrected forever.
	return strings.ToValidUTF8(s[:maxMessage-len("…")], "") + "…"
}

// Bounds of how soon a Manifest that is not ready is looked at again, and how soon one of which nothing is said yet.
const (
	unsaid  = time.Second
	soonest = 5 * time.Second
	latest  = time.Minute
)

// pollIntervalHook looks at a Manifest that is not ready again in seconds, less often the longer it is so, and at one
// that is ready after the poll interval. Watches see most changes before.
func pollIntervalHook(jitter float64) managed.PollIntervalHook {
	return func(mg resource.Managed, poll time.Duration) time.Duration {
		d := poll
		switch c := mg.GetCondition(xpv2.TypeReady); {
		case c.LastTransitionTime.IsZero():
			// What Observe says is lost when the finalizer is added in the same pass, as that update answers with the status of
			// before. So it is for a Manifest that finds its inventory.
			d = min(unsaid, poll)
		case c.Status != corev1.ConditionTrue:
			d = min(max(time.Since(c.LastTransitionTime.Time)/4, soonest), latest, poll)
		case testsRun(mg):
			// A test that hangs is noticed by looking.
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
