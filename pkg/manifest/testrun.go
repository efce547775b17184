// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// testsDue says whether tests are to be run, or are running.
func (w *work) testsDue(inv *inventory.Inventory) bool {
	return w.s.Test != "" && (inv.Tests == nil || inv.Tests.Token != w.s.Test || !inv.Tests.Over)
}

// testStates returns the states of the tests that an inventory has.
func testStates(t *inventory.Tests) []TestState {
	out := make([]TestState, 0, len(t.Tests))
	for _, s := range t.Tests {
		out = append(out, TestState{Install: s.Part, Name: s.Name, State: s.State, Message: s.Message})
	}
	return out
}

// seeTests says what became of the tests. A set is not up to date while there are some to run: nobody else would look at
// it before its time.
func (w *work) seeTests(inv *inventory.Inventory, o *Observation) {
	if t := inv.Tests; t != nil {
		o.TestToken, o.Tests = t.Token, testStates(t)
	}
	if o.UpToDate && w.testsDue(inv) && len(w.stuck) == 0 {
		o.UpToDate = false
	}
}

// runTests that were asked for, once all is up to date. What goes wrong on the way is an error of the step; a test that
// fails is not.
func (st *step) runTests(ctx context.Context) {
	if !st.testsDue(st.inv) || len(st.errs) > 0 || len(st.waits) > 0 || st.result.Waiting != "" {
		return
	}
	for i := range st.parts {
		if st.inv.Parts[st.parts[i].name].Digest != st.parts[i].digest {
			return
		}
	}
	waiting, err := st.test(ctx)
	if err != nil {
		st.fail(bookedTests, err)
	}
	st.noteWaiting(waiting)
	if t := st.inv.Tests; t != nil && t.Over {
		st.result.Tested = testStates(t)
	}
}

// bookedTests is what an error of tests is booked under, which belongs to no part.
const bookedTests = "tests:"

// test goes on with the tests as far as that goes. They come from the record of the release, as with helm test.
func (st *step) test(ctx context.Context) (string, error) {
	t := &inventory.Tests{Token: st.s.Test}
	if old := st.inv.Tests; old != nil && old.Token == st.s.Test {
		*t = *old
		t.Tests = slices.Clone(old.Tests)
	}
	for i := range st.parts {
		name := st.parts[i].name
		rec := st.inv.Parts[name]
		if !rec.TestHooks || st.tested(t, name) {
			continue
		}
		if waiting, err := st.testPart(ctx, t, name, &rec); err != nil || waiting != "" {
			return waiting, errors.Wrap(err, title(name))
		}
	}
	t.Over, t.Part, t.Run = true, "", nil
	st.keepTests(t)
	return "", nil
}

// tested says whether the tests of a part are over.
func (st *step) tested(t *inventory.Tests, name string) bool {
	return t.Part != name && slices.ContainsFunc(t.Tests, func(s inventory.TestState) bool { return s.Part == name })
}

func (st *step) keepTests(t *inventory.Tests) {
	kept := *t
	kept.Tests = slices.Clone(t.Tests)
	if t.Run != nil {
		run := *t.Run
		kept.Run = &run
	}
	st.inv.Tests, st.hooked = &kept, true
}

func (st *step) testPart(ctx context.Context, t *inventory.Tests, name string, rec *inventory.Part) (string, error) {
	if t.Part != name || t.Run == nil {
		t.Part, t.Run = name, inventory.NewRun(inventory.Run{Event: eventTest, Inputs: st.s.Test, Revision: rec.Revision})
	}
	h := rec.ReleaseOf(name)
	info, err := st.release(ctx, h, t.Run.Revision)
	if err != nil {
		return "", err
	}
	var all []render.Hook
	if info != nil {
		all = info.Hooks()
	}
	hooks, err := st.hooksOf(ctx, all, name, h.Namespace, t.Run)
	if err != nil {
		return "", err
	}
	hr := &hookRunner{
		work: st.work, hooks: hooks, timeout: rec.HookTimeoutOf(), run: t.Run, taken: func(cluster.ObjectRef) {},
		save: func(ctx context.Context) error {
			t.Record(name, hookNames(hooks))
			st.keepTests(t)
			return st.save(ctx, st.inv, false)
		},
	}
	if old := st.inv.Tests; old != nil && old.Token == t.Token && old.Run != nil {
		hr.saved = *old.Run
	}
	waiting, err := hr.advance(ctx)
	if waiting == "" && err == nil {
		t.Record(name, hookNames(hooks))
		t.Part, t.Run = "", nil
		st.keepTests(t)
		return "", nil
	}
	if *t.Run != hr.saved {
		t.Record(name, hookNames(hooks))
		st.keepTests(t)
	}
	return waiting, err
}

// hookNames returns the names of hooks as people read them.
func hookNames(hooks []hook) []string {
	out := make([]string, 0, len(hooks))
	for i := range hooks {
		out = append(out, hooks[i].Ref.String())
	}
	return out
}
