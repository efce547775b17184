// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestRecreate(t *testing.T) {
	read, remove, create := "metadata ConfigMap apps/web", "delete ConfigMap apps/web", "apply new ConfigMap apps/web"
	forbidden := kerrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "web", errors.New("no\nway"))
	on := func(line string, act func(s *site)) func(s *site, l string) error {
		return func(s *site, l string) error {
			if l == line {
				act(s)
			}
			return nil
		}
	}
	replace := func(s *site) {
		s.c.Finish(refOf(cm))
		s.c.Create("kubectl", cm)
	}
	type want struct {
		result result
		// Deleted is the result of Recreate, and Before the UID of the object to wait for.
		Deleted  bool
		Before   string
		Requests []string
		Cached   []string
	}
	cases := map[string]struct {
		reason string
		// uid is the UID in the inventory.
		uid    string
		others func(s *site)
		meet   func(s *site, line string) error
		want   want
	}{
		"Ours": {
			reason: "An object of the bundle is deleted and created, and the cache is up to date.",
			want: want{
				result: result{Kind: "Updated"}, Deleted: true, Requests: []string{read, remove, create},
				Cached: []string{"forget ConfigMap apps/web", "put ConfigMap apps/web uid-4"},
			},
		},
		"Finalizers": {
			reason: "An object that waits for its finalizers is created by a later call.",
			others: func(s *site) { s.c.Edit("kubectl", refOf(cm), finalize) },
			want: want{
				result: result{Kind: "Deleting"}, Deleted: true, Before: "uid-3", Requests: []string{read, remove},
				Cached: []string{"put ConfigMap apps/web uid-3"},
			},
		},
		"Deleting": {
			reason: "An object that is being deleted is not deleted again.",
			others: func(s *site) { s.c.Edit("kubectl", refOf(cm), finalize); s.c.Delete(refOf(cm)) },
			want:   want{result: result{Kind: "Deleting"}, Before: "uid-3", Requests: []string{read}},
		},
		"Gone": {
			reason: "An object that is gone is created.",
			others: func(s *site) { s.c.Finish(refOf(cm)) },
			want: want{
				result: result{Kind: "Updated"}, Requests: []string{read, create}, Cached: []string{"put ConfigMap apps/web uid-4"},
			},
		},
		"Unowned": {
			reason: "An object without an owner is not deleted.",
			others: replace,
			want: want{
				result: result{Err: "ConfigMap apps/web: another client created the object while it was being recreated"}, Requests: []string{read},
			},
		},
		"Stripped": {
			reason: "An object whose label another client removed belongs to the bundle if it has the UID in the inventory.", uid: "uid-3",
			others: func(s *site) { s.c.Edit("x", refOf(cm), label(object.LabelPartOf, "")) },
			want: want{
				result: result{Kind: "Updated"}, Deleted: true, Requests: []string{read, remove, create},
				Cached: []string{"forget ConfigMap apps/web", "put ConfigMap apps/web uid-4"},
			},
		},
		"StrippedUnknown": {
			reason: "An object without a label is not deleted if the inventory does not contain its UID.", uid: "uid-9",
			others: func(s *site) { s.c.Edit("x", refOf(cm), label(object.LabelPartOf, "")) },
			want: want{
				result: result{Err: "ConfigMap apps/web: another client created the object while it was being recreated"}, Requests: []string{read},
			},
		},
		"OfAnother": {
			reason: "An object of another bundle is not deleted, whatever its UID is.", uid: "uid-3",
			others: func(s *site) { s.c.Edit("x", refOf(cm), label(object.LabelPartOf, "applyset-other")) },
			want: want{
				result: result{Err: "ConfigMap apps/web: another client created the object while it was being recreated"}, Requests: []string{read},
			},
		},
		"Replaced": {
			reason: "An object that takes the name in the meantime is not deleted.",
			meet:   on(remove, replace),
			want: want{
				result: result{Err: "ConfigMap apps/web: another client replaced the object while it was being recreated"}, Requests: []string{read, remove},
			},
		},
		"GoneMeanwhile": {
			reason: "An object that is deleted in the meantime is created.",
			meet:   on(remove, func(s *site) { s.c.Finish(refOf(cm)) }),
			want: want{
				result: result{Kind: "Updated"}, Deleted: true, Requests: []string{read, remove, create},
				Cached: []string{"forget ConfigMap apps/web", "put ConfigMap apps/web uid-4"},
			},
		},
		"TakenMeanwhile": {
			reason: "If another client creates the object first, the next call finds out who owns it.",
			meet:   on(create, func(s *site) { s.c.Create("kubectl", cm) }),
			want: want{
				result: result{Kind: "Deleting"}, Deleted: true, Before: "uid-4", Requests: []string{read, remove, create, read},
				Cached: []string{"forget ConfigMap apps/web"},
			},
		},
		"Unread": {
			reason: "An object that cannot be read is not deleted.",
			meet:   refuse(read, forbidden),
			want: want{
				result: result{Err: `ConfigMap apps/web: configmaps "web" is forbidden: no way`, Refused: true}, Requests: []string{read},
			},
		},
		"Undeleted": {
			reason: "An object that cannot be deleted stays, and the error says so.",
			meet:   refuse(remove, forbidden),
			want: want{
				result:   result{Err: `ConfigMap apps/web: configmaps "web" is forbidden: no way`, Refused: true},
				Requests: []string{read, remove},
			},
		},
		"Uncreated": {
			reason: "If the object cannot be created, the outcome still says that it was deleted.",
			meet:   refuse(create, forbidden),
			want: want{
				result:  result{Err: `ConfigMap apps/web: configmaps "web" is forbidden: no way`, Refused: true},
				Deleted: true, Requests: []string{read, remove, create}, Cached: []string{"forget ConfigMap apps/web"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.apply(t, desired(t, cm))
			if tc.others != nil {
				tc.others(s)
			}
			s.c.Requests()
			s.c.Cached()
			if tc.meet != nil {
				s.c.Meet = func(line string) error { return tc.meet(s, line) }
			}
			out, deleted, err := s.writer().Recreate(t.Context(), desired(t, cmNext), tc.uid)
			got := want{result: resultOf(out, err), Deleted: deleted, Requests: s.c.Requests(), Cached: s.c.Cached()}
			if out.Before != nil {
				got.Before = string(out.Before.UID)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nRecreate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
