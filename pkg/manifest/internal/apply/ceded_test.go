// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

const listHPAs = "list HorizontalPodAutoscaler apps"

// scaled scales a Deployment as an autoscaler does.
func scaled(manager string) func(s *site) {
	return func(s *site) { s.c.Scale(manager, refOf(deploy), 7) }
}

func autoscaled(s *site) { s.c.Create("kubectl", hpa) }

func TestApplyCedes(t *testing.T) {
	read, try := []string{"metadata Deployment apps/web"}, []string{"get Deployment apps/web"}
	ceded := result{Kind: "Updated", Ceded: []string{"spec.replicas to kube-controller-manager"}}
	requests := []string{read[0], listHPAs, "apply Deployment apps/web"}
	tries := []string{try[0], listHPAs, "try apply Deployment apps/web"}
	autoscalers := schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}
	cedes := func(since int64) func(s *site) {
		return func(s *site) {
			s.entry.Ceded = []ownership.Ceded{{Path: `{"f:spec":{"f:replicas":{}}}`, Manager: "kube-controller-manager", Since: since}}
		}
	}
	without := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {image: %s}}`
	cases := map[string]scenario{
		"Once": {
			reason:   "A field that is ceded to an autoscaler and after contention is ceded only once.",
			was:      deploy,
			others:   both(autoscaled, scaled("kube-controller-manager"), cedes(1_000_000)),
			want:     deploy,
			out:      ceded,
			instead:  &result{Kind: "Unchanged"},
			requests: requests,
			tries:    tries,
		},
		"AutoscalerGone": {
			reason:   "Fields that were ceded to an autoscaler are reclaimed once it is gone.",
			was:      deploy,
			others:   both(scaled("kube-controller-manager"), cedes(0)),
			want:     deploy,
			out:      result{Kind: "Updated", Lost: []string{"spec.replicas"}},
			requests: requests,
			fields:   []string{"spec.replicas"},
			tries:    tries,
		},
		"NotWanted": {
			reason:   "Fields that the bundle does not set are not ceded.",
			was:      fmt.Sprintf(without, "a"),
			others:   both(autoscaled, scaled("kube-controller-manager")),
			want:     fmt.Sprintf(without, "b"),
			input:    func(in *Subject) { in.Drifted = true },
			out:      result{Kind: "Updated"},
			requests: []string{"metadata Deployment apps/web", "apply Deployment apps/web"},
			fields:   []string{"spec.image"},
			tries:    []string{"get Deployment apps/web", "try apply Deployment apps/web"},
		},
		"Unserved": {
			reason:   "A cluster may not serve that version of autoscalers.",
			was:      deploy,
			others:   scaled("kube-controller-manager"),
			want:     deploy2,
			meet:     refuse(listHPAs, &kerrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}}),
			out:      ceded,
			requests: requests,
			fields:   []string{"spec.image"},
			tries:    tries,
		},
		"Autoscaled": {
			reason:   "The replicas are those of the autoscaler that scales the object.",
			was:      deploy,
			others:   both(autoscaled, scaled("kube-controller-manager")),
			want:     deploy2,
			out:      ceded,
			requests: requests,
			fields:   []string{"spec.image"},
			tries:    tries,
		},
		"OnlyCeded": {
			reason:   "If nothing else has to change, the run reports the ceded field, and the dry run no change.",
			was:      deploy,
			others:   both(autoscaled, scaled("kube-controller-manager")),
			want:     deploy,
			out:      ceded,
			instead:  &result{Kind: "Unchanged"},
			requests: requests,
			tries:    tries,
		},
		"Scaled": {
			reason:   "Without an autoscaler, the bundle sets the replicas.",
			was:      deploy,
			others:   scaled("kube-controller-manager"),
			want:     deploy,
			out:      result{Kind: "Updated", Lost: []string{"spec.replicas"}},
			requests: requests,
			fields:   []string{"spec.replicas"},
			tries:    tries,
		},
		"OtherTarget": {
			reason: "An autoscaler of another object does not count.",
			was:    deploy,
			others: both(scaled("kube-controller-manager"), func(s *site) {
				s.c.Create("kubectl", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: apps},
spec: {scaleTargetRef: {apiVersion: v1, kind: Deployment, name: web}}}`)
			}),
			want:     deploy,
			out:      result{Kind: "Updated", Lost: []string{"spec.replicas"}},
			requests: requests,
			fields:   []string{"spec.replicas"},
			tries:    tries,
		},
		"OtherField": {
			reason:   "No other field is ceded to the autoscaler, or to any other manager.",
			was:      deploy,
			others:   both(autoscaled, func(s *site) { s.c.Set("kube-controller-manager", refOf(deploy), "z", "spec", "image") }),
			want:     deploy,
			out:      result{Kind: "Updated", Lost: []string{"spec.image"}},
			requests: []string{"metadata Deployment apps/web", "apply Deployment apps/web"},
			fields:   []string{"spec.image"},
			tries:    []string{"get Deployment apps/web", "try apply Deployment apps/web"},
		},
		"Unlisted": {
			reason:   "Without permission to list autoscalers, the field manager decides.",
			was:      deploy,
			others:   scaled("kube-controller-manager"),
			want:     deploy2,
			meet:     refuse(listHPAs, kerrors.NewForbidden(autoscalers, "", errors.New("no"))),
			out:      ceded,
			requests: requests,
			fields:   []string{"spec.image"},
			tries:    tries,
		},
		"UnlistedOther": {
			reason:   "Any other manager is not an autoscaler.",
			was:      deploy,
			others:   scaled("kubectl"),
			want:     deploy2,
			meet:     refuse(listHPAs, kerrors.NewForbidden(autoscalers, "", errors.New("no"))),
			out:      result{Kind: "Updated", Lost: []string{"spec.replicas"}},
			requests: requests,
			fields:   []string{"spec.image", "spec.replicas"},
			tries:    tries,
		},
		"UnlistedField": {
			reason:   "The controller manager is not an autoscaler if it does not use the subresource.",
			was:      deploy,
			others:   func(s *site) { s.c.Set("kube-controller-manager", refOf(deploy), int64(7), "spec", "replicas") },
			want:     deploy,
			meet:     refuse(listHPAs, kerrors.NewForbidden(autoscalers, "", errors.New("no"))),
			out:      result{Kind: "Updated", Lost: []string{"spec.replicas"}},
			requests: requests,
			fields:   []string{"spec.replicas"},
			tries:    tries,
		},
		"ListFails": {
			reason:   "If autoscalers cannot be listed because of an outage, nothing is changed.",
			was:      deploy,
			others:   scaled("kube-controller-manager"),
			want:     deploy2,
			meet:     refuse(listHPAs, kerrors.NewServiceUnavailable("later")),
			out:      result{Err: "Deployment apps/web: cannot list HorizontalPodAutoscalers in namespace apps: later"},
			requests: requests[:2], tries: tries[:2],
		},
		"Remembered": {
			reason: "An object with ceded fields is read before it is applied, so that they stay ceded.",
			was:    deploy,
			others: both(autoscaled, scaled("kube-controller-manager"), func(s *site) {
				s.entry.Ceded = []ownership.Ceded{{Path: `{"f:spec":{"f:replicas":{}}}`, Manager: "kube-controller-manager"}}
			}),
			want:     deploy2,
			input:    func(in *Subject) { in.Drifted = false },
			out:      ceded,
			requests: requests,
			fields:   []string{"spec.image"},
			tries:    tries,
		},
		"Unread": {
			reason:   "If the watch is behind, the conflict shows the other owner.",
			was:      deploy,
			others:   both(autoscaled, scaled("kube-controller-manager")),
			want:     deploy2,
			input:    func(in *Subject) { in.Drifted = false },
			out:      ceded,
			requests: append([]string{"apply unforced Deployment apps/web"}, requests...),
			fields:   []string{"spec.image"},
			tries:    tries,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// The autoscalers of a namespace are listed once for each call, even if the request is refused.
func TestAutoscalersAreCached(t *testing.T) {
	autoscalers := schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}
	cases := map[string]struct {
		reason string
		answer error
		want   int
	}{
		"Listed":    {reason: "The list is cached for the call.", want: 1},
		"Forbidden": {reason: "A refusal is cached as well.", answer: kerrors.NewForbidden(autoscalers, "", errors.New("no")), want: 1},
		"Failed":    {reason: "An outage may be over for the next object.", answer: kerrors.NewServiceUnavailable("later"), want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.apply(t, desired(t, deploy))
			autoscaled(s)
			scaled("kube-controller-manager")(s)
			w := s.writer()
			in := s.input(desired(t, deploy2))
			s.c.Requests()
			s.c.Meet = func(line string) error { return refuse(listHPAs, tc.answer)(s, line) }
			for range 2 {
				if _, err := w.Apply(t.Context(), in); (err != nil) != (tc.want == 2) {
					t.Fatal(err)
				}
			}
			lists := 0
			for _, line := range s.c.Requests() {
				if line == listHPAs {
					lists++
				}
			}
			if lists != tc.want {
				t.Errorf("\n%s\nthe autoscalers are listed %d times", tc.reason, lists)
			}
		})
	}
}

// apiService returns an APIService with a certificate.
func apiService(bundle, service string) string {
	return fmt.Sprintf(`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.x}, spec: {caBundle: %s, service: %s}}`, bundle, service)
}

const (
	certificate = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t" // -----BEGIN CERTIFICATE-----
	placeholder = "Q2c9PQ=="
)

func TestApplyCedesCertificates(t *testing.T) {
	inject := func(s *site) {
		s.c.Set("cainjector", refOf(apiService("a", "a")), certificate+"LQ==", "spec", "caBundle")
	}
	requests := []string{"metadata APIService v1.x", "apply APIService v1.x"}
	tries := []string{"get APIService v1.x", "try apply APIService v1.x"}
	cases := map[string]scenario{
		"Injected": {
			reason: "A certificate that a controller injected for a placeholder is ceded to it.",
			was:    apiService(placeholder, "a"), others: inject, want: apiService(placeholder, "b"),
			out:      result{Kind: "Updated", Ceded: []string{"spec.caBundle to cainjector"}},
			requests: requests, fields: []string{"spec.service"}, tries: tries,
		},
		"Wanted": {
			reason: "A certificate that the bundle sets is restored.",
			was:    apiService(certificate, "a"), others: inject, want: apiService(certificate, "b"),
			out:      result{Kind: "Updated", Lost: []string{"spec.caBundle"}},
			requests: requests, fields: []string{"spec.caBundle", "spec.service"}, tries: tries,
		},
		"OtherField": {
			reason: "No other field of that kind is ceded.",
			was:    apiService(placeholder, "a"), want: apiService(placeholder, "b"),
			others:   func(s *site) { s.c.Set("cainjector", refOf(apiService("a", "a")), "z", "spec", "service") },
			out:      result{Kind: "Updated", Lost: []string{"spec.service"}},
			requests: requests, fields: []string{"spec.service"}, tries: tries,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// contend repairs a field until it is ceded.
func contend(t *testing.T) func(s *site) {
	t.Helper()
	return func(s *site) {
		for range ownership.MaxRepairs {
			s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a")
			s.apply(t, desired(t, cm))
		}
		s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a")
	}
}

func TestApplyInContention(t *testing.T) {
	lost := result{Kind: "Updated", Lost: []string{"data.a"}}
	ceded := result{Kind: "Updated", Ceded: []string{"data.a to kubectl-edit after a contention"}}
	requests := []string{"metadata ConfigMap apps/web", "apply ConfigMap apps/web"}
	tries := []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"}
	after := func(s *site) {
		// The field is ceded, and the counts are lost with the process.
		s.apply(t, desired(t, cm))
		s.repairs = map[cluster.ObjectRef]ownership.Repairs{}
	}
	cases := map[string]scenario{
		"Ceded": {
			reason: "A field that others change each time is ceded to them.",
			was:    cm, others: contend(t), want: cm, out: ceded, instead: &result{Kind: "Unchanged"}, requests: requests, tries: tries,
		},
		"Before": {
			reason: "A field that others change is restored as long as this does not happen too often.",
			was:    cm,
			others: func(s *site) {
				contend(t)(s)
				s.repairs = map[cluster.ObjectRef]ownership.Repairs{}
			},
			want: cm, out: lost, requests: requests, fields: []string{"data.a"}, tries: tries,
		},
		"Remembered": {
			reason: "The inventory remembers which fields are ceded.",
			was:    cm, others: both(contend(t), after, func(s *site) { s.now = s.now.Add(time.Hour - time.Second) }), want: cm,
			out: ceded, instead: &result{Kind: "Unchanged"}, requests: requests, tries: tries,
		},
		"Due": {
			reason: "After an hour, the engine tries again.",
			was:    cm, others: both(contend(t), after, func(s *site) { s.now = s.now.Add(time.Hour) }), want: cm,
			out: lost, requests: requests, fields: []string{"data.a"}, tries: tries,
		},
		"NewVersion": {
			reason: "With another version of the object, the engine also tries again.",
			was:    cm, others: both(contend(t), after), want: cmNext,
			out:      result{Kind: "Updated", Lost: []string{"data.a", "data.c"}},
			requests: requests, fields: []string{"data.a", "data.b", "data.c"}, tries: tries,
		},
		"Unapplied": {
			reason: "Repairs of an object that was never applied count, too.",
			was:    cm, others: contend(t), want: cm, input: func(in *Subject) { in.Entry.Intent = "" },
			out: ceded, instead: &result{Kind: "Unchanged"}, requests: requests, tries: tries,
		},
		"Restarted": {
			reason: "Repairs from before the inputs of the object changed do not count.",
			was:    cm, others: contend(t), want: cm, input: func(in *Subject) { in.Entry.Intent, in.Restarted = "", true },
			out: lost, requests: requests, fields: []string{"data.a"}, tries: tries,
		},
		"Ours": {
			reason: "A field that the bundle owns again is not ceded, because the API server would remove it.",
			was:    cm,
			others: both(contend(t), after, func(s *site) { s.c.Apply("provider-kyma", labelled(cm)) }),
			want:   cm, out: result{Kind: "Updated"}, instead: &result{Kind: "Updated"},
			requests: requests, tries: tries,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}
