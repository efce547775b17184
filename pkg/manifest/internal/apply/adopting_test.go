// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// An adoption takes over the fields that deployers set, so that a field is removed when a version of the module no longer
// contains it.
func TestApplyAdopts(t *testing.T) {
	adopted := slices.Concat(look[:2], []string{"patch ConfigMap apps/web", "apply ConfigMap apps/web"})
	cases := map[string]scenario{
		"Deployed": {
			reason:   "Taking over the fields of a deployer costs one more request, which changes nothing else.",
			others:   foreign("helm", cm),
			want:     cm,
			adoption: object.AdoptUnowned,
			out:      result{Kind: "Updated", Lost: labels},
			requests: adopted,
			fields:   []string{"metadata.labels"},
			tries:    tryTake,
		},
		"Removed": {
			reason:   "An adoption removes fields that the deployer set and the module lacks. A dry run does not see that, as it takes over nothing.",
			others:   foreign("helm", cm),
			want:     cmNext,
			adoption: object.AdoptUnowned,
			out:      result{Kind: "Updated", Lost: append([]string{"data.c"}, labels...)},

			requests: adopted,
			fields:   []string{"data.a", "data.c", "metadata.labels"},
			unseen:   []string{"data.b"},
			tries:    tryTake,
		},
		"Controlled": {
			reason:   "Fields that a controller set remain its own.",
			others:   foreign("some-controller", cm),
			want:     cm,
			adoption: object.AdoptUnowned,
			out:      result{Kind: "Updated", Lost: append([]string{"data.a", "data.b"}, labels...)},
			requests: take,
			fields:   []string{"metadata.labels"},
			tries:    tryTake,
		},
		"OfAnother": {
			reason: "AdoptAll includes objects of other bundles. Their engine has the same field manager, so no fields have to be taken over.",
			others: func(s *site) {
				o := `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps, labels: {applyset.kubernetes.io/part-of: other}}, data: {a: "1", z: "1"}}`
				s.c.Apply(object.DefaultFieldManager, o)
			},
			want:     cm,
			adoption: object.AdoptAll,
			out:      result{Kind: "Updated", Lost: []string{"data.b", "metadata.labels.operator.kyma-project.io/managed-by"}},
			requests: take,
			fields:   []string{"data.b", "data.z", labels[0], labels[1]},
			tries:    tryTake,
		},
		"Resource": {
			reason:   "The fields of a custom resource belong to its users, with whatever tool they set them.",
			others:   foreign("helm", cm),
			want:     cmNext,
			change:   func(o *object.Desired) { o.Stage = object.StageResource },
			adoption: object.AdoptUnowned,
			out:      result{Kind: "Updated", Lost: append([]string{"data.c"}, labels...)},
			requests: take,
			fields:   []string{"data.c", "metadata.labels"},
			tries:    tryTake,
		},
		"Again": {
			reason:   "An object of the bundle is not adopted again.",
			was:      cm,
			others:   func(s *site) { s.c.Set("helm", refOf(cm), "9", "data", "a") },
			want:     cm,
			adoption: object.AdoptAll,
			out:      result{Kind: "Updated", Lost: []string{"data.a"}},
			requests: []string{"metadata ConfigMap apps/web", "apply ConfigMap apps/web"},
			fields:   []string{"data.a"},
			tries:    []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"},
		},
		"Deleting": {
			reason:   "An object that is being deleted is not adopted.",
			others:   both(foreign("helm", cm, finalize), func(s *site) { s.c.Delete(refOf(cm)) }),
			want:     cm,
			adoption: object.AdoptUnowned,
			out:      result{Kind: "Deleting"},
			requests: look, tries: tryLook,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// Other clients may write an object while its fields are taken over.
func TestApplyAdoptsInConflict(t *testing.T) {
	patch := "patch ConfigMap apps/web"
	meet := func(times int, act func(s *site)) func(s *site, line string) error {
		n := 0
		return func(s *site, line string) error {
			if line == patch && n < times {
				n++
				act(s)
			}
			return nil
		}
	}
	// Each write has another value, so that the resource version changes.
	value := "x"
	edits := func(s *site) {
		value += "x"
		s.c.Set("some-controller", refOf(cm), value, "data", "z")
	}
	conflict := `ConfigMap apps/web: cannot take ownership of the fields: Operation cannot be fulfilled on configmaps "web": the object has been modified`
	metadata := "metadata ConfigMap apps/web"
	cases := map[string]struct {
		reason   string
		meet     func(s *site, line string) error
		out      result
		requests []string
	}{
		"Once": {
			reason:   "After a conflict, the engine tries again with the current object.",
			meet:     meet(1, edits),
			out:      result{Kind: "Updated", Lost: labels},
			requests: []string{patch, metadata, patch, "apply ConfigMap apps/web"},
		},
		"Always": {
			reason:   "After three conflicts, the next call continues.",
			meet:     meet(9, edits),
			out:      result{Err: conflict, Refused: true},
			requests: []string{patch, metadata, patch, metadata, patch},
		},
		"Gone": {
			reason:   "If the object is gone in the meantime, the next call creates it.",
			meet:     meet(1, func(s *site) { edits(s); s.c.Meet = removeOn(s, metadata) }),
			out:      result{Kind: "Deleting"},
			requests: []string{patch, metadata},
		},
		"GoneBefore": {
			reason:   "The object may be gone before the request, too.",
			meet:     meet(1, func(s *site) { s.c.Finish(refOf(cm)) }),
			out:      result{Err: `ConfigMap apps/web: cannot take ownership of the fields: configmaps "web" not found`, Refused: true},
			requests: []string{patch},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sc := scenario{
				reason: tc.reason, others: foreign("helm", cm), want: cm, adoption: object.AdoptUnowned, meet: tc.meet, out: tc.out,
				requests: append(look[:2:2], tc.requests...),
				// A dry run takes over nothing.
				instead: &result{Kind: "Updated", Fields: []string{"metadata.labels"}}, tries: tryTake,
			}
			sc.test(t)
		})
	}
}

// removeOn removes the object before a request is served.
func removeOn(s *site, line string) func(string) error {
	return func(l string) error {
		if l == line {
			s.c.Finish(refOf(cm))
		}
		return nil
	}
}

// An object may be deleted between two requests.
func TestApplyGoesMeanwhile(t *testing.T) {
	goes := func(s *site, line string) error {
		if line == "metadata ConfigMap apps/web" || line == "get ConfigMap apps/web" {
			s.c.Finish(refOf(cm))
		}
		return nil
	}
	cases := map[string]scenario{
		"Found": {
			reason:   "If the object that prevented a creation is gone, the next call creates the object.",
			others:   foreign("kubectl-create", cm),
			want:     cm,
			meet:     goes,
			out:      result{Kind: "Deleting"},
			requests: look, tries: tryLook,
		},
		"Conflict": {
			reason:   "If the object that owned a conflicting field is gone, the next call creates the object.",
			was:      cm,
			others:   func(s *site) { s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a") },
			want:     cmNext,
			input:    func(in *Subject) { in.Drifted = false },
			meet:     goes,
			out:      result{Kind: "Deleting"},
			requests: []string{"apply unforced ConfigMap apps/web", "metadata ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web"},
		},
		"FoundDeleting": {
			reason:   "An object of the bundle that is being deleted is waited for.",
			was:      cm,
			others:   func(s *site) { s.c.Edit("kubectl-edit", refOf(cm), finalize); s.c.Delete(refOf(cm)) },
			want:     cm,
			input:    func(in *Subject) { *in = Subject{Object: in.Object} },
			out:      result{Kind: "Deleting"},
			requests: look, tries: tryLook,
		},
		"ForeignDeleting": {
			reason: "An object of another client that is being deleted is refused, because it will not belong to the bundle once it is gone.",
			others: both(foreign("kubectl-create", cm, finalize), func(s *site) { s.c.Delete(refOf(cm)) }),
			want:   cm,
			out: result{
				Err: "ConfigMap apps/web: already exists and does not belong to this module; remove the object, or set adopt", Refused: true,
			},
			requests: look, tries: tryLook,
		},
		"DriftedDeleting": {
			reason:   "If the object has to be read before it is changed, and is being deleted, it is not changed.",
			was:      cm,
			others:   func(s *site) { s.c.Edit("kubectl-edit", refOf(cm), finalize); s.c.Delete(refOf(cm)) },
			want:     cm,
			input:    func(in *Subject) { in.Drifted = true },
			out:      result{Kind: "Deleting"},
			requests: look[1:], tries: tryLook[1:],
		},
		"ConflictDeleting": {
			reason: "An object that is being deleted, and whose fields others own, is not changed.",
			was:    cm,
			others: func(s *site) {
				s.c.Edit("kubectl-edit", refOf(cm), finalize)
				s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a")
				s.c.Delete(refOf(cm))
			},
			want:     cmNext,
			input:    func(in *Subject) { in.Drifted = false },
			out:      result{Kind: "Deleting"},
			requests: []string{"apply unforced ConfigMap apps/web", "metadata ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web"},
		},
		"UnreadDeleting": {
			reason: "If the plan did not know that the object is being deleted, it is applied without being read. The dry run reads it.",
			was:    cm,
			others: func(s *site) { s.c.Edit("kubectl-edit", refOf(cm), finalize); s.c.Delete(refOf(cm)) },
			want:   cmNext,
			out:    result{Kind: "Updated"}, instead: &result{Kind: "Deleting"},
			requests: []string{"apply unforced ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}
