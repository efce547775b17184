// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// save stores the inventory.
func (w *world) save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := w.note("save"); err != nil {
		return nil, err
	}
	w.stored = inv.Clone()
	return w.stored, nil
}

// Applies reports whether an object belongs to an install that is not ready.
func (w *world) Applies(en *inventory.Entry) bool { return w.unready[en.Part.String()] != "" }

// Evaluate returns why it is not ready.
func (w *world) Evaluate(_ context.Context, en *inventory.Entry, _ cluster.ObjectState) (health.State, string, error) {
	return health.Processing, w.unready[en.Part.String()], nil
}

// hook runs the hooks of an event, once.
func (w *world) hook(event string, c *compose.Component) (hook.Standing, error) {
	key := event + " " + c.Name.String() + " " + c.Digest
	if w.ran[key] {
		return hook.Standing{Progress: hook.Passed}, nil
	}
	line := event + " " + c.Name.String()
	if err := w.note("%s", line); err != nil {
		return hook.Standing{}, err
	}
	if why, waits := w.waits[line]; waits {
		return hook.Standing{Progress: hook.Due, Message: why}, nil
	}
	w.ran[key] = true
	return hook.Standing{Progress: hook.Passed}, nil
}

// RunPre runs the hooks that come before the objects.
func (w *world) RunPre(_ context.Context, c *compose.Component, v View) (Hooked, error) {
	s, err := w.hook("pre", c)
	run := &inventory.Run{Event: "pre-install"}
	if err == nil && !s.Waits() {
		*run = w.begun
		run.Event = "post-install"
	}
	return Hooked{Standing: s, Effect: hook.Effect{Record: v.Record}, Run: run}, err
}

// RunPost runs the hooks that come after the objects.
func (w *world) RunPost(_ context.Context, c *compose.Component, v View) (Hooked, error) {
	if v.Run == nil || !v.Run.Event.IsPost() {
		w.t.Errorf("%s: the hooks after the objects run in %+v", c.Name, v.Run)
	}
	s, err := w.hook("post", c)
	if err == nil && !s.Waits() {
		v.Run.Done = 2
	}
	return Hooked{Standing: s, Effect: hook.Effect{Record: v.Record}, Run: v.Run}, err
}

// Finish logs the revision.
func (w *world) Finish(_ context.Context, c *compose.Component, v View) (Installed, error) {
	out := Installed{Name: c.Name.String() + " " + c.Digest, Record: v.Record}
	if v.Run != nil {
		out.Hooks = v.Run.Done
	}
	out.Record.Revision++
	return out, w.note("finish %s", c.Name)
}

// Abandon logs the release.
func (w *world) Abandon(_ context.Context, c *compose.Component) error {
	return w.note("abandon %s", c.Name)
}

// Prune deletes the objects of the bundle. It waits for an object with finalizers.
func (w *world) Prune(ctx context.Context, p Doomed) (teardown.Result, error) {
	if w.tearsDown {
		return w.tearDown(ctx, p)
	}
	out := teardown.Result{Done: map[cluster.ObjectRef]bool{}}
	for i := range slices.Backward(p.Entries) {
		en := &p.Entries[i]
		ref := en.Ref()
		if s, ok := w.c.Get(ref); ok && s.Set == worldSet {
			left, err := ssa.New(w.c, object.DefaultFieldManager).Delete(ctx, en.GVK(), ref, s.UID)
			if err != nil {
				return out, err
			}
			if left != nil {
				out.Blocked = teardown.Blocked{State: health.Deleting, Message: ref.String() + " waits"}
				continue
			}
		}
		out.Done[ref] = true
	}
	if why := w.waits["prune"]; why != "" && !out.Blocked.Waits() {
		out.Blocked = teardown.Blocked{State: health.Deleting, Message: why}
	}
	return out, nil
}

// Forget logs the part.
func (w *world) Forget(_ context.Context, part object.PartID, _ inventory.Part) error {
	return w.note("forget %s", part)
}

// textOf returns the text of an error; empty for nil.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

var errDied = errors.New("died")

// Objects of worlds.
const (
	aNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: new}}`
	aCRD       = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org},
spec: {group: example.org, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true}]}}`
	aWidget  = `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: apps}}`
	aConfig  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: apps}, data: {a: "1"}}`
	aConfig2 = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: apps}, data: {a: "2"}}`
	aFixed   = `{apiVersion: v1, kind: ConfigMap, metadata: {name: f, namespace: apps}, immutable: true, data: {a: "1"}}`
	aFixed2  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: f, namespace: apps}, immutable: true, data: {a: "2"}}`
	aDeploy  = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: apps}, spec: {replicas: 1}}`
	aWebhook = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: h}}`
	other    = `{apiVersion: v1, kind: ConfigMap, metadata: {name: o, namespace: apps}}`
)

func refOf(text string) cluster.ObjectRef { return object.RefOf(fakeapi.Parse(text)) }

// tearDown prunes as the engine does.
func (w *world) tearDown(ctx context.Context, p Doomed) (teardown.Result, error) {
	in := teardown.Input{
		Cluster: w.c, Mode: teardown.Prune, Set: worldSet, Labels: map[string]string{object.LabelPartOf: worldSet, object.LabelManagedBy: object.DefaultManagedBy},
		FieldManager: object.DefaultFieldManager, Known: p.Objects, Concurrency: 1,
	}
	client := ssa.New(w.c, object.DefaultFieldManager)
	in.Read, in.Write = client, client
	for i := range p.Entries {
		in.Entries = append(in.Entries, &p.Entries[i])
	}
	for _, part := range w.parts() {
		in.Parts = append(in.Parts, part.Name)
	}
	return teardown.Run(ctx, in)
}
