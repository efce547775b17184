// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const (
	claim     = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web, namespace: apps}, spec: {storageClassName: a}}`
	claim2    = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web, namespace: apps}, spec: {storageClassName: b}}`
	stateful  = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: apps}, spec: {serviceName: a, replicas: 1, x: 1}}`
	stateful2 = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: apps}, spec: {serviceName: b, replicas: 2, x: 1}}`
)

// Some fields of objects are immutable.
func TestApplyImmutable(t *testing.T) {
	requests := []string{"apply unforced ConfigMap apps/web"}
	tries := []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"}
	again := result{Kind: "Immutable", Fields: []string{"data"}}
	why := "ConfigMap apps/web: data cannot be changed (field is immutable when `immutable` is set); "
	precise := result{
		Err: "StatefulSet apps/web: spec.serviceName cannot be changed " +
			"(updates to statefulset spec for fields other than 'replicas', 'template' are forbidden); to recreate the object, set recreate",
		Refused: true,
	}
	preciseRequests := []string{
		"apply unforced StatefulSet apps/web", "get StatefulSet apps/web", "get StatefulSet apps/web", "try create StatefulSet apps/web-",
	}
	preciseTries := []string{
		"get StatefulSet apps/web", "try apply StatefulSet apps/web", "get StatefulSet apps/web", "try create StatefulSet apps/web-",
	}
	cases := map[string]scenario{
		"NotAllowed": {
			reason: "Without permission, the error says what cannot be changed, why, and what to do.",
			was:    cmFixed, want: cmFixed2,
			out:      result{Err: why + "to recreate the object, set recreate", Refused: true},
			requests: append(requests[:1:1], "get ConfigMap apps/web"),
			tries:    append(tries[:2:2], "get ConfigMap apps/web"),
		},
		"Allowed": {
			reason: "With permission, the object has to be recreated.",
			was:    cmFixed, want: cmFixed2, policy: func(p *Policy) { p.Recreate = true },
			out: again, fields: again.Fields, requests: requests, tries: tries,
		},
		"AllowedByConfig": {
			reason: "The config may give the permission.",
			was:    cmFixed, want: cmFixed2, change: func(o *object.Desired) { o.Recreate = true },
			out: again, fields: again.Fields, requests: requests, tries: tries,
		},
		"AllowedByAnnotation": {
			reason: "The object may give the permission.",
			was:    cmFixed,
			want: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps, annotations: {kyma.m.crossplane.io/recreate: "true"}},
immutable: true, data: {a: "2"}}`,
			out: again, fields: again.Fields, requests: requests, tries: tries,
		},
		"AnnotatedOtherwise": {
			reason: "The annotation with another value does not give the permission.",
			was:    cmFixed,
			want: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps, annotations: {kyma.m.crossplane.io/recreate: "yes"}},
immutable: true, data: {a: "2"}}`,
			out:      result{Err: why + "to recreate the object, set recreate", Refused: true},
			requests: append(requests[:1:1], "get ConfigMap apps/web"),
			tries:    append(tries[:2:2], "get ConfigMap apps/web"),
		},
		"SameReason": {
			reason: "A reason that several fields share is reported once.",
			was:    cmFixed,
			want:   strings.Replace(cmFixed2, ", data:", ", binaryData: {b: MQ==}, data:", 1),
			out: result{
				Err:     strings.Replace(why, "data cannot", "data, binaryData cannot", 1) + "to recreate the object, set recreate",
				Refused: true,
			},
			requests: append(requests[:1:1], "get ConfigMap apps/web"),
			tries:    append(tries[:2:2], "get ConfigMap apps/web"),
		},
		"Read": {
			reason: "An object that is found belongs to the bundle by its label.",
			was:    cmFixed, want: cmFixed2, policy: func(p *Policy) { p.Recreate = true },
			input: func(in *Subject) { *in = Subject{Object: in.Object} },
			out:   again, fields: again.Fields, requests: take, tries: tryTake,
		},
		"Foreign": {
			reason: "An object that does not belong to the module yet is not deleted, even with permission.",
			others: foreign("some-controller", cmFixed), want: cmFixed2,
			policy: func(p *Policy) { p.Recreate = true }, adoption: object.AdoptUnowned,
			out: result{
				Err:     why + "the object is not recreated automatically, because it does not belong to this module yet: delete it manually",
				Refused: true,
			},
			requests: append(take[:3:3], "get ConfigMap apps/web"),
			tries:    append(tryTake[:3:3], "get ConfigMap apps/web"),
		},
		"Irreplaceable": {
			reason: "An object that holds data is never deleted.",
			was:    claim, want: claim2, policy: func(p *Policy) { p.Recreate = true },
			out: result{
				Err: "PersistentVolumeClaim apps/web: spec.storageClassName cannot be changed (spec is immutable after creation except resources.requests); " +
					"the object is not recreated automatically, because its content would be lost: restore the field, or delete the object manually", Refused: true,
			},
			requests: []string{
				"apply unforced PersistentVolumeClaim apps/web", "get PersistentVolumeClaim apps/web", "try create PersistentVolumeClaim apps/web-",
			},
			tries: []string{
				"get PersistentVolumeClaim apps/web", "try apply PersistentVolumeClaim apps/web", "get PersistentVolumeClaim apps/web",
				"try create PersistentVolumeClaim apps/web-",
			},
		},
		"Resource": {
			reason: "The custom resource of the bundle is never deleted.",
			was:    cmFixed, want: cmFixed2, policy: func(p *Policy) { p.Recreate = true },
			change: func(o *object.Desired) { o.Stage = object.StageResource },
			out: result{
				Err: why + "the object is not recreated automatically, because its content would be lost: restore the field, or delete the object manually", Refused: true,
			},
			requests: []string{"metadata ConfigMap apps/web", "apply ConfigMap apps/web", "get ConfigMap apps/web"},
			tries:    append(tries[:2:2], "get ConfigMap apps/web"),
		},
		"Precise": {
			reason: "If the API server names the whole spec, the error names the fields that differ, but not those that may change.",
			was:    stateful, want: stateful2,
			out: precise, requests: preciseRequests, tries: preciseTries,
		},
		"Untold": {
			reason: "If the API server does not return what it would create, the fields are compared as written.",
			was:    stateful, want: stateful2,
			meet: refuse("create StatefulSet apps/web-", kerrors.NewForbidden(schema.GroupResource{}, "web", errors.New("no"))),
			out:  precise, requests: preciseRequests, tries: preciseTries,
		},
		"Removed": {
			reason: "The error also names a field that was applied before and is no longer desired, but not fields that others set.",
			was:    stateful, want: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: apps}, spec: {replicas: 1, x: 1}}`,
			others: func(s *site) { s.c.Set("some-controller", refOf(stateful), "z", "spec", "z") },
			out:    precise, requests: preciseRequests, tries: preciseTries,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// The API server fills in members of unions that conflict with other members.
func TestApplyClearsLeftovers(t *testing.T) {
	first, look, own := "apply unforced Deployment apps/web", "get Deployment apps/web", "patch Deployment apps/web"
	tries := []string{look, "try apply Deployment apps/web", "try apply Deployment apps/web", "try patch Deployment apps/web"}
	fields := []string{"spec.strategy.rollingUpdate", "spec.strategy.type"}
	cleared := result{Kind: "Updated"}
	theirs := result{
		Err: "Deployment apps/web: spec.strategy.rollingUpdate, which is owned by field manager kubectl-edit, cannot be combined with spec.strategy.type Recreate; " +
			"remove the field with that manager, or spec.strategy.type from the module", Refused: true,
	}
	edits := func(times int) func(s *site, line string) error {
		n, value := 0, "x"
		return func(s *site, line string) error {
			if line == own && n < times {
				n++
				value += "x"
				s.c.Set("kubectl-edit", refOf(rolling), value, "spec", "note")
			}
			return nil
		}
	}
	cases := map[string]scenario{
		"Cleared": {
			reason: "The engine takes ownership of a leftover, and removes it because it is not desired.",
			was:    rolling, want: recreate, out: cleared, requests: []string{first, look, own, first}, fields: fields, tries: tries,
		},
		"Drifted": {
			reason: "A repair does the same.",
			was:    rolling, want: recreate, input: func(in *Subject) { in.Drifted = true },
			out:      result{Kind: "Updated", Lost: []string{"spec.strategy.type"}},
			requests: []string{"metadata Deployment apps/web", "apply Deployment apps/web", look, own, "apply Deployment apps/web"},
			fields:   fields, tries: tries,
		},
		"Theirs": {
			reason: "A leftover that another manager set is not cleared.",
			was:    rolling,
			others: func(s *site) {
				s.c.Set("kubectl-edit", refOf(rolling), "50%", "spec", "strategy", "rollingUpdate", "maxSurge")
			},
			want: recreate, input: func(in *Subject) { in.Drifted = false },
			out: theirs, requests: []string{first, look}, tries: tries[:2],
		},
		"Conflict": {
			reason: "After a conflict, the engine tries again.",
			was:    rolling, want: recreate, meet: edits(2), out: cleared,
			requests: []string{first, look, own, look, own, look, own, first}, fields: fields, tries: tries,
		},
		"Conflicts": {
			reason: "After three conflicts, the next call continues.",
			was:    rolling, want: recreate, meet: edits(3),
			out: result{
				Err: `Deployment apps/web: cannot clear spec.strategy.rollingUpdate: Operation cannot be fulfilled on deployments.apps "web": the object has been modified`, Refused: true,
			},
			instead: &result{Kind: "Updated", Fields: fields}, requests: []string{first, look, own, look, own, look, own}, tries: tries,
		},
		"Cut": {
			reason: "If the object is not applied after that, the outcome has the hash of the owned fields, so that they do not count as drift.",
			was:    rolling, want: recreate, meet: second(first, kerrors.NewServiceUnavailable("later")),
			out:     result{Err: "Deployment apps/web: later", Owned: true},
			instead: &result{Kind: "Updated", Fields: fields}, requests: []string{first, look, own, first}, tries: tries,
		},
		"CutRepair": {
			reason: "If the object was read and is not applied after that, the outcome has the hash of the owned fields, too.",
			was:    rolling, want: recreate, meet: second("apply Deployment apps/web", kerrors.NewServiceUnavailable("later")),
			input:   func(in *Subject) { in.Drifted = true },
			out:     result{Err: "Deployment apps/web: later", Owned: true},
			instead: &result{Kind: "Updated", Fields: fields},
			requests: []string{
				"metadata Deployment apps/web", "apply Deployment apps/web", look, own, "apply Deployment apps/web",
			},
			tries: tries,
		},
		"CutAfterDrift": {
			reason: "If the object had drifted before, it still has.",
			was:    rolling, want: recreate, meet: second(first, kerrors.NewServiceUnavailable("later")),
			input:   func(in *Subject) { in.Entry.Owned = "x"; in.Drifted = false },
			out:     result{Err: "Deployment apps/web: later"},
			instead: &result{Kind: "Updated", Fields: fields}, requests: []string{first, look, own, first}, tries: tries,
		},
		"Gone": {
			reason: "An object that is gone in the meantime has no leftovers: the refusal stays.",
			was:    rolling, want: recreate,
			meet: func(s *site, line string) error {
				if line == look && s.c.Object(refOf(rolling)) != nil && s.removes {
					s.c.Finish(refOf(rolling))
				}
				s.removes = s.removes || line == first
				return nil
			},
			out: result{
				Err: "Deployment apps/web: Deployment.apps \"web\" is invalid: spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'", Refused: true,
			},
			instead: &result{Kind: "Updated", Fields: fields}, requests: []string{first, look}, tries: tries,
		},
		"Unread": {
			reason: "Without permission to read the object, nothing is cleared.",
			was:    rolling, want: recreate,
			meet: func(s *site, line string) error {
				s.removes = s.removes || line == first
				if line == look && s.removes {
					return kerrors.NewForbidden(schema.GroupResource{}, "web", errors.New("no"))
				}
				return nil
			},
			out:     result{Err: "Deployment apps/web: forbidden: no", Refused: true},
			instead: &result{Kind: "Updated", Fields: fields}, requests: []string{first, look}, tries: tries,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// The cache is up to date once the engine owns the leftovers.
func TestLeftoversAreCached(t *testing.T) {
	s := newSite(t)
	s.apply(t, desired(t, rolling))
	s.c.Cached()
	s.apply(t, desired(t, recreate))
	if got := s.c.Cached(); len(got) != 2 {
		t.Errorf("the cache is told %v", got)
	}
}

// second refuses the second request with a log line.
func second(line string, err error) func(*site, string) error {
	n := 0
	return func(_ *site, l string) error {
		if l == line {
			n++
		}
		if l == line && n == 2 {
			return err
		}
		return nil
	}
}
