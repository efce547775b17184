// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
)

// Objects that a dry run would create earlier count as existing.
func TestAssumed(t *testing.T) {
	namespace := `{apiVersion: v1, kind: Namespace, metadata: {name: new}}`
	inside := `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: new}}`
	other := `{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: new}}`
	created := result{Kind: "Created"}
	cases := map[string]struct {
		reason string
		// created are objects that would be created earlier.
		created []string
		planned bool
		// all are the objects to try, one after the other.
		all  []string
		want []result
		// tries are the requests for all of them.
		tries []string
	}{
		"Namespace": {
			reason:  "An object in a namespace of the plan cannot be tried, and counts as created.",
			created: []string{namespace}, all: []string{inside}, want: []result{created},
		},
		"OtherNamespace": {
			reason:  "An object in another namespace is tried.",
			created: []string{namespace}, all: []string{cm}, want: []result{created}, tries: []string{"try apply new ConfigMap apps/web"},
		},
		"ClusterScoped": {
			reason:  "An object without a namespace is tried.",
			created: []string{namespace}, all: []string{namespace}, want: []result{created}, tries: []string{"try apply new Namespace new"},
		},
		"OncePerNamespace": {
			reason: "A namespace that is created with an object is noted once, and assumed from then on.",
			all:    []string{inside, other}, want: []result{{Kind: "Created", Note: "namespace new would be created"}, created},
			tries: []string{"try apply new ConfigMap new/web"},
		},
		"Kind": {
			reason:  "An object of a kind of the plan cannot be tried.",
			created: []string{crd(anySpec)}, all: []string{widget}, want: []result{created},
		},
		"Other": {
			reason:  "Objects of other stages do not affect what exists.",
			created: []string{cm}, all: []string{widget},
			want: []result{{Err: "Widget apps/web: the cluster does not serve kind Widget in example.org/v1", Refused: true}},
		},
		"Version": {
			reason: "The plan may add a version to a CRD that exists.",
			all:    []string{widget}, planned: true,
			want: []result{{Kind: "Created", Note: "Widget apps/web cannot be checked with a dry run: the API version of this kind is not served yet"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			if tc.planned {
				s.assumed.Planned = map[string]bool{"widgets.example.org": true}
			}
			for _, text := range tc.created {
				s.assumed.Created(desired(t, text))
			}
			s.c.Requests()
			d := s.dryRunner()
			var got []result
			for _, text := range tc.all {
				got = append(got, resultOf(d.Apply(t.Context(), s.input(desired(t, text)))))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.tries, s.c.Requests()); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Dry runs of objects run at the same time: if two objects need the same missing namespace, it is recorded once.
func TestAssumedNamespace(t *testing.T) {
	a := &Assumed{}
	if !a.addNamespace("new") || a.addNamespace("new") || !a.addNamespace("other") {
		t.Error("addNamespace(...): each namespace is new once")
	}
}

// A webhook may not support dry runs. That is not a refusal, because applying the object may work.
func TestWithoutDryRun(t *testing.T) {
	hook := func(err error) func(*site, string) error {
		return func(_ *site, line string) error {
			if line == "try apply ConfigMap apps/web" || line == "try apply new ConfigMap apps/web" {
				return err
			}
			return nil
		}
	}
	unsupported := hook(kerrors.NewBadRequest("admission webhook \"x\"\ndoes not support dry runs"))
	note := `ConfigMap apps/web cannot be checked with a dry run: admission webhook "x" does not support dry runs`
	cases := map[string]scenario{
		"Created": {
			reason: "For an object that would be created, there is a note.",
			want:   cm, meet: unsupported, out: result{Kind: "Created"}, note: note,
			requests: look[:1], tries: tryLook[:1],
		},
		"Updated": {
			reason: "For an object that would be updated, there is a note.",
			was:    cm, want: cmNext, meet: unsupported, out: result{Kind: "Updated"}, note: note,
			requests: []string{"apply unforced ConfigMap apps/web"}, tries: []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"},
		},
		"Bad": {
			reason: "Any other bad request is a refusal.",
			want:   cm, meet: hook(kerrors.NewBadRequest("no")), out: result{Kind: "Created"},
			instead:  &result{Err: "ConfigMap apps/web: no", Refused: true},
			requests: look[:1], tries: tryLook[:1],
		},
		"Elsewhere": {
			reason: "The same text in a server error is an error.",
			want:   cm, meet: hook(kerrors.NewInternalError(errors.New("does not support dry runs"))), out: result{Kind: "Created"},
			instead:  &result{Err: "ConfigMap apps/web: Internal error occurred: does not support dry runs"},
			requests: look[:1], tries: tryLook[:1],
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// The owner of a bundle is read once.
func TestOwnersAreCached(t *testing.T) {
	s := newSite(t)
	inventoryOf("Kyma a")(s)
	w := s.writer()
	s.c.Requests()
	for range 2 {
		if got := w.Permissions.OwnerOf(t.Context(), "applyset-other"); got != "Kyma a" {
			t.Errorf("nameOf(...): %q", got)
		}
	}
	if diff := cmp.Diff([]string{"list Secret kyma-system"}, s.c.Requests()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}
