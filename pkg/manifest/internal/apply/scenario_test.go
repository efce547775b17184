// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A scenario is one object that is applied in one situation, with both sets of verbs.
type scenario struct {
	reason string
	// was is the object that the bundle applied before, or empty if there is none.
	was string
	// others act after that.
	others func(s *site)
	// want is the object to apply, and change is applied to it.
	want   string
	change func(o *object.Desired)
	policy func(p *Policy)
	// adoption of objects that exist.
	adoption object.Adoption
	input    func(in *Subject)
	// meet is called before each request.
	meet func(s *site, line string) error

	// out is the outcome of a run, and requests are the requests that it sends.
	out      result
	requests []string
	// fields lists the fields that a dry run would change, note is its note, and tries lists the requests that it sends.
	fields []string
	note   string
	tries  []string
	// unseen are fields that a run changes without a dry run reporting them.
	unseen []string
	// instead is the outcome of a dry run if it differs from that of a run. The reason of the scenario explains the difference.
	instead *result
}

// prepare returns a new site for a scenario. All sites for a scenario are equal.
func (sc *scenario) prepare(t *testing.T) (*site, Subject) {
	t.Helper()
	s := newSite(t)
	if sc.was != "" {
		s.apply(t, desired(t, sc.was))
	}
	if sc.others != nil {
		sc.others(s)
	}
	if sc.policy != nil {
		sc.policy(&s.policy)
	}
	s.adoption = sc.adoption
	o := desired(t, sc.want)
	if sc.change != nil {
		sc.change(o)
	}
	in := s.input(o)
	if sc.input != nil {
		sc.input(&in)
	}
	s.c.Requests()
	if sc.meet != nil {
		s.c.Meet = func(line string) error { return sc.meet(s, line) }
	}
	return s, in
}

// test tests a scenario with both sets of verbs.
func (sc *scenario) test(t *testing.T) {
	t.Helper()
	s, in := sc.prepare(t)
	before := s.c.All()
	out, err := s.writer().Apply(t.Context(), in)
	if diff := cmp.Diff(sc.out, resultOf(out, err)); diff != "" {
		t.Errorf("\n%s\nrun: -want, +got:\n%s", sc.reason, diff)
	}
	if diff := cmp.Diff(sc.requests, s.c.Requests()); diff != "" {
		t.Errorf("\n%s\nrequests: -want, +got:\n%s", sc.reason, diff)
	}
	after := s.c.All()
	if sc.want == sc.was && out.Kind == Updated && out.Before != nil {
		sc.compareDryRun(t, out)
	}

	s, in = sc.prepare(t)
	out, err = s.dryRunner().Apply(t.Context(), in)
	want := sc.out
	want.Fields, want.Note, want.Lost, want.Ceded = sc.fields, sc.note, nil, nil
	if sc.instead != nil {
		want = *sc.instead
	}
	if diff := cmp.Diff(want, resultOf(out, err)); diff != "" {
		t.Errorf("\n%s\ndry run: -want, +got:\n%s", sc.reason, diff)
	}
	tries := s.c.Requests()
	if diff := cmp.Diff(sc.tries, tries); diff != "" {
		t.Errorf("\n%s\nrequests of the dry run: -want, +got:\n%s", sc.reason, diff)
	}
	for _, line := range tries {
		if !isRead(line) {
			t.Errorf("\n%s\na dry run sends: %s", sc.reason, line)
		}
	}
	if sc.meet == nil {
		sc.compare(t, before, s, after[in.Object.Ref], in, out)
	}
}

// compareDryRun tries the repair of an object, and compares its outcome with that of the repair.
func (sc *scenario) compareDryRun(t *testing.T, repair Outcome) {
	t.Helper()
	s, in := sc.prepare(t)
	en := &in.Entry
	if in.Restarted {
		en = nil
	}
	out, err := s.writer().TryRepair(t.Context(), in.Object, en, metadataOf(s.c.Object(in.Object.Ref)))
	if diff := cmp.Diff(resultOf(repair, nil), resultOf(out, err)); diff != "" {
		t.Errorf("\n%s\na repair, and the try of it: -repair, +try:\n%s", sc.reason, diff)
	}
	for _, line := range s.c.Requests() {
		if !isRead(line) {
			t.Errorf("\n%s\nthe try of a repair sends: %s", sc.reason, line)
		}
	}
}

// compare compares the state and the report of a dry run with the result of a run.
func (sc *scenario) compare(t *testing.T, before any, s *site, after map[string]any, in Subject, out Outcome) {
	t.Helper()
	if diff := cmp.Diff(before, any(s.c.All()), cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "time" })); diff != "" {
		t.Errorf("\n%s\na dry run changes the cluster: -before, +after:\n%s", sc.reason, diff)
	}
	if live := s.c.Object(in.Object.Ref); out.Kind == Updated && live != nil {
		changed := slices.DeleteFunc(fieldset.Differences(live.Object, after), func(f string) bool { return slices.Contains(sc.unseen, f) })
		if diff := cmp.Diff(out.Fields, changed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("\n%s\nwhat was announced, and what changed: -announced, +changed:\n%s", sc.reason, diff)
		}
	}
}
