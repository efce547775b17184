// SPDX-License-Identifier: Apache-2.0

package events

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
)

// maxPending is the maximum number of events of an object that wait to be written.
const maxPending = 32

// An entry is an event that waits to be written.
type entry struct {
	event *corev1.Event
	// added is when the event was recorded first.
	added time.Time
	// result is what must be written for the event. It is nil before the first attempt.
	result   *record.EventCorrelateResult
	attempts int
}

// merge merges an event with one of the same object that it repeats, and reports whether there is one.
func merge(in []*entry, e *corev1.Event) bool {
	i := slices.IndexFunc(in, func(o *entry) bool {
		return o.result == nil && o.event.Source == e.Source && o.event.Type == e.Type && o.event.Reason == e.Reason && o.event.Message == e.Message
	})
	if i < 0 {
		return false
	}
	in[i].event.LastTimestamp = e.LastTimestamp
	return true
}

// add adds an event to those of the same object, and returns how many events it dropped. An event that repeats a waiting one is
// merged with it. If there are too many, add drops the oldest normal event, or otherwise the oldest warning whose reason a newer
// event has, or otherwise the oldest warning.
func add(in []*entry, e *corev1.Event, now time.Time) (out []*entry, dropped int) {
	if merge(in, e) {
		return in, 0
	}
	in = append(in, &entry{event: e, added: now})
	if len(in) <= maxPending {
		return in, 0
	}
	i := slices.IndexFunc(in, func(o *entry) bool { return o.event.Type == corev1.EventTypeNormal })
	for j := 0; i < 0 && j < len(in); j++ {
		if slices.ContainsFunc(in[j+1:], func(o *entry) bool { return o.event.Reason == in[j].event.Reason }) {
			i = j
		}
	}
	i = max(i, 0)
	return slices.Delete(in, i, i+1), 1
}
