// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// maxEvents is the maximum number of events that status shows.
const maxEvents = 10

// reasonsPage is a link to the documentation, which has a heading for each reason.
const reasonsPage = "https://github.com/crossplane-contrib/provider-kyma/blob/main/docs/troubleshooting.md#reasons-of-events-and-conditions"

// warningsOf returns the latest warning events of a Kyma and its Manifests, most recent first.
func warningsOf(ctx context.Context, c client.Reader, k *v1alpha1.Kyma, manifests []v1alpha1.Manifest) ([]eventReported, error) {
	l := &corev1.EventList{}
	if err := c.List(ctx, l, client.InNamespace(k.Namespace), client.MatchingFields{"type": corev1.EventTypeWarning}); err != nil {
		return nil, errors.Wrapf(err, "cannot list the events of namespace %s", k.Namespace)
	}
	of := map[types.UID]bool{k.UID: true}
	for i := range manifests {
		of[manifests[i].UID] = true
	}
	return selectEvents(l.Items, of), nil
}

// selectEvents returns the latest events of the objects with the given UIDs, most recent first.
func selectEvents(all []corev1.Event, of map[types.UID]bool) []eventReported {
	all = slices.DeleteFunc(slices.Clone(all), func(e corev1.Event) bool { return !of[e.InvolvedObject.UID] })
	slices.SortFunc(all, func(a, b corev1.Event) int {
		return cmp.Or(lastOf(&b).Compare(lastOf(&a)), strings.Compare(a.Name, b.Name))
	})
	out := []eventReported{}
	for i := range all[:min(len(all), maxEvents)] {
		e := &all[i]
		out = append(out, eventReported{
			Object: e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name, Reason: e.Reason, Message: e.Message,
			Count: countOf(e), Last: lastOf(e).UTC().Format(time.RFC3339),
		})
	}
	return out
}

// lastOf returns the time of the last occurrence of an event. The client that recorded the event determines which timestamps are
// set.
func lastOf(e *corev1.Event) time.Time {
	last := e.LastTimestamp.Time
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	if last.IsZero() {
		last = e.EventTime.Time
	}
	if last.IsZero() {
		last = e.CreationTimestamp.Time
	}
	return last
}

// countOf returns how often an event has occurred, at least 1.
func countOf(e *corev1.Event) int32 {
	if e.Series != nil {
		return max(1, e.Series.Count)
	}
	return max(1, e.Count)
}

// writeWarnings writes a table of events, and a link to the page that explains their reasons.
func writeWarnings(w io.Writer, all []eventReported, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	if _, err := io.WriteString(t, "\nWarnings:\n"); err != nil {
		return err
	}
	if err := writeEvents(t, all, now); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nFor help with these reasons, see %s\n", reasonsPage)
	return err
}

// writeEvents writes the rows of a table of events.
func writeEvents(w io.Writer, all []eventReported, now time.Time) error {
	if err := command.Row(w, "LAST SEEN", "COUNT", "OBJECT", "REASON", "MESSAGE"); err != nil {
		return err
	}
	for _, e := range all {
		age := ""
		if last, err := time.Parse(time.RFC3339, e.Last); err == nil {
			age = duration.HumanDuration(now.Sub(last))
		}
		if err := command.Row(w, age, strconv.Itoa(int(e.Count)), e.Object, e.Reason, e.Message); err != nil {
			return err
		}
	}
	return nil
}
