// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Reasons of events about hooks and tests of charts.
const (
	reasonHooksSucceeded event.Reason = "HooksSucceeded"
	reasonHookFailed     event.Reason = "HookFailed"
	reasonTestsSucceeded event.Reason = "TestsSucceeded"
	reasonTestsFailed    event.Reason = "TestsFailed"
)

// maxTests are shown in the status.
const maxTests = 64

// retryToken of a Manifest: a new one runs hooks once more that failed.
func retryToken(mr *v1alpha1.Manifest) string {
	return cut(mr.Annotations[meta.AnnotationKeyReconcileRequestedAt])
}

// tellHooks in one line for those that went well; one that failed is an error of the install. So with tests.
func (e *external) tellHooks(mr *v1alpha1.Manifest, r engine.Result) {
	if r.HooksRun > 0 {
		e.record.Event(mr, event.Normal(reasonHooksSucceeded, fmt.Sprintf("%s of %s succeeded",
			plural(r.HooksRun, "hook"), strings.Join(r.Installed, ", "))))
	}
	if r.Tested == nil {
		return
	}
	if failed := failedTests(r.Tested); len(failed) > 0 {
		e.record.Event(mr, event.Warning(reasonTestsFailed, errors.Errorf("%d of %s failed: %s",
			len(failed), plural(len(r.Tested), "test"), list(failed))))
		return
	}
	e.record.Event(mr, event.Normal(reasonTestsSucceeded, plural(len(r.Tested), "test")+" succeeded"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func failedTests(in []engine.TestState) []string {
	var out []string
	for i := range in {
		if t := &in[i]; t.State == engine.Error {
			out = append(out, fmt.Sprintf("%s %s: %s", t.Install, t.Name, t.Message))
		}
	}
	return out
}

// reportTests of the charts that were asked for last.
func reportTests(at *v1alpha1.ManifestObservation, o *engine.Observation) {
	at.Tests = nil
	if o.TestToken == "" {
		return
	}
	out := &v1alpha1.TestsStatus{Token: o.TestToken, State: v1alpha1.StateReady}
	for i := range o.Tests {
		t := &o.Tests[i]
		switch {
		case t.State == engine.Error:
			out.State = v1alpha1.StateError
		case t.State == engine.Processing && out.State == v1alpha1.StateReady:
			out.State = v1alpha1.StateProcessing
		}
		if len(out.Tests) < maxTests {
			out.Tests = append(out.Tests, v1alpha1.TestStatus{
				Install: t.Install, Name: t.Name, State: v1alpha1.State(t.State), Message: cut(t.Message),
			})
		}
	}
	at.Tests = out
}

// testsRun says whether tests of a Manifest run, or are about to.
func testsRun(mg resource.Managed) bool {
	mr, ok := mg.(*v1alpha1.Manifest)
	if !ok || mr.Annotations[v1alpha1.AnnotationTest] == "" || planOnly(mr) || !mayUpdate(mr) {
		return false
	}
	t := mr.Status.AtProvider.Tests
	return t == nil || t.Token != cut(mr.Annotations[v1alpha1.AnnotationTest]) || t.State == v1alpha1.StateProcessing
}
