// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/rebuild"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/retract"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// retractTimeout limits the time that a call takes to undo its writes.
const retractTimeout = 15 * time.Second

// A call is the call of one Engine method on one bundle. It builds the components that do the work, and configures them with the
// engine, the cluster, the bundle and the options.
type call struct {
	client *ssa.Client
	e      *Engine
	c      cluster.Cluster
	b      *Bundle
	o      CallOptions
	id     string
	parts  []bundle.Part
	mem    *memory
	store  *store
	where  inventory.Whereabouts
	// found is true once the cache has shown an inventory.
	found bool
	// config provides the settings of the installs. It is read on first use.
	config   *compose.Config
	composer *compose.Composer
	// end ends the call and allows the next one to begin.
	end func()
}

// newWriter returns an applier that writes. A call creates only one, because the applier caches the owners and autoscalers that
// it finds.
func (w *call) newWriter() *apply.Applier {
	p := w.policy()
	p.Claim = func(ctx context.Context, ref cluster.ObjectRef) error { return w.store.claim(ctx, ref, w.e.now()) }
	return apply.NewWriter(w.target(), p, w.mem.repairs, w.e.now)
}

// newDryRunner returns an applier that changes nothing in the cluster.
func (w *call) newDryRunner() *apply.Applier {
	return apply.NewDryRunner(w.target(), w.policy(), w.mem.repairs, w.e.now)
}

func (w *call) target() apply.Target {
	return apply.Target{Client: w.client, Mapper: w.c, ID: w.id, Namespace: w.e.namespace, User: w.user()}
}

// marks returns the marks of the bundle on CRDs of other owners.
func (w *call) marks() ssa.Marks { return ssa.Marks{Client: w.client, User: w.user()} }

// user returns how the bundle marks CRDs of other owners that it uses.
func (w *call) user() ssa.User {
	return ssa.User{Set: w.id, Owner: cmp.Or(w.b.Owner, w.b.Name), ManagedBy: w.e.identity.ManagedBy}
}

func (w *call) policy() apply.Policy {
	return apply.Policy{Recreate: w.b.Recreate, CheckedCRDs: w.b.Adopt, Messages: w.e.messages, Examined: &w.mem.examined}
}

func (w *call) newComposer() *compose.Composer {
	return &compose.Composer{
		Messages: w.e.messages,
		Bundle:   w.b, Config: w.config, Retry: w.o.Retry, RollsBack: w.o.Rollback, Environment: w.c, Releases: w.history(),
		Connection: w.c.Config(), Inventory: w.parentKey(), Labels: w.labels(), Renderer: w.e.renderer, Caches: w.e.caches,
	}
}

// checkpoint returns the checkpoint that the caller wants to store with the inventory.
func (w *call) checkpoint() *observe.Checkpoint {
	return &observe.Checkpoint{Wanted: w.o.Checkpoint, Inventory: w.mem.stored.Size, Parent: w.parentKey()}
}

// history returns the release records in the cluster.
func (w *call) history() release.History {
	return release.History{Client: w.client, Set: w.id, Keep: w.e.history, Confirm: w.store.confirm}
}

// labels returns the labels of each object of the bundle.
func (w *call) labels() map[string]string {
	l := make(map[string]string, len(w.b.Labels)+2)
	maps.Copy(l, w.b.Labels)
	l[object.LabelPartOf] = w.id
	l[object.LabelManagedBy] = w.e.identity.ManagedBy
	return l
}

// newHooks returns the hooks of the installs of the bundle, to be prepared for a run.
func (w *call) newHooks() *hooks {
	track := func(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
		return inspect.Track(ctx, w.c.Cache(), gvks)
	}
	return &hooks{
		composer: w.composer, history: w.history(), retry: w.o.Retry, force: w.o.ForceRemoval,
		runner: hook.Runner{
			Target: &hook.LiveTarget{Client: w.client, Cache: w.c.Cache(), Track: track},
			Pods:   w.client, Set: w.id, Adopt: w.b.Adopt, Now: w.e.now, Stopwatch: &w.mem.hooks, Redact: w.o.Redact, Messages: w.e.messages,
		},
	}
}

// parentKey returns the reference of the Secret that holds the inventory.
func (w *call) parentKey() cluster.ObjectRef {
	return cluster.ObjectRef{Kind: "Secret", Namespace: w.e.namespace, Name: w.b.Name}
}

// retract undoes the writes of the call after another client has changed the inventory, and returns the error of the call. It
// works even if the context has ended, because the call itself cancels the context.
func (w *call) retract(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retractTimeout)
	defer cancel()
	err := retract.Run(ctx, retract.Input{
		Client: w.client, Marks: w.marks(), Inventories: w.store.inventories, Written: w.client.Written(), Labels: w.labels(),
	})
	if err != nil {
		return errors.Wrapf(w.store.changed, "cannot undo the changes that were applied in the meantime: %s", ssa.Explain(err))
	}
	return w.store.changed
}

// newStore returns the store of the inventory of the bundle.
func (w *call) newStore() *store {
	// Another process may have applied again the objects that this one found gone.
	renewed := func() { w.mem.nonMembers = nil }
	return &store{last: &w.mem.stored, stop: func() {}, renewed: renewed, inventories: &inventory.Store{
		Client: w.owner(), Cache: w.c.Cache(), Batches: w.e.batches, SyncTimeout: inspect.SyncTimeout, Ref: w.parentKey(), Set: w.id, Owner: w.b.Owner,
		OwnerRequired: w.b.OwnerRequired, Predecessors: w.b.Predecessors,
		Origin: inventory.Origin{UID: w.b.OwnerUID, ControlPlane: w.b.ControlPlane}, Adopt: w.b.Adopt, Where: w.where, Identity: w.e.identity, Messages: w.e.messages,
	}}
}

// located adds the cluster in which an observation was made.
func (w *call) located(o Observation) Observation {
	o.ClusterUID = w.where.UID
	return o
}

// load returns the inventory of the bundle, or nil if there is none. If it was lost, load rebuilds it from the objects in the cluster,
// but does not store it. If another owner took the bundle over, load adds the objects that its inventory lacks: it may have been created
// after that of the bundle was lost. Rebuilt is nil if load adds nothing.
func (w *call) load(ctx context.Context) (inv *inventory.Inventory, rebuilt *inventory.Rebuilt, err error) {
	inv, err = w.store.load(ctx)
	w.found = inv != nil
	if err != nil || !w.isInstalled() {
		return inv, nil, err
	}
	if inv == nil {
		if inv, err = w.store.loadUnwatched(ctx); err != nil {
			return nil, nil, err
		}
		w.store.hidden = inv != nil
	}
	if inv != nil && !w.store.isTaken() {
		return inv, nil, nil
	}
	installs, err := w.releases(ctx)
	if err != nil {
		return nil, nil, err
	}
	// Objects of kinds that the credentials may not list are found later if the bundle still contains them.
	found, err := w.find(ctx, installs)
	if err != nil {
		return nil, nil, err
	}
	inv, added := inv.With(found.Inventory)
	if !added {
		return inv, nil, nil
	}
	return inv, rebuiltOf(found), nil
}

// loadToRemove returns the inventory of the bundle for a removal, or nil if there is nothing to remove. If the inventory was lost,
// loadToRemove rebuilds it like load. It returns an error if it finds nothing, but the credentials may not list all kinds.
func (w *call) loadToRemove(ctx context.Context) (inv *inventory.Inventory, rebuilt *inventory.Rebuilt, err error) {
	inv, err = w.store.loadOwn(ctx)
	if err == nil && w.b.Planned {
		err = w.store.inventories.CheckApplied(*w.store.last)
	}
	if inv != nil || err != nil || w.mem.removed {
		return inv, nil, err
	}
	if !w.isInstalled() {
		// A step that has just installed it may not have been recorded yet.
		return nil, nil, confirm(ctx, w.c, w.where, w.e.messages)
	}
	found, err := w.find(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	if found.Inventory == nil {
		return nil, nil, errors.Wrapf(found.Denied, "%s does not exist, so it is unknown which objects it listed", w.parentKey())
	}
	return found.Inventory, rebuiltOf(found), nil
}

func rebuiltOf(r rebuild.Result) *inventory.Rebuilt {
	return &inventory.Rebuilt{Objects: len(r.Inventory.Objects), Unsearched: r.Unsearched}
}

// isInstalled reports whether the cluster must have an inventory of the bundle, because it was installed there and not removed.
func (w *call) isInstalled() bool {
	return w.b.Installed && !w.mem.removed && (w.b.ClusterUID == "" || w.b.ClusterUID == w.where.UID)
}

// releases returns the installs of the bundle with their releases. The config can set the names of the releases, so they are unknown
// while it can't be read.
func (w *call) releases(ctx context.Context) ([]rebuild.Install, error) {
	settings, err := w.config.Settings(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]rebuild.Install, 0, len(w.b.Installs))
	for i := range w.b.Installs {
		in, err := settings.Of(&w.b.Installs[i])
		if err != nil {
			return nil, errors.Wrap(err, w.b.Installs[i].Name)
		}
		out = append(out, rebuild.Install{Part: object.PartOf(in.Name), Release: in.Release})
	}
	return out, nil
}

// find finds the objects and the releases of the bundle without an inventory. The installs are nil if the bundle is being removed.
func (w *call) find(ctx context.Context, installs []rebuild.Install) (rebuild.Result, error) {
	found, err := rebuild.Find(ctx, w.lost(installs))
	switch {
	case err != nil && w.found:
		return found, errors.Wrapf(ssa.Explain(err), "%s is the inventory of another owner, and the objects that it may lack cannot be found", w.parentKey())
	case err != nil:
		return found, errors.Wrapf(ssa.Explain(err), "%s does not exist, and the objects that it listed cannot be found", w.parentKey())
	}
	return found, confirm(ctx, w.c, w.where, w.e.messages)
}

// lost returns the input to find the objects of the bundle without its inventory.
func (w *call) lost(installs []rebuild.Install) rebuild.Input {
	owner := w.owner()
	in := rebuild.Input{
		Client: owner, Cluster: w.c, Set: w.id, FieldManager: w.e.identity.FieldManager,
		Releases: release.History{Client: owner, Set: w.id}.Releases, Installs: installs, Concurrency: w.e.concurrency,
	}
	if w.b.Resource != nil {
		in.Resource = object.RefOf(w.b.Resource)
	}
	return in
}

// owner returns a client with the user of the connection, which inventories and lists of all objects require.
func (w *call) owner() *ssa.Client {
	d, ok := w.c.(cluster.Delegate)
	if !ok {
		return w.client
	}
	c := ssa.New(d.Owner(), w.e.identity.FieldManager)
	c.Guard, c.CheckCluster = w.e.guard, w.checkCluster
	return c
}

// checkCluster returns an error if the connection leads to a different cluster than at the beginning of the call. It sends a request only
// if the connection has a reason to ask again. Usually, it does nothing: in a different cluster, saving the inventory fails, and the call
// undoes its writes. Without an inventory, or if the bundle adopts what exists, there is nothing that fails. The function that it returns
// reports whether the connection has had no such reason since then.
func (w *call) checkCluster(ctx context.Context) (valid func() bool, err error) {
	always := func() bool { return true }
	if w.where.UID == "" || !w.b.Adopt && w.found {
		return always, nil
	}
	uid, err := w.c.UID(ctx)
	if err != nil {
		return nil, err
	}
	if err := (inventory.Whereabouts{UID: uid, Expected: w.where.UID}).Check(w.e.messages); err != nil {
		return nil, err
	}
	if c, ok := w.c.(cluster.Identified); ok {
		return func() bool { return c.KnowsUID(uid) }, nil
	}
	return always, nil
}
