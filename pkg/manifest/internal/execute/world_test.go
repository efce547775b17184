// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

const worldSet = "applyset-world"

// A piece is a part of the bundle of a world.
type piece struct {
	name object.PartID
	// digest of the inputs. An install with other objects has another digest.
	digest string
	// objects as YAML.
	objects []string
	// hooks is true for an install with hooks before and after its objects, and wait is that flag of its config.
	hooks, wait bool
	// fails is the error of composing the part.
	fails error
	// plain is true for an install without a chart.
	plain bool
	// abandoned is true if the move of a release was never finished.
	abandoned bool
}

// A world is a cluster, the inventory that is stored in it, and a log of all saves, requests and hooks. It implements the
// interfaces that a run needs.
type world struct {
	t        *testing.T
	c        *fakeapi.Cluster
	pieces   []piece
	stored   *inventory.Inventory
	now      time.Time
	repairs  map[cluster.ObjectRef]ownership.Repairs
	recreate bool
	// tearsDown makes Prune keep objects with the annotation, as the engine does.
	tearsDown bool
	// concurrency is 1 if it is 0.
	concurrency int
	adoption    object.Adoption
	drift       bundle.DriftPolicy
	mu          sync.Mutex
	log         []string
	// meet is called before each line of the log, except for reads. An error is the answer to that save, request or hook.
	meet func(line string) error
	// left is called after each request that was served. An error means that the answer is lost.
	left func(line string) error
	// waits contains the reasons why hooks wait, and unready the reasons why installs are not ready, by part.
	waits   map[string]string
	unready map[string]string
	// ran are the events whose hooks are complete, by part.
	ran map[string]bool
	// begun is the progress of the hooks after the objects when a run begins.
	begun inventory.Run
	// blind is true if no watch knows an object.
	blind bool
	// former are the objects that an adopted release has in addition to the component, and formerErr is the error of finding
	// them.
	former    []cluster.ObjectRef
	formerErr error
	// last is the report of the last run.
	last Report
	ctx  context.Context
	test func(ctx context.Context, in TestInput) (Tested, error)
}

func newWorld(t *testing.T, pieces ...piece) *world {
	t.Helper()
	w := &world{
		t: t, c: fakeapi.New(t), pieces: pieces, now: time.Unix(1_000_000, 0), repairs: map[cluster.ObjectRef]ownership.Repairs{}, drift: bundle.DriftRepair,
		waits: map[string]string{}, unready: map[string]string{}, ran: map[string]bool{}, ctx: t.Context(),
	}
	w.c.Create("kubectl", `{apiVersion: v1, kind: Namespace, metadata: {name: apps}}`)
	w.watch()
	return w
}

// watch logs the requests.
func (w *world) watch() {
	w.c.Meet = func(line string) error {
		if verb, _, _ := strings.Cut(line, " "); slices.Contains([]string{"get", "metadata", "list", "discover", "try"}, verb) {
			return nil
		}
		return w.note("%s", line)
	}
	w.c.Left = func(line string) error {
		if w.left != nil {
			return w.left(line)
		}
		return nil
	}
}

// note adds a line to the log.
func (w *world) note(format string, a ...any) error {
	line := fmt.Sprintf(format, a...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if verb, what, _ := strings.Cut(line, " "); verb == "apply" || verb == "delete" {
		w.mustHave(strings.TrimPrefix(strings.TrimPrefix(what, "new "), "unforced "))
	}
	if w.meet != nil {
		if err := w.meet(line); err != nil {
			w.log = append(w.log, line+": "+err.Error())
			return err
		}
	}
	w.log = append(w.log, line)
	return nil
}

// mustHave fails the test if an object is about to be changed that the stored inventory does not have.
func (w *world) mustHave(ref string) {
	w.t.Helper()
	if w.stored == nil || !slices.ContainsFunc(w.stored.Objects, func(en inventory.Entry) bool { r := en.Ref(); return r.String() == ref }) {
		w.t.Errorf("%s is sent, and not in the inventory:\n%s", ref, strings.Join(w.log, "\n"))
	}
}

func (w *world) target() apply.Target {
	return apply.Target{Client: ssa.New(w.c, object.DefaultFieldManager), Mapper: w.c, ID: worldSet, Namespace: "kyma-system"}
}

func (w *world) policy() apply.Policy {
	return apply.Policy{
		Recreate: w.recreate, Messages: advice.Messages{Adopt: "set adopt", Recreate: "set recreate"},
	}
}

func (w *world) clock() time.Time { return w.now }

// parts returns the parts of the bundle.
func (w *world) parts() []bundle.Part {
	var out []bundle.Part
	for i := range w.pieces {
		p := bundle.Part{Name: w.pieces[i].name, Digest: w.pieces[i].digest}
		switch p.Name.Kind() {
		case object.PartKindInstall:
			p.Install = &bundle.Install{Name: p.Name.Install()}
		case object.PartKindResource:
			p.Resource = &unstructured.Unstructured{}
		case object.PartKindCRDs:
		}
		out = append(out, p)
	}
	return out
}

// compose composes the parts that are due.
func (w *world) compose(s *plan.Selection) (*plan.Selection, plan.Composed) {
	out := plan.Composed{Components: map[object.PartID]*compose.Component{}, Errors: map[object.PartID]error{}}
	for _, d := range s.Due {
		c, err := w.composePart(d.Part, d.Record)
		if err != nil {
			out.Errors[d.Part.Name] = err
			continue
		}
		out.Components[d.Part.Name] = c
	}
	return s, out
}

// composePart composes a part as if it were rendered.
func (w *world) composePart(p *bundle.Part, rec inventory.Part) (*compose.Component, error) {
	i := slices.IndexFunc(w.pieces, func(x piece) bool { return x.name == p.Name })
	x := w.pieces[i]
	if x.fails != nil {
		return nil, x.fails
	}
	c := &compose.Component{Part: p, Record: rec, Purpose: compose.PurposeOf(p, &rec)}
	c.Record.Wait = x.wait
	if c.Purpose == compose.Advance {
		c.Record.Digest = ""
	}
	if p.Install != nil {
		c.Installation = &compose.Installation{Namespace: "apps"}
		if !x.plain {
			c.Rendered = &render.Rendered{}
		}
	}
	if x.abandoned && c.Purpose == compose.Advance {
		c.Next.Abandoned = inventory.Release{Namespace: "old", Name: p.Name.Install()}
	}
	if x.hooks && c.Purpose == compose.Advance {
		c.Hooks, c.Next.Operation = []record.Hook{{Events: []string{string(inventory.PreInstall)}}}, hook.Install
	}
	for _, text := range x.objects {
		u := fakeapi.Parse(text)
		if u.GetAnnotations()["test/in-crds"] != "" {
			c.Rendered.CRDs = append(c.Rendered.CRDs, u.DeepCopy())
		}
		object.AddLabels(u, map[string]string{object.LabelPartOf: worldSet, object.LabelManagedBy: object.DefaultManagedBy})
		gk := u.GroupVersionKind().GroupKind()
		s := object.StageOf(gk)
		if p.Resource != nil {
			s = object.StageResource
		}
		if gk == object.CRDKind {
			for gvk, m := range object.ServedKinds(u) {
				w.c.AddMapping(gvk, m)
			}
		}
		o, err := object.New(u, p.Name, s)
		if err != nil {
			return nil, err
		}
		o.Adoption = w.adoption
		if gk.Group == "example.org" {
			o.CRD = "widgets.example.org"
		}
		c.Objects = append(c.Objects, o)
	}
	return c, nil
}

// build returns the plan of the next call.
func (w *world) build() *plan.Plan {
	w.t.Helper()
	known := map[cluster.ObjectRef]cluster.ObjectState{}
	var was *inventory.Inventory
	if w.stored != nil {
		was = w.stored.Clone()
		for i := range was.Objects {
			ref := was.Objects[i].Ref()
			if s, ok := w.c.Get(ref); ok {
				known[ref] = s
			}
		}
	}
	draft := plan.Assign(w.compose(plan.Select(plan.Input{
		Parts: w.parts(), Inventory: was, Objects: known, Drift: w.drift, Now: w.now,
	})))
	return plan.Build(draft, w.hold(draft), w.refused(draft.CRDChanges()))
}

// hold returns the install that later parts wait for.
func (w *world) hold(d *plan.Draft) *plan.Hold {
	ask, otherwise := d.Awaited()
	for _, install := range ask {
		if why, unready := w.unready[install.String()]; unready {
			return &plan.Hold{Install: install, Reason: why}
		}
	}
	return otherwise
}

// refused returns the CRDs that must not change.
func (w *world) refused(changes []plan.CRDChange) map[cluster.ObjectRef]error {
	a := apply.NewDryRunner(w.target(), w.policy(), w.repairs, w.clock)
	out := map[cluster.ObjectRef]error{}
	for _, change := range changes {
		ref := change.Object.Ref
		if _, cached := w.c.Get(ref); !change.Known && !cached {
			continue
		}
		if err := a.Permissions.CheckCRD(w.t.Context(), change.Object, change.Entry); err != nil {
			out[ref] = err
		}
	}
	return out
}

// run performs the next step.
func (w *world) run() (Result, error) {
	w.t.Helper()
	var err error
	w.last, err = Run(w.ctx, Input{
		Plan: w.build(), Applier: apply.NewWriter(w.target(), w.policy(), w.repairs, w.clock), Concurrency: max(w.concurrency, 1), Save: w.save,
		Write: w.stored == nil, Installs: w, Pruner: w, Latest: w.latest, Test: w.test, Health: w,
	})
	return w.last.Result, err
}

// latest returns what a watch knows.
func (w *world) latest(ref cluster.ObjectRef) (cluster.ObjectState, bool) {
	if w.blind {
		return cluster.ObjectState{}, false
	}
	return w.c.Get(ref)
}

// runAll runs until nothing is left to do.
func (w *world) runAll() {
	w.t.Helper()
	for range 10 {
		r, err := w.run()
		if err != nil {
			w.t.Fatal(err)
		}
		if r.Waiting == "" && w.isDone() {
			w.log = nil
			return
		}
	}
	w.t.Fatalf("it never ends:\n%s", strings.Join(w.log, "\n"))
}

// isDone reports whether the next call has nothing to do.
func (w *world) isDone() bool {
	p := w.build()
	return len(p.Components) == 0 && p.Decisions.IsClear() && len(newProgress(p).doomed().Entries) == 0
}

// dryRun returns what would be done.
func (w *world) dryRun() (Plan, error) {
	w.t.Helper()
	return DryRun(w.ctx, DryInput{
		Plan: w.build(), Applier: apply.NewDryRunner(w.target(), w.policy(), w.repairs, w.clock), Concurrency: 1,
		Former: func(context.Context, *compose.Component, func(cluster.ObjectRef) bool) ([]cluster.ObjectRef, error) {
			return w.former, w.formerErr
		},
	})
}

// took returns the log since the last call.
func (w *world) took() []string {
	out := w.log
	w.log = nil
	return out
}
