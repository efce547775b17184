// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// queued returns the names in a queue, sorted.
func queued(q queue) []string {
	var out []string
	for q.Len() > 0 {
		r, _ := q.Get()
		out = append(out, r.Name)
		q.Done(r)
	}
	slices.Sort(out)
	return out
}

// TestSiblings checks which templates are reconciled when another one changes.
func TestSiblings(t *testing.T) {
	deleted := template("a", "sample", "regular")
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	resolved := template("a", "sample", "regular")
	resolved.Status.Version = "1.0.0"
	a := template("a", "sample", "regular")
	update := func(before, after *v1alpha1.ModuleTemplate) func(ctx context.Context, s *siblings, q queue) {
		return func(ctx context.Context, s *siblings, q queue) {
			s.handler().Update(ctx, ctrlevent.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
		}
	}
	cases := map[string]struct {
		reason string
		event  func(ctx context.Context, s *siblings, q queue)
		want   []string
	}{
		"Appears": {
			reason: "A new ModuleTemplate makes others ambiguous.",
			event: func(ctx context.Context, s *siblings, q queue) {
				s.handler().Create(ctx, ctrlevent.CreateEvent{Object: a}, q)
			},
			want: []string{"b"},
		},
		"Goes": {
			reason: "The deletion of a ModuleTemplate resolves the ambiguity of others.",
			event: func(ctx context.Context, s *siblings, q queue) {
				s.handler().Delete(ctx, ctrlevent.DeleteEvent{Object: a}, q)
			},
			want: []string{"b"},
		},
		"IsGoing":        {reason: "A ModuleTemplate that is being deleted resolves the ambiguity, too.", event: update(a, deleted), want: []string{"b"}},
		"ChangesChannel": {reason: "The ModuleTemplates of the previous and of the new channel are reconciled.", event: update(a, template("a", "sample", "fast")), want: []string{"b", "c"}},
		"ChangesModule":  {reason: "The ModuleTemplates of the previous and of the new module are reconciled.", event: update(a, template("a", "other", "fast")), want: []string{"b", "d"}},
		"ChangesStatus":  {reason: "Other changes of the status do not affect other ModuleTemplates.", event: update(a, resolved)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, template("b", "sample", "regular"), template("c", "sample", "fast"), template("d", "other", "fast"))
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			tc.event(t.Context(), &siblings{client: b.client}, q)
			if diff := cmp.Diff(tc.want, queued(q)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestResolutionLost checks which changes to a status cause a reconcile: the controller's own changes don't.
func TestResolutionLost(t *testing.T) {
	empty := template("a", "sample", "regular")
	resolved := template("a", "sample", "regular")
	resolved.Status.ResolvedGeneration = 1
	setCondition(resolved, corev1.ConditionTrue, v1alpha1.ReasonResolved, "")
	failed := template("a", "sample", "regular")
	setCondition(failed, corev1.ConditionFalse, v1alpha1.ReasonResolveFailed, "")
	cases := map[string]struct {
		reason        string
		before, after *v1alpha1.ModuleTemplate
		want          bool
	}{
		"Written":   {reason: "Our own write does not cause a reconcile.", before: empty, after: resolved},
		"Same":      {reason: "An unchanged status does not cause a reconcile.", before: resolved, after: resolved},
		"Emptied":   {reason: "A status that another client emptied is written again.", before: resolved, after: empty, want: true},
		"Condition": {reason: "A status from which another client removed a failure is written again.", before: failed, after: empty, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := resolutionLost().Update(ctrlevent.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
				t.Errorf("\n%s\nwant %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
