// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func TestWriteWarnings(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	events := []eventReported{{
		Object: "Manifest/web", Reason: "DriftDetected", Message: "Found drift", Count: 2, Last: now.Add(-time.Minute).Format(time.RFC3339),
	}}
	const want = `
Warnings:
LAST SEEN   COUNT   OBJECT         REASON          MESSAGE
60s         2       Manifest/web   DriftDetected   Found drift

For help with these reasons, see ` + reasonsPage + "\n"
	var got strings.Builder
	if err := writeWarnings(&got, events, now); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("writeWarnings(...): -want, +got:\n%s", diff)
	}
	page, err := os.ReadFile("../../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n## Reasons of events and conditions\n") || !strings.HasSuffix(reasonsPage, "#reasons-of-events-and-conditions") {
		t.Errorf("%s has no heading on the page", reasonsPage)
	}
}
