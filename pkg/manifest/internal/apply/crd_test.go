// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

const (
	anySpec    = `{type: object, properties: {size: {type: integer}, mode: {type: string}}}`
	strictSpec = `{type: object, required: [mode], properties: {size: {type: integer}, mode: {type: string}}}`
)

// widgets creates a number of custom resources.
func widgets(n int) func(s *site) {
	return func(s *site) {
		for i := range n {
			s.c.Create("kubectl", strings.Replace(widget, "name: web", fmt.Sprintf("name: web-%03d", i), 1))
		}
	}
}

// A CRD that was not known to exist is checked before it is changed.
func TestApplyFoundCRD(t *testing.T) {
	name := "CustomResourceDefinition widgets.example.org"
	look, tryLook := []string{"apply new " + name, "metadata " + name}, []string{"try apply new " + name, "get " + name}
	check := []string{"get " + name, "try apply " + name}
	lost := append([]string{}, labels...)
	exists := both(foreign("some-controller", crd(anySpec)), widgets(1))
	spec := []string{"metadata.labels", "spec.versions[name=\"v1\"].schema.openAPIV3Schema.properties.spec.required"}
	cases := map[string]scenario{
		"Invalid": {
			reason: "The error names objects that would be invalid, and the CRD stays unchanged.",
			others: exists, want: crd(strictSpec), adoption: object.AdoptUnowned,
			out: result{
				Err: name + ": 1 of 1 objects would be invalid under version v1 of the new CRD: Widget apps/web-000 (spec.mode: required value); fix these objects first",
				// A dry run reports it like any other refusal.
				Refused: true,
			},
			requests: append(look[:2:2], append(check[:2:2], "list Widget")...),
			tries:    append(tryLook[:2:2], append(check[:2:2], "list Widget")...),
		},
		"Valid": {
			reason: "If all objects stay valid, the CRD is applied.",
			others: foreign("some-controller", crd(anySpec)), want: crd(strictSpec), adoption: object.AdoptUnowned,
			out:      result{Kind: "Updated", Lost: append(lost, "spec.group", "spec.scope", "spec.versions", "spec.names.kind", "spec.names.plural")},
			requests: append(look[:2:2], append(check[:2:2], "list Widget", "apply "+name)...),
			fields:   spec,
			tries:    append(tryLook[:2:2], append(check[:2:2], "list Widget", "try apply "+name)...),
		},
		"Checked": {
			reason: "A CRD that the plan checked is not checked again.",
			others: exists, want: crd(strictSpec),
			adoption: object.AdoptUnowned, policy: func(p *Policy) { p.CheckedCRDs = true },
			out:      result{Kind: "Updated", Lost: append(lost, "spec.group", "spec.scope", "spec.versions", "spec.names.kind", "spec.names.plural")},
			requests: append(look[:2:2], "apply "+name),
			fields:   spec,
			tries:    append(tryLook[:2:2], "try apply "+name),
		},
		"Known": {
			reason: "A CRD of the bundle is not checked again, because the plan always checks it.",
			was:    crd(anySpec), others: widgets(1), want: crd(strictSpec),
			out:      result{Kind: "Updated"},
			requests: []string{"apply unforced " + name},
			fields:   spec[1:],
			tries:    []string{"get " + name, "try apply " + name},
		},
		"Other": {
			reason: "An object of any other kind is not checked.",
			others: foreign("some-controller", cm), want: cm, adoption: object.AdoptUnowned,
			out:      result{Kind: "Updated", Lost: append([]string{"data.a", "data.b"}, labels...)},
			requests: take, fields: []string{"metadata.labels"}, tries: tryTake,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

func TestCheckCRD(t *testing.T) {
	name := "CustomResourceDefinition widgets.example.org"
	ref := refOf(crd(anySpec))
	get, try, list := "get "+name, "try apply "+name, "list Widget"
	forbidden := kerrors.NewForbidden(schema.GroupResource{Group: "example.org", Resource: "widgets"}, "", errors.New("no\nway"))
	moved := strings.Replace(crd(strictSpec), "versions: [{name: v1, served: true, storage: true,",
		"versions: [{name: v1, served: false, storage: true, schema: {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: false,", 1)
	one := "1 of 1 objects would be invalid under version v1 of the new CRD: Widget apps/web-000 (spec.mode: required value); fix these objects first"
	type want struct {
		Err      string
		Refused  bool
		Requests []string
	}
	cases := map[string]struct {
		reason string
		others func(s *site)
		next   string
		change func(en *inventory.Entry)
		meet   func(s *site, line string) error
		want   want
	}{
		"Missing": {
			reason: "There is nothing to check if the CRD does not exist.", next: crd(strictSpec), want: want{Requests: []string{get}},
		},
		"Same": {
			reason: "If no object can become invalid, none is read.", others: both(ours(crd(anySpec)), widgets(1)), next: crd(anySpec),
			want: want{Requests: []string{get, try}},
		},
		"Invalid": {
			reason: "Objects that would be invalid lead to a refusal.", others: both(ours(crd(anySpec)), widgets(1)), next: crd(strictSpec),
			want: want{Err: one, Refused: true, Requests: []string{get, try, list}},
		},
		"Unchecked": {
			reason: "Without objects, there is no refusal.", others: ours(crd(anySpec)), next: crd(strictSpec),
			want: want{Requests: []string{get, try, list}},
		},
		"Deleting": {
			reason: "A CRD that is being deleted is not checked, because its objects are deleted with it.",
			others: both(ours(crd(anySpec)), widgets(1), func(s *site) { s.c.Edit("kubectl", ref, finalize); s.c.Delete(ref) }),
			next:   crd(strictSpec), want: want{Requests: []string{get}},
		},
		"Foreign": {
			reason: "A CRD of another owner is not checked, because it is not applied in any case.",
			others: both(foreign("kubectl", crd(anySpec)), widgets(1)), next: crd(strictSpec), want: want{Requests: []string{get}},
		},
		"ForeignWithUID": {
			reason: "A CRD without the label belongs to the bundle by its UID.",
			others: both(foreign("kubectl", crd(anySpec)), widgets(1)), next: crd(strictSpec),
			change: func(en *inventory.Entry) { en.UID = "uid-3" },
			want:   want{Err: one, Refused: true, Requests: []string{get, try, list}},
		},
		"Scope": {
			reason: "A change that is never possible is refused before any request.",
			others: ours(crd(anySpec)), next: strings.Replace(crd(anySpec), "Namespaced", "Cluster", 1),
			want: want{Err: "spec.scope cannot be changed from Namespaced to Cluster; delete the CRD with all its objects first, or restore the field", Refused: true, Requests: []string{get}},
		},
		"Unread": {
			reason: "A failed read is an error, and not a refusal of the CRD.", others: ours(crd(anySpec)), next: crd(strictSpec),
			meet: refuse(get, kerrors.NewServiceUnavailable("later")), want: want{Err: name + ": later", Requests: []string{get}},
		},
		"Refused": {
			reason: "A refusal of the API server is an error as well.", others: ours(crd(anySpec)), next: crd(strictSpec),
			meet: refuse("apply "+name, kerrors.NewServiceUnavailable("la\nter")), want: want{Err: "la ter", Requests: []string{get, try}},
		},
		"WithoutDryRun": {
			reason: "If a webhook does not support dry runs, the CRD is checked as written.",
			others: both(ours(crd(anySpec)), widgets(1)), next: crd(strictSpec),
			meet: refuse("apply "+name, kerrors.NewBadRequest("admission webhook x does not support dry runs")),
			want: want{Err: one, Refused: true, Requests: []string{get, try, list}},
		},
		"Others": {
			reason: "The result includes fields that others set in the CRD: with their webhook, objects of other versions can be read.",
			others: both(ours(crd(anySpec)), widgets(1), func(s *site) { s.c.Set("cert", ref, "Webhook", "spec", "conversion", "strategy") }),
			next:   moved, want: want{Requests: []string{get, try}},
		},
		"Moved": {
			reason: "Without a conversion webhook, objects of other versions would be read as they are stored.",
			others: both(ours(crd(anySpec)), widgets(1)), next: moved,
			want: want{Err: one, Refused: true, Requests: []string{get, try, list}},
		},
		"SomeInvalid": {
			reason: "Valid objects are counted, and not named.",
			others: both(ours(crd(anySpec)), widgets(1), func(s *site) {
				s.c.Create("kubectl", strings.Replace(widget, "size: 1", "size: 1, mode: a", 1))
			}),
			next: crd(strictSpec),
			want: want{Err: strings.Replace(one, "1 of 1", "1 of 2", 1), Refused: true, Requests: []string{get, try, list}},
		},
		"Many": {
			reason: "All pages are read, and the first invalid objects are named.",
			others: both(ours(crd(anySpec)), widgets(pageSize+1)), next: crd(strictSpec),
			want: want{
				Err: "501 of 501 objects would be invalid under version v1 of the new CRD: " + strings.Join(namesOf(mostNamed), ", ") +
					" and 496 more; fix these objects first",
				Refused: true, Requests: []string{get, try, list, list},
			},
		},
		"Expired": {
			reason: "If listing takes too long, it starts again, and counts no object twice.",
			others: both(ours(crd(anySpec)), widgets(pageSize+1)), next: crd(strictSpec),
			meet: second(list, kerrors.NewResourceExpired("too old")),
			want: want{
				Err: "501 of 501 objects would be invalid under version v1 of the new CRD: " + strings.Join(namesOf(mostNamed), ", ") +
					" and 496 more; fix these objects first",
				Refused: true, Requests: []string{get, try, list, list, list, list},
			},
		},
		"Unlisted": {
			reason: "If objects cannot be listed, that is an error.", others: ours(crd(anySpec)), next: crd(strictSpec),
			meet: refuse(list, forbidden),
			want: want{
				Err:     `cannot check the objects of kind Widget: widgets.example.org is forbidden: no way`,
				Refused: true, Requests: []string{get, try, list},
			},
		},
		"GoneMeanwhile": {
			reason: "If the kind is gone, no objects are left that could become invalid.", others: ours(crd(anySpec)), next: crd(strictSpec),
			meet: func(s *site, line string) error {
				if line == list {
					s.c.Finish(ref)
				}
				return nil
			},
			want: want{Requests: []string{get, try, list, "discover"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			if tc.others != nil {
				tc.others(s)
			}
			s.c.Requests()
			if tc.meet != nil {
				s.c.Meet = func(line string) error { return tc.meet(s, line) }
			}
			o := desired(t, tc.next)
			en := inventory.EntryOf(o)
			if tc.change != nil {
				tc.change(&en)
			}
			err := s.dryRunner().Permissions.CheckCRD(t.Context(), o, en)
			got := want{Requests: s.c.Requests()}
			for i, line := range got.Requests {
				if strings.HasPrefix(line, "discover") {
					got.Requests = append(got.Requests[:i], "discover")
					break
				}
			}
			if err != nil {
				got.Err, got.Refused = err.Error(), ssa.IsRefused(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckCRD(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// ours returns an object that the bundle applied.
func ours(text string) func(s *site) {
	return func(s *site) { s.c.Apply(object.DefaultFieldManager, labelled(text)) }
}

// namesOf returns the names of the first widgets, with their problems.
func namesOf(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("Widget apps/web-%03d (spec.mode: required value)", i))
	}
	return out
}

// TestCheckResumes checks that an interrupted check of the objects of a CRD resumes where it stopped.
func TestCheckResumes(t *testing.T) {
	const list = "list Widget"
	cases := map[string]struct {
		reason string
		// between is called after the interruption.
		between func(s *site)
		lists   int
	}{
		"Resumed":  {reason: "The pages that were read are not read again.", between: func(*site) {}, lists: 2},
		"Restart":  {reason: "Another process begins again.", between: func(s *site) { s.policy.Examined = &Examined{} }, lists: 3},
		"OtherCRD": {reason: "Findings belong to the CRD that was examined.", between: func(s *site) { s.c.Edit("kubectl", refOf(crd(anySpec)), finalize) }, lists: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			both(ours(crd(anySpec)), widgets(2*pageSize+1))(s)
			s.policy.Examined = &Examined{}
			cut := second(list, errors.New("cut"))
			s.c.Meet = func(line string) error { return cut(s, line) }
			o := desired(t, crd(strictSpec))
			if err := s.dryRunner().Permissions.CheckCRD(t.Context(), o, inventory.EntryOf(o)); err == nil {
				t.Fatal("the second page must not arrive")
			}
			tc.between(s)
			s.c.Requests()
			s.c.Meet = nil
			err := s.dryRunner().Permissions.CheckCRD(t.Context(), o, inventory.EntryOf(o))
			want := fmt.Sprintf("%[1]d of %[1]d objects would be invalid", 2*pageSize+1)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("\n%s\nCheckCRD(...): want %q, got %v", tc.reason, want, err)
			}
			lists := 0
			for _, line := range s.c.Requests() {
				if line == list {
					lists++
				}
			}
			if lists != tc.lists {
				t.Errorf("\n%s\nlists: want %d, got %d", tc.reason, tc.lists, lists)
			}
		})
	}
}
