// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// BeginTests returns the progress of the tests that a token requests. It copies the recorded progress if the token is the same,
// and otherwise starts again.
func BeginTests(old *inventory.Tests, token string) *inventory.Tests {
	if old == nil || old.Token != token {
		return &inventory.Tests{Token: token}
	}
	return copyTests(old)
}

// copyTests returns a deep copy of the progress of tests.
func copyTests(t *inventory.Tests) *inventory.Tests {
	out := *t
	out.Tests = slices.Clone(t.Tests)
	if t.Run != nil {
		run := *t.Run
		out.Run = &run
	}
	return &out
}

// nextTests returns the first part whose tests are not over, and the parts after it. It returns nil if all tests are over.
func nextTests(t *inventory.Tests, parts []Tested) (*Tested, []Tested) {
	for i := range parts {
		over := t.Part != parts[i].Part && slices.ContainsFunc(t.Tests, func(s inventory.TestRecord) bool { return s.Part == parts[i].Part })
		if !over {
			return &parts[i], parts[i+1:]
		}
	}
	return nil, nil
}

// A Tested is a part that has test hooks.
type Tested struct {
	Part object.PartID
	// Release and Revision identify the deployed revision of the part. Its record contains the tests.
	Release  inventory.Release
	Revision int
	// Timeout limits each test.
	Timeout time.Duration
}

// A Tester runs the tests of the parts of a bundle.
type Tester struct {
	// Parts contains the parts to test, in this order.
	Parts []Tested
	// Prepare returns the tests of a part.
	Prepare func(ctx context.Context, p *Tested, run *inventory.Run) ([]Hook, error)
	Runner  Runner
	// Save stores the inventory immediately, with the progress.
	Save func(ctx context.Context, t *inventory.Tests) error

	// Progress is the progress to store in the inventory, or nil if nothing changed. Advance sets it even if it returns an error.
	Progress *inventory.Tests
}

// Advance runs the tests as far as possible without waiting. The result is Passed once all tests are over. A failed test is
// recorded in the progress and does not cause an error.
func (t *Tester) Advance(ctx context.Context, progress *inventory.Tests) (Standing, error) {
	for p, rest := nextTests(progress, t.Parts); p != nil; p, rest = nextTests(progress, rest) {
		if s, err := t.test(ctx, progress, p); err != nil || s.Waits() {
			return s, errors.Wrap(err, p.Part.String())
		}
	}
	progress.Over, progress.Part, progress.Run = true, "", nil
	t.Progress = copyTests(progress)
	return Standing{Progress: Passed}, nil
}

// test runs the tests of one part.
func (t *Tester) test(ctx context.Context, progress *inventory.Tests, p *Tested) (Standing, error) {
	q := Sequence{Runner: t.Runner, Timeout: p.Timeout}
	if progress.Run != nil {
		q.Saved = *progress.Run
	}
	if progress.Part != p.Part || progress.Run == nil {
		run := inventory.NewRun(inventory.Run{Event: inventory.Test, Inputs: progress.Token, Revision: p.Revision})
		progress.Part, progress.Run = p.Part, run
	}
	var err error
	if q.Hooks, err = t.Prepare(ctx, p, progress.Run); err != nil {
		return Standing{}, err
	}
	note := func() {
		progress.Record(p.Part, Names(q.Hooks))
		t.Progress = copyTests(progress)
	}
	q.Run = progress.Run
	q.Save = func(ctx context.Context) error {
		note()
		return t.Save(ctx, t.Progress)
	}
	s, err := q.Advance(ctx)
	if err == nil && !s.Waits() {
		progress.Record(p.Part, Names(q.Hooks))
		progress.Part, progress.Run = "", nil
		t.Progress = copyTests(progress)
		return s, nil
	}
	if q.IsChanged() {
		note()
	}
	return s, err
}
