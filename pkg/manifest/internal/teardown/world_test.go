// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

const ourSet = "applyset-ours"

// Objects of worlds.
const (
	aNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: apps}}`
	aCRD       = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org},
spec: {group: example.org, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true}]}}`
	aWidget     = `{apiVersion: example.org/v1, kind: Widget, metadata: {name: sample, namespace: apps}}`
	otherWidget = `{apiVersion: example.org/v1, kind: Widget, metadata: {name: user, namespace: default}}`
	aConfig     = `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}}`
	bConfig     = `{apiVersion: v1, kind: ConfigMap, metadata: {name: db, namespace: apps}}`
	aDeploy     = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {replicas: 1}}`
	aWebhook    = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: web}}`
)

func named(text string) cluster.ObjectRef { return object.RefOf(fakeapi.Parse(text)) }

// A world is a cluster with the members of a bundle, and a log of all requests and hooks. It implements Hooks.
type world struct {
	c  *fakeapi.Cluster
	in Input
	// blind are the objects that no watch shows.
	blind map[cluster.ObjectRef]bool
	// meet is called with the log line of each request and each run of hooks, before it happens. An error becomes the response.
	meet func(line string) error
	// hooks are the standings by event. The default is Passed.
	hooks map[inventory.Event]hook.Standing

	mu  sync.Mutex
	log []string
}

func newWorld(t *testing.T, mode Mode) *world {
	t.Helper()
	w := &world{c: fakeapi.New(t), blind: map[cluster.ObjectRef]bool{}, hooks: map[inventory.Event]hook.Standing{}}
	w.c.Meet = w.note
	client := ssa.New(w.c, object.DefaultFieldManager)
	w.in = Input{
		Read: client, Write: client, Share: ssa.Marks{Client: client, User: ssa.User{Set: ourSet, Owner: "Manifest a/ours", ManagedBy: object.DefaultManagedBy}}, Cluster: watched{Cluster: w.c, world: w}, Hooks: w, Mode: mode, Set: ourSet,
		Labels:       map[string]string{object.LabelPartOf: ourSet, object.LabelManagedBy: object.DefaultManagedBy},
		FieldManager: object.DefaultFieldManager, Concurrency: 1, ForceAdvice: "set force",
		Parts: []object.PartID{object.PartCRDs, "db", "web", object.PartResource},
	}
	w.c.Create("kubectl", aNamespace)
	return w
}

// note appends a line to the log.
func (w *world) note(line string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, line)
	if w.meet != nil {
		return w.meet(line)
	}
	return nil
}

// Run runs the hooks of an event.
func (w *world) Run(_ context.Context, event inventory.Event) (hook.Standing, error) {
	if err := w.note("hooks " + string(event)); err != nil {
		return hook.Standing{}, err
	}
	if s, ok := w.hooks[event]; ok {
		return s, nil
	}
	return hook.Standing{Progress: hook.Passed}, nil
}

// apply applies an object as the engine does.
func (w *world) apply(text string) cluster.ObjectRef {
	u := fakeapi.Parse(text)
	object.AddLabels(u, w.in.Labels)
	b, err := u.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return w.c.Apply(object.DefaultFieldManager, string(b))
}

// add applies a member of a part and adds its entry.
func (w *world) add(part object.PartID, text string) *inventory.Entry {
	w.apply(text)
	e := w.enter(part, text)
	e.UID = string(w.c.Object(e.Ref()).GetUID())
	return e
}

// enter adds an entry only.
func (w *world) enter(part object.PartID, text string) *inventory.Entry {
	u := fakeapi.Parse(text)
	gvk, stage := u.GroupVersionKind(), object.StageOf(u.GroupVersionKind().GroupKind())
	if part == object.PartResource {
		stage = object.StageResource
	}
	e := &inventory.Entry{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName(), Part: part, Stage: stage,
	}
	w.in.Entries = append(w.in.Entries, e)
	return e
}

// addAll adds a bundle with objects of all stages.
func (w *world) addAll() {
	w.add("web", aNamespace)
	w.add(object.PartCRDs, aCRD)
	w.add("db", bConfig)
	w.add("web", aConfig)
	w.add("web", aDeploy)
	w.add("web", aWebhook)
	w.add("web", aWidget)
	w.add(object.PartResource, strings.Replace(aWidget, "sample", "main", 1))
}

// run calls Run once, with the states that the watch shows.
func (w *world) run(ctx context.Context) (Result, error) {
	w.in.Known = map[cluster.ObjectRef]cluster.ObjectState{}
	for _, e := range w.in.Entries {
		if s, ok := (watched{Cluster: w.c, world: w}).Get(e.Ref()); ok {
			w.in.Known[e.Ref()] = s
		}
	}
	res, err := Run(ctx, w.in)
	w.in.NonMembers = res.NonMembers
	return res, err
}

// A watched cluster does not show the blind objects of the world.
type watched struct {
	*fakeapi.Cluster

	world *world
}

func (c watched) Cache() cluster.Cache { return c }

func (c watched) Get(r cluster.ObjectRef) (cluster.ObjectState, bool) {
	if c.world.blind[r] {
		return cluster.ObjectState{}, false
	}
	return c.Cluster.Get(r)
}

// An outcome describes what a call did, as text. Left contains the objects that the cluster still has.
type outcome struct {
	Log                            []string
	Blocked                        Blocked
	Done, Kept, LeftBehind, Forced []string
	HandedOver                     []string
	HookFailures                   []string
	Left                           []string
	Err                            string
}

// outcome returns the outcome of one call.
func (w *world) outcome(ctx context.Context) outcome {
	res, err := w.run(ctx)
	out := outcome{
		Log: w.log, Blocked: res.Blocked, Kept: names(res.Kept), LeftBehind: names(res.LeftBehind), Forced: names(res.Forced), Left: w.c.Refs(),
		HookFailures: res.HookFailures,
	}
	for _, h := range res.HandedOver {
		out.HandedOver = append(out.HandedOver, h.String())
	}
	for ref := range res.Done {
		out.Done = append(out.Done, ref.String())
	}
	slices.Sort(out.Done)
	w.log = nil
	if err != nil {
		out.Err = err.Error()
	}
	return out
}

func names[T fmt.Stringer](refs []T) []string {
	var out []string
	for _, r := range refs {
		out = append(out, r.String())
	}
	return out
}

var errDied = errors.New("died")
