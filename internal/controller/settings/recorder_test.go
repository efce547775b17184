// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// recording is a manager that only has an event recorder.
type recording struct {
	ctrl.Manager

	recorder record.EventRecorder
}

func (r *recording) GetEventRecorderFor(string) record.EventRecorder { return r.recorder }

// TestRecorder checks that warnings contain where they are explained, and that the page has these headings.
func TestRecorder(t *testing.T) {
	plain := func(r event.Recorder) event.Recorder { return r }
	failed := event.Warning(event.Reason(v1alpha1.ReasonModuleFailed), errors.New("no"))
	cases := map[string]struct {
		reason  string
		of      func(event.Recorder) event.Recorder
		event   event.Event
		heading string
		want    string
	}{
		"Warning": {
			reason: "Each reason of the provider has a heading.", of: plain, event: failed,
			heading: "### ModuleFailed", want: "Warning ModuleFailed no (see docs/troubleshooting.md#modulefailed)",
		},
		"Normal": {reason: "A success needs no explanation.", of: plain, event: event.Normal("Installed", "yes"), want: "Normal Installed yes"},
		"Annotated": {
			reason: "Annotations do not change the message.", of: func(r event.Recorder) event.Recorder { return r.WithAnnotations("a", "b") }, event: failed,
			heading: "### ModuleFailed", want: "Warning ModuleFailed no (see docs/troubleshooting.md#modulefailed)",
		},
		"Crossplane": {
			reason: "Reasons of Crossplane share one section.", of: ForCrossplane, event: event.Warning("CannotConnectToProvider", errors.New("no")),
			heading: "### Reasons of Crossplane", want: "Warning CannotConnectToProvider no (see docs/troubleshooting.md#reasons-of-crossplane)",
		},
	}
	page, err := os.ReadFile("../../../" + reasonsPage)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			events := record.NewFakeRecorder(1)
			tc.of(Recorder(&recording{recorder: events}, "x")).Event(&v1alpha1.Manifest{}, tc.event)
			text, _, _ := strings.Cut(<-events.Events, "map[")
			if diff := cmp.Diff(tc.want, strings.TrimSpace(text)); diff != "" {
				t.Errorf("\n%s\nEvent(...): -want, +got:\n%s", tc.reason, diff)
			}
			if !strings.Contains(string(page), "\n"+tc.heading+"\n") && tc.heading != "" {
				t.Errorf("\n%s\n%s has no heading %q", tc.reason, reasonsPage, tc.heading)
			}
		})
	}
}
