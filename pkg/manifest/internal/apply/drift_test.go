// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Other clients change applied objects.
func TestApplyDrifted(t *testing.T) {
	repair := []string{"metadata ConfigMap apps/web", "apply ConfigMap apps/web"}
	tries := []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"}
	cases := map[string]scenario{
		"Changed": {
			reason:   "A field that others changed is restored, and reported.",
			was:      cm,
			others:   func(s *site) { s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a") },
			want:     cm,
			out:      result{Kind: "Updated", Lost: []string{"data.a"}},
			requests: repair,
			fields:   []string{"data.a"},
			tries:    tries,
		},
		"Added": {
			reason:   "Fields that others add belong to them.",
			was:      cm,
			others:   func(s *site) { s.c.Set("kubectl-edit", refOf(cm), "9", "data", "z") },
			want:     cmNext,
			out:      result{Kind: "Updated"},
			requests: []string{"apply unforced ConfigMap apps/web"},
			fields:   []string{"data.a", "data.b", "data.c"},
			tries:    tries,
		},
		"TakenAndRestored": {
			reason: "Others may own a field with the desired value: it is still repaired, and the dry run says so.",
			was:    cm,
			others: func(s *site) {
				s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a")
				s.c.Set("kubectl-edit", refOf(cm), "1", "data", "a")
			},
			want:     cm,
			out:      result{Kind: "Updated", Lost: []string{"data.a"}},
			requests: repair,
			tries:    tries,
		},
		"Label": {
			reason: "An object that lost its labels belongs to the bundle as long as it has the UID.",
			was:    cm,
			others: func(s *site) {
				s.c.Edit("kubectl-edit", refOf(cm), func(u *unstructured.Unstructured) { u.SetLabels(nil) })
			},
			want:     cm,
			input:    known,
			out:      result{Kind: "Updated", Lost: []string{"metadata.labels.applyset.kubernetes.io/part-of", "metadata.labels.operator.kyma-project.io/managed-by"}},
			requests: repair,
			fields:   []string{"metadata.labels"},
			tries:    tries,
		},
		"Replaced": {
			reason: "Another object with the same name does not belong to the bundle.",
			was:    cm,
			others: func(s *site) {
				s.c.Finish(refOf(cm))
				s.c.Create("kubectl-create", cm)
			},
			want: cm,
			out: result{
				Err: "ConfigMap apps/web: already exists and does not belong to this module; remove the object, or set adopt", Refused: true,
			},
			requests: []string{"apply new ConfigMap apps/web", "metadata ConfigMap apps/web"},
			tries:    []string{"try apply new ConfigMap apps/web", "get ConfigMap apps/web"},
		},
		"Behind": {
			reason:   "A watch that is behind does not show the drift. The API server does, and the field is reclaimed.",
			was:      cm,
			others:   func(s *site) { s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a") },
			want:     cmNext,
			input:    func(in *Subject) { in.Drifted = false },
			out:      result{Kind: "Updated", Lost: []string{"data.a", "data.c"}},
			requests: []string{"apply unforced ConfigMap apps/web", "metadata ConfigMap apps/web", "apply ConfigMap apps/web"},
			fields:   []string{"data.a", "data.b", "data.c"},
			tries:    tries,
		},
		"BehindAndGone": {
			reason: "If a watch that is behind does not show that the object is gone, the run creates it without reading it.",
			was:    cm,
			others: func(s *site) { s.c.Finish(refOf(cm)) },
			want:   cmNext,
			input:  func(in *Subject) { in.Exists, in.State.Set, in.Drifted = true, ourSet, false },
			out:    result{Kind: "Updated"},
			// A dry run reports a creation for an object that is being deleted.
			instead:  &result{Kind: "Deleting"},
			requests: []string{"apply unforced ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web"},
		},
		"DriftedAndGone": {
			reason:   "If the object has to be read, the engine sees that it is gone, and creates it.",
			was:      cm,
			others:   func(s *site) { s.c.Finish(refOf(cm)) },
			want:     cm,
			input:    behind,
			out:      result{Kind: "Created"},
			requests: []string{"metadata ConfigMap apps/web", "apply new ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web", "try apply new ConfigMap apps/web"},
		},
		"DriftedAndTaken": {
			reason: "An object that another client creates in its place at this moment does not belong to the bundle.",
			was:    cm,
			others: func(s *site) { s.c.Finish(refOf(cm)) },
			want:   cm,
			input:  behind,
			meet: func(s *site, line string) error {
				if strings.Contains(line, "apply") && s.c.Object(refOf(cm)) == nil {
					s.c.Create("kubectl-create", cm)
				}
				return nil
			},
			out: result{
				Err: "ConfigMap apps/web: already exists and does not belong to this module; remove the object, or set adopt", Refused: true,
			},
			requests: []string{"metadata ConfigMap apps/web", "apply new ConfigMap apps/web", "metadata ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web", "try apply new ConfigMap apps/web", "get ConfigMap apps/web"},
		},
		"ResourceGone": {
			reason:   "The next version does not create a custom resource again that its users deleted, even if the watch is behind.",
			was:      cm,
			others:   func(s *site) { s.c.Finish(refOf(cm)) },
			want:     cmNext,
			change:   func(o *object.Desired) { o.Stage = object.StageResource },
			input:    behind,
			out:      result{Kind: "Unchanged"},
			requests: []string{"metadata ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web"},
		},
		"ResourceOfAnotherGone": {
			reason: "A custom resource that was never applied is created.",
			want:   cm,
			change: func(o *object.Desired) { o.Stage = object.StageResource },
			input:  behind,
			out:    result{Kind: "Created"},

			requests: []string{"metadata ConfigMap apps/web", "apply new ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web", "try apply new ConfigMap apps/web"},
		},
		"Resource": {
			reason: "Fields of the custom resource that users changed belong to them, and are not reported as ceded.",
			was:    cm,
			others: func(s *site) { s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a") },
			want:   cmNext,
			change: func(o *object.Desired) { o.Stage = object.StageResource },
			out:    result{Kind: "Updated", Lost: []string{"data.c"}},
			input:  func(in *Subject) { in.Drifted = false },

			requests: repair,
			fields:   []string{"data.b", "data.c"},
			tries:    tries,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// known is the input for an object without its labels, which a watch does not show.
func known(in *Subject) { in.Exists, in.Drifted = true, true }

// behind is the input for an object that is gone, although a watch still shows it.
func behind(in *Subject) { in.Exists, in.State.Set, in.Drifted = true, ourSet, true }
