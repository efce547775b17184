// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
)

const (
	// reasonsPage explains the reasons of events. It has a heading for each reason of the provider.
	reasonsPage = "docs/troubleshooting.md"
	// crossplaneReasons is the anchor of the section that explains the reasons of Crossplane.
	crossplaneReasons = "reasons-of-crossplane"
)

// ForCrossplane returns a recorder for a reconciler of Crossplane, whose events have reasons of Crossplane. record is the result of
// Recorder; another one is returned unchanged.
func ForCrossplane(record event.Recorder) event.Recorder {
	if r, ok := record.(*linkingRecorder); ok {
		return &linkingRecorder{Recorder: r.Recorder, anchor: crossplaneReasons}
	}
	return record
}

// A linkingRecorder adds to each warning where it is explained.
type linkingRecorder struct {
	event.Recorder

	// anchor of the explanation on the page. By default, it is the reason of the event.
	anchor string
}

// Event records an event.
func (r *linkingRecorder) Event(o runtime.Object, e event.Event) {
	if e.Type == event.TypeWarning {
		e.Message += " (see " + reasonsPage + "#" + cmp.Or(r.anchor, strings.ToLower(string(e.Reason))) + ")"
	}
	r.Recorder.Event(o, e)
}

// WithAnnotations returns a recorder that also adds annotations to events.
func (r *linkingRecorder) WithAnnotations(keysAndValues ...string) event.Recorder {
	return &linkingRecorder{Recorder: r.Recorder.WithAnnotations(keysAndValues...), anchor: r.anchor}
}
