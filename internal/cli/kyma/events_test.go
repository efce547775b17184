// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestSelectEvents(t *testing.T) {
	now := metav1.Now()
	var all []corev1.Event
	for i := range 15 {
		at := metav1.NewTime(now.Add(time.Duration(i) * time.Minute))
		e := corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i)}, Message: strconv.Itoa(i), InvolvedObject: corev1.ObjectReference{UID: "u"}}
		switch i % 3 { // Each kind of recorder has its own field.
		case 0:
			e.LastTimestamp = at
		case 1:
			e.EventTime = metav1.MicroTime(at)
		default:
			e.Series = &corev1.EventSeries{Count: 7, LastObservedTime: metav1.MicroTime(at)}
		}
		all = append(all, e)
	}
	got := selectEvents(all, map[types.UID]bool{"u": true})
	if len(got) != maxEvents || got[0].Message != "14" || got[9].Message != "5" || got[0].Count != 7 || got[1].Count != 1 {
		t.Errorf("want the last %d, newest first, got %v", maxEvents, got)
	}
}
