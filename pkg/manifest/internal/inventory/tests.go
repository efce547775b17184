// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Tests records the progress of the tests that a token requested.
type Tests struct {
	Token string       `json:"token"`
	Tests []TestRecord `json:"tests,omitempty"`
	// Part is the part whose tests are running. All tests of earlier parts have run.
	Part object.PartID `json:"part,omitempty"`
	// Run is the run of the tests of the part, or nil between two parts.
	Run *Run `json:"run,omitempty"`
	// Over is true once all tests have run.
	Over bool `json:"over,omitempty"`
}

// A TestRecord is the recorded state of one test.
type TestRecord struct {
	Part    object.PartID `json:"p"`
	Name    string        `json:"n"`
	State   health.State  `json:"s"`
	Message string        `json:"m,omitempty"`
}

// Record updates the states of the tests of a part. Hooks lists the names of the tests in order. As in Helm, no test runs after a
// failed one.
func (t *Tests) Record(part object.PartID, hooks []string) {
	t.Tests = slices.DeleteFunc(slices.Clone(t.Tests), func(s TestRecord) bool { return s.Part == part })
	for i := range hooks {
		s := TestRecord{Part: part, Name: hooks[i], State: health.Processing}
		switch {
		case i < t.Run.Index:
			s.State = health.Ready
		case t.Run.Failed == "":
		case i == t.Run.Index:
			s.State, s.Message = health.Error, t.Run.Failed
		default:
			s.State, s.Message = health.Error, "skipped, because a previous test failed"
		}
		t.Tests = append(t.Tests, s)
	}
}
