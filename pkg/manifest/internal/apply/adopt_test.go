// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// foreign creates the object of another client.
func foreign(manager, text string, change ...func(u *unstructured.Unstructured)) func(s *site) {
	return func(s *site) {
		ref := s.c.Create(manager, text)
		for _, f := range change {
			s.c.Edit(manager, ref, f)
		}
	}
}

func annotate(annotations map[string]string) func(u *unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { u.SetAnnotations(annotations) }
}

func both(fs ...func(s *site)) func(s *site) {
	return func(s *site) {
		for _, f := range fs {
			f(s)
		}
	}
}

// inventoryOf creates the inventory of another bundle, which names its owner.
func inventoryOf(owner string) func(s *site) {
	return func(s *site) {
		s.c.Create("kubectl", `{apiVersion: v1, kind: Namespace, metadata: {name: kyma-system}}`)
		s.c.Create("provider-kyma", `{apiVersion: v1, kind: Secret, metadata: {name: inventory, namespace: kyma-system,
labels: {applyset.kubernetes.io/id: applyset-other}, annotations: {kyma.m.crossplane.io/owner: "`+owner+`"}}}`)
	}
}

var (
	look    = []string{"apply new ConfigMap apps/web", "metadata ConfigMap apps/web"}
	tryLook = []string{"try apply new ConfigMap apps/web", "get ConfigMap apps/web"}
	take    = append(look[:2:2], "apply ConfigMap apps/web")
	tryTake = append(tryLook[:2:2], "try apply ConfigMap apps/web")
	labels  = []string{"metadata.labels.applyset.kubernetes.io/part-of", "metadata.labels.operator.kyma-project.io/managed-by"}
)

// The objects in these cases exist, and the bundle did not apply them.
func TestApplyForeign(t *testing.T) {
	other := label(object.LabelPartOf, "applyset-other")
	cases := map[string]scenario{
		"Unowned": {
			reason: "An object without an owner is left alone. The message names it, and says what to do.",
			others: foreign("kubectl-create", cm),
			want:   cm,
			out: result{
				Err: "ConfigMap apps/web: already exists and does not belong to this module; remove the object, or set adopt", Refused: true,
			},
			requests: look, tries: tryLook,
		},
		"UnownedResource": {
			reason: "For a custom resource, the message says that it can be left out of the bundle instead.",
			others: foreign("kubectl-create", cm),
			want:   cm,
			change: func(o *object.Desired) { o.Stage = object.StageResource },
			out: result{
				Err: "ConfigMap apps/web: already exists and does not belong to this module; set adopt, or omit it", Refused: true,
			},
			requests: look, tries: tryLook,
		},
		"OfAnother": {
			reason:   "If the owner of another bundle is not known, the message names the label of the object.",
			others:   foreign("kubectl-create", cm, other),
			want:     cm,
			adoption: object.AdoptUnowned,
			out: result{
				Err: "ConfigMap apps/web: already exists and belongs to another owner (label applyset.kubernetes.io/part-of: applyset-other); " +
					"remove the object there, or set adopt", Refused: true,
			},
			requests: append(look[:2:2], "list Secret kyma-system"),
			tries:    append(tryLook[:2:2], "list Secret kyma-system"),
		},
		"OfAnOwner": {
			reason: "If the inventory of the other bundle exists, the message names its owner, on one line.",
			others: both(inventoryOf("Kyma a/\\nb"), foreign("kubectl-create", cm, other)),
			want:   cm,
			out: result{
				Err: "ConfigMap apps/web: already exists and belongs to Kyma a/ b; remove the object there, or set adopt", Refused: true,
			},
			requests: append(look[:2:2], "list Secret kyma-system"),
			tries:    append(tryLook[:2:2], "list Secret kyma-system"),
		},
		"TakenByAnother": {
			reason: "Another bundle may take over an object while the watch is behind: the conflict about the label shows it.",
			was:    cm,
			others: func(s *site) { s.c.Edit("provider-kyma", refOf(cm), other) },
			want:   cmNext,
			input:  func(in *Subject) { in.State.Set, in.Drifted = ourSet, false },
			out: result{
				Err: "ConfigMap apps/web: already exists and belongs to another owner (label applyset.kubernetes.io/part-of: applyset-other); " +
					"remove the object there, or set adopt", Refused: true,
			},
			requests: []string{"apply unforced ConfigMap apps/web", "metadata ConfigMap apps/web", "list Secret kyma-system"},
			tries:    []string{"get ConfigMap apps/web", "list Secret kyma-system"},
		},
		"KnownOfAnother": {
			reason: "If the watch shows it, nothing is sent before the object is read.",
			was:    cm,
			others: func(s *site) { s.c.Edit("provider-kyma", refOf(cm), other) },
			want:   cmNext,
			input:  func(in *Subject) { in.Drifted = false },
			out: result{
				Err: "ConfigMap apps/web: already exists and belongs to another owner (label applyset.kubernetes.io/part-of: applyset-other); " +
					"remove the object there, or set adopt", Refused: true,
			},
			requests: []string{"metadata ConfigMap apps/web", "list Secret kyma-system"},
			tries:    []string{"get ConfigMap apps/web", "list Secret kyma-system"},
		},
		"KeptByUs": {
			reason:   "An object that this bundle orphaned is adopted without a request for adoption.",
			others:   foreign("kubectl-create", cm, annotate(map[string]string{object.AnnotationKeptBy: ourSet})),
			want:     cmNext,
			out:      result{Kind: "Updated", Lost: append([]string{"data.a", "data.c"}, labels...)},
			requests: take,
			fields:   []string{"data.a", "data.c", "metadata.labels"},
			tries:    tryTake,
		},
		"KeptByAnother": {
			reason: "An object that another bundle orphaned is not.",
			others: foreign("kubectl-create", cm, annotate(map[string]string{object.AnnotationKeptBy: "applyset-other"})),
			want:   cmNext,
			out: result{
				Err: "ConfigMap apps/web: already exists and does not belong to this module; remove the object, or set adopt", Refused: true,
			},
			requests: look, tries: tryLook,
		},
		"KeptAndTaken": {
			reason: "The annotation does not matter for an object that belongs to another bundle.",
			others: foreign("kubectl-create", cm, annotate(map[string]string{object.AnnotationKeptBy: ourSet}), other),
			want:   cm,
			out: result{
				Err: "ConfigMap apps/web: already exists and belongs to another owner (label applyset.kubernetes.io/part-of: applyset-other); " +
					"remove the object there, or set adopt", Refused: true,
			},
			requests: append(look[:2:2], "list Secret kyma-system"),
			tries:    append(tryLook[:2:2], "list Secret kyma-system"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// helmRelease are the annotations that Helm writes on the objects of the release web.
var helmRelease = map[string]string{object.AnnotationReleaseName: "web", object.AnnotationReleaseNamespace: "apps"}

// ofHelm is an object of that release.
const ofHelm = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps, labels: {app.kubernetes.io/managed-by: Helm},
annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: apps}}, data: {a: "1"}}`

// Helm keeps some objects of a release that is uninstalled. The install that continues the release takes them over.
func TestApplyOrphanOfHelm(t *testing.T) {
	orphan := func(change func(annotations map[string]string), managedBy string) func(s *site) {
		return func(s *site) {
			a := map[string]string{object.AnnotationResourcePolicy: "keep"}
			maps.Copy(a, helmRelease)
			if change != nil {
				change(a)
			}
			foreign("kubectl-edit", cm, annotate(a), label(object.LabelHelmManagedBy, managedBy))(s)
		}
	}
	record := func(set string) func(s *site) {
		return func(s *site) {
			s.c.Create("helm", `{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.web.v1, namespace: apps,
labels: {owner: helm, name: web, kyma.m.crossplane.io/set: "`+set+`"}}}`)
		}
	}
	unowned := result{
		Err: "ConfigMap apps/web: already exists and does not belong to this module; remove the object, or set adopt", Refused: true,
	}
	ours := result{Kind: "Updated", Lost: append([]string{
		"data.a", "metadata.annotations.meta.helm.sh/release-name", "metadata.annotations.meta.helm.sh/release-namespace",
		"metadata.labels.app.kubernetes.io/managed-by",
	}, labels...)}
	cases := map[string]struct {
		reason string
		others func(s *site)
		want   string
		asks   bool
		out    result
	}{
		"Continued":    {reason: "No record of the release is left.", others: orphan(nil, "Helm"), want: ofHelm, asks: true, out: ours},
		"Ours":         {reason: "The records that are left belong to this bundle.", others: both(orphan(nil, "Helm"), record(ourSet)), want: ofHelm, asks: true, out: ours},
		"Installed":    {reason: "A release of another client is not continued.", others: both(orphan(nil, "Helm"), record("")), want: ofHelm, asks: true, out: unowned},
		"NoInstall":    {reason: "Plain objects do not continue a release.", others: orphan(nil, "Helm"), want: cm, out: unowned},
		"NoRelease":    {reason: "An object that names no release is not taken over.", others: orphan(func(a map[string]string) { clear(a); a[object.AnnotationResourcePolicy] = "keep" }, "Helm"), want: cm, out: unowned},
		"NotHelm":      {reason: "An object without Helm's label does not belong to Helm.", others: orphan(nil, "me"), want: ofHelm, out: unowned},
		"NotKept":      {reason: "Helm deletes objects that it does not keep, so this one belongs to another client.", others: orphan(func(a map[string]string) { delete(a, object.AnnotationResourcePolicy) }, "Helm"), want: ofHelm, out: unowned},
		"OtherRelease": {reason: "An object of another release is not taken over.", others: orphan(func(a map[string]string) { a[object.AnnotationReleaseName] = "x" }, "Helm"), want: ofHelm, out: unowned},
		"OtherPlace":   {reason: "An object of a release in another namespace is not taken over.", others: orphan(func(a map[string]string) { a[object.AnnotationReleaseNamespace] = "x" }, "Helm"), want: ofHelm, out: unowned},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sc := scenario{reason: tc.reason, others: tc.others, want: tc.want, out: tc.out, requests: look, tries: tryLook}
			if tc.asks {
				sc.requests, sc.tries = append(sc.requests[:2:2], "list Secret apps"), append(sc.tries[:2:2], "list Secret apps")
			}
			if tc.out.Err == "" {
				sc.requests, sc.tries = append(sc.requests, "apply ConfigMap apps/web"), append(sc.tries, "try apply ConfigMap apps/web")
				sc.fields = labels
			}
			sc.test(t)
		})
	}
}
