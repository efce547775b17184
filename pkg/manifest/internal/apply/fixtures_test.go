// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

const ourSet = "applyset-ours"

// A site is a cluster in which one object is applied, and what is remembered about it.
type site struct {
	c        *fakeapi.Cluster
	now      time.Time
	policy   Policy
	adoption object.Adoption
	repairs  map[cluster.ObjectRef]ownership.Repairs
	assumed  *Assumed
	entry    inventory.Entry
	// removes is for Meet of one scenario.
	removes bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{c: fakeapi.New(t), now: time.Unix(1_000_000, 0), repairs: map[cluster.ObjectRef]ownership.Repairs{}, assumed: &Assumed{}}
	s.policy.Messages = advice.Messages{Adopt: "set adopt", Recreate: "set recreate", OmitResource: "omit it"}
	s.c.Create("kubectl", `{apiVersion: v1, kind: Namespace, metadata: {name: apps}}`)
	return s
}

func (s *site) target() Target {
	return Target{
		Client: ssa.New(s.c, object.DefaultFieldManager), Mapper: s.c, ID: ourSet, Namespace: "kyma-system",
		User: ssa.User{Set: ourSet, Owner: "Manifest a/ours", ManagedBy: object.DefaultManagedBy},
	}
}

func (s *site) clock() time.Time { return s.now }

func (s *site) writer() *Applier { return NewWriter(s.target(), s.policy, s.repairs, s.clock) }

func (s *site) dryRunner() *Applier {
	a := NewDryRunner(s.target(), s.policy, s.repairs, s.clock)
	// Assumptions of one dry run also apply to the next one.
	a.Assumed, a.verbs.(*dryRunner).assumed = s.assumed, s.assumed
	return a
}

// input returns what is known about an object without a request, if the watch is up to date.
func (s *site) input(o *object.Desired) Subject {
	o.Adoption = s.adoption
	in := Subject{Object: o, Entry: s.entry}
	if s.entry.Name == "" {
		in.Entry = inventory.EntryOf(o)
	}
	in.Entry.Stage = o.Stage
	if u := s.c.Object(o.Ref); u != nil && u.GetLabels()[object.LabelManagedBy] == object.DefaultManagedBy {
		in.State, in.Exists = health.StateOf(object.DefaultFieldManager, u), true
	}
	if in.Entry.UID != "" {
		_, in.Drifted = observe.FindDrift(&in.Entry, in.State, in.Exists, in.State.Set)
		in.Drifted = in.Drifted || ownership.AnyDue(in.Entry.Ceded, s.now)
	}
	return in
}

// record records the outcome of an object, as a run does.
func (s *site) record(in *Subject, out Outcome) {
	s.entry = in.Entry
	if out.Owned != "" {
		s.entry.Owned = out.Owned
	}
	if out.Kind != Created && out.Kind != Updated {
		return
	}
	s.entry.UID, s.entry.Intent, s.entry.Owned, s.entry.Ceded = out.State.UID, in.Object.Hash, out.State.Owned, out.Ceded
	if in.Drifted && out.Before != nil {
		s.repairs[in.Object.Ref], _ = s.repairs[in.Object.Ref].Add(object.DefaultFieldManager, out.Before.ManagedFields, out.Lost, nil, s.now)
	}
}

// apply applies an object and records the outcome.
func (s *site) apply(t *testing.T, o *object.Desired) {
	t.Helper()
	in := s.input(o)
	out, err := s.writer().Apply(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	s.record(&in, out)
}

// desired returns an object as the bundle specifies it.
func desired(t *testing.T, text string) *object.Desired {
	t.Helper()
	u := fakeapi.Parse(text)
	object.AddLabels(u, map[string]string{object.LabelPartOf: ourSet, object.LabelManagedBy: object.DefaultManagedBy})
	gvk := u.GroupVersionKind()
	o, err := object.New(u, "web", object.StageOf(gvk.GroupKind()))
	if err != nil {
		t.Fatal(err)
	}
	if gvk.Group == "example.org" {
		o.CRD = "widgets.example.org"
	}
	return &o
}

// refOf returns the reference of an object in YAML.
func refOf(text string) cluster.ObjectRef { return object.RefOf(fakeapi.Parse(text)) }

// A result is an Outcome in the form that tests compare.
type result struct {
	Kind string
	// Fields is Outcome.Fields, and Lost and Ceded are paths.
	Fields, Lost, Ceded []string
	Note                string
	// Owned is true if Outcome.Owned is set.
	Owned bool
	Err   string
	// Refused is true if the error is about the object, and not about the connection.
	Refused bool
}

var kinds = map[Kind]string{Unchanged: "Unchanged", Created: "Created", Updated: "Updated", Immutable: "Immutable", Deleting: "Deleting", Used: "Used"}

func resultOf(out Outcome, err error) result {
	r := result{Kind: kinds[out.Kind], Fields: out.Fields, Lost: pathsOf(out.Lost), Note: out.Note, Owned: out.Owned != ""}
	for i := range out.Ceded {
		y := &out.Ceded[i]
		text := y.Field() + " to " + y.Manager
		if y.Contended() {
			text += " after a contention"
		}
		r.Ceded = append(r.Ceded, text)
	}
	if err != nil {
		r.Kind, r.Err, r.Refused = "", err.Error(), ssa.IsRefused(err)
	}
	return r
}

func pathsOf(s *fieldpath.Set) []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, p := range fieldset.All(s) {
		out = append(out, fieldset.Text(p))
	}
	return out
}

// isRead reports whether a request changes nothing.
func isRead(line string) bool {
	verb, _, _ := strings.Cut(line, " ")
	return slices.Contains([]string{"get", "metadata", "list", "discover", "try"}, verb)
}

// Objects that tests apply.
const (
	cm       = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, data: {a: "1", b: "1"}}`
	cmNext   = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, data: {a: "2", c: "1"}}`
	cmFixed  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, immutable: true, data: {a: "1"}}`
	cmFixed2 = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, immutable: true, data: {a: "2"}}`
	deploy   = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {replicas: 1, image: a}}`
	deploy2  = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {replicas: 2, image: b}}`
	rolling  = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {replicas: 1}}`
	recreate = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {replicas: 1, strategy: {type: Recreate}}}`
	hpa      = `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: apps},
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`
	widget = `{apiVersion: example.org/v1, kind: Widget, metadata: {name: web, namespace: apps}, spec: {size: 1}}`
)

// crd returns the CRD of widgets with a schema of their spec.
func crd(spec string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org},
spec: {group: example.org, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true,
schema: {openAPIV3Schema: {type: object, properties: {spec: ` + spec + `}}}}]}}`
}

// labelled returns an object as the bundle applied it.
func labelled(text string) string {
	u := fakeapi.Parse(text)
	object.AddLabels(u, map[string]string{object.LabelPartOf: ourSet, object.LabelManagedBy: object.DefaultManagedBy})
	b, err := u.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(b)
}

// label returns an edit that sets a label.
func label(name, value string) func(u *unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { object.AddLabels(u, map[string]string{name: value}) }
}

// finalize adds a finalizer, which keeps the object when it is deleted.
func finalize(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/wait"}) }
