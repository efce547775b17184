// SPDX-License-Identifier: Apache-2.0

package events

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestAdd(t *testing.T) {
	type event struct{ eventType, reason, message string }
	// fill returns events with different messages.
	fill := func(n int, eventType, reason string) []event {
		var out []event
		for i := range n {
			out = append(out, event{eventType, reason, strconv.Itoa(i)})
		}
		return out
	}
	const normal, warning = corev1.EventTypeNormal, corev1.EventTypeWarning
	cases := map[string]struct {
		reason  string
		in      []event
		add     event
		want    []event
		dropped int
	}{
		"Empty":    {reason: "The first event is added.", add: event{normal, "A", "x"}, want: []event{{normal, "A", "x"}}},
		"Repeated": {reason: "An equal event is merged.", in: []event{{normal, "A", "x"}}, add: event{normal, "A", "x"}, want: []event{{normal, "A", "x"}}},
		"Other": {
			reason: "An event with another message is added.", in: []event{{normal, "A", "x"}}, add: event{normal, "A", "y"},
			want: []event{{normal, "A", "x"}, {normal, "A", "y"}},
		},
		"FullOfNormal": {
			reason: "A full queue drops the oldest normal event.", in: append([]event{{warning, "W", "x"}}, fill(maxPending-1, normal, "A")...),
			add: event{warning, "W", "y"}, want: append(append([]event{{warning, "W", "x"}}, fill(maxPending-1, normal, "A")[1:]...), event{warning, "W", "y"}), dropped: 1,
		},
		"FullOfWarnings": {
			reason: "Without normal events, a full queue drops a warning that has a newer one with the same reason.",
			in:     append([]event{{warning, "Only", "x"}}, fill(maxPending-1, warning, "W")...), add: event{warning, "W", "y"},
			want: append(append([]event{{warning, "Only", "x"}}, fill(maxPending-1, warning, "W")[1:]...), event{warning, "W", "y"}), dropped: 1,
		},
		"NormalIsDropped": {
			reason: "A normal event does not replace a warning.", in: fill(maxPending, warning, "W"), add: event{normal, "A", "x"},
			want: fill(maxPending, warning, "W"), dropped: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var entries []*entry
			of := func(e event) *corev1.Event {
				return &corev1.Event{Type: e.eventType, Reason: e.reason, Message: e.message}
			}
			for _, e := range tc.in {
				entries = append(entries, &entry{event: of(e)})
			}
			out, dropped := add(entries, of(tc.add), time.Now())
			var got []event
			for _, e := range out {
				got = append(got, event{e.event.Type, e.event.Reason, e.event.Message})
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(event{})); diff != "" || dropped != tc.dropped {
				t.Errorf("\n%s\nadd(...): dropped %d, -want, +got:\n%s", tc.reason, dropped, diff)
			}
		})
	}
}
