// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inspect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// Defaults of an Engine.
const (
	// DefaultConcurrency is the number of objects of one bundle that are applied at the same time.
	DefaultConcurrency = 8
	// DefaultHistory is the number of revisions of a Helm release that are kept. Helm has the same default.
	DefaultHistory = 10

	minHistory = 2
)

// An Engine installs, observes and removes bundles. It is safe for concurrent use. Calls on bundles that have the same name in
// the same cluster run one at a time, even if the owners of the bundles differ; a call waits for its turn until its context ends.
type Engine struct {
	identity    Identity
	namespace   string
	concurrency int
	history     int
	planAge     time.Duration
	messages    Messages
	renderer    compose.Renderer
	now         func() time.Time
	guard       func(ctx context.Context) error
	caches      *compose.Caches
	rules       *health.Rules
	batches     *inventory.Batches
	// invalid is the error of an invalid option, or nil.
	invalid error

	// turns serializes the calls that work on the same inventory, regardless of the owner of the bundle.
	turns turns

	mu       sync.Mutex
	memories *bytelru.Cache[bundleKey, *memory]
}

// An Option configures an Engine. If an option is invalid, each call of the Engine returns an error and does nothing.
type Option func(*Engine)

// Messages contains the parts of messages that advise users what to do.
type Messages = advice.Messages

// WithMessages sets the advice to users in the terms of the caller, for example with the fields of a custom resource. By default,
// messages name the fields of a Bundle and the options of a call.
func WithMessages(m Messages) Option {
	return func(e *Engine) { e.messages = m }
}

// WithInventoryNamespace sets the namespace that holds the inventories. The engine creates it if it is missing. The default is
// DefaultNamespace.
func WithInventoryNamespace(n string) Option {
	return func(e *Engine) { e.namespace = n }
}

// WithConcurrency limits how many objects of one bundle are applied at the same time. The minimum is 1.
func WithConcurrency(n int) Option {
	return func(e *Engine) { e.concurrency = max(n, 1) }
}

// WithHistory sets how many revisions of a Helm release are kept. The minimum is 2. A lower number does not delete the records of
// an existing release that already exceed it; only records that exceed it because of a new revision are deleted.
func WithHistory(n int) Option {
	return func(e *Engine) { e.history = n }
}

// WithPlanAge makes Plan return the same plan for the given duration, unless the engine detects a change. By default, Plan makes
// a new plan each time.
func WithPlanAge(d time.Duration) Option {
	return func(e *Engine) { e.planAge = d }
}

// A Renderer renders charts, builds kustomizations, and reads plain objects. The type Pool of package pkg/manifest/sandbox
// implements it.
type Renderer = compose.Renderer

// WithRenderer sets the Renderer for charts, kustomizations and plain objects. By default, they are rendered in this process,
// without any limit of time or memory. Use the default only for content that you trust: a chart that never ends blocks the call,
// even after its context has ended, and a chart that takes all memory or recurses without an end terminates the program, as some
// kustomizations do. For all other content, use a sandbox.Pool.
func WithRenderer(r Renderer) Option {
	return func(e *Engine) { e.renderer = r }
}

// WithGuard sets a function that is called before each request that changes a cluster, and again while the request is sent, with the
// context of the call or one with the same values. If it returns an error, the request is not sent. Use it to stop the writes of a process
// that is no longer the leader, even if it was suspended in the middle of a call. The function must return immediately, for example with
// what the process already knows about its lease: all requests of the connection wait for it. It must not send requests to the cluster.
func WithGuard(f func(ctx context.Context) error) Option {
	return func(e *Engine) { e.guard = f }
}

// New returns an Engine.
func New(o ...Option) *Engine {
	e := &Engine{
		identity:    object.DefaultIdentity(),
		namespace:   DefaultNamespace,
		concurrency: DefaultConcurrency,
		history:     DefaultHistory,
		now:         time.Now,
		renderer:    compose.InProcess{},
		caches:      compose.NewCaches(),
		memories:    bytelru.New[bundleKey, *memory]("bundles", memoryLimit()),
		rules:       health.NewRules(),
		batches:     inventory.NewBatches(),
	}
	for _, fn := range o {
		fn(e)
	}
	e.messages = e.messages.WithDefaults()
	e.invalid = e.validate()
	return e
}

func (e *Engine) interpreter() cluster.Interpreter { return health.Interpreter{Identity: e.identity} }

// validate returns an error if an option is invalid.
func (e *Engine) validate() error {
	if e.history < minHistory {
		return errors.Errorf("cannot keep %d revisions of a Helm release: the minimum is %d, for the deployed and the previous revision",
			e.history, minHistory)
	}
	return e.identity.Validate()
}

// accepts returns an error if the engine cannot work on a cluster.
func (e *Engine) accepts(c cluster.Cluster) error {
	if e.invalid != nil {
		return errors.Wrap(e.invalid, "invalid engine option")
	}
	if c.Cache().Interpreter() != e.interpreter() {
		return errors.Errorf("the connection uses a different identity than the engine (field manager %q, label %s=%s); "+
			"configure both with the same identity", e.identity.FieldManager, object.LabelManagedBy, e.identity.ManagedBy)
	}
	return nil
}

// newCall waits until no other call works on the bundle, and returns a call on it. The caller must call end on the result.
func (e *Engine) newCall(ctx context.Context, c cluster.Cluster, b *Bundle, o []CallOption) (*call, error) {
	parts, err := b.Parts()
	if err != nil {
		return nil, err
	}
	w, err := e.newCallByName(ctx, c, b, o)
	if err != nil {
		return nil, err
	}
	w.parts, w.store.inputs = parts, make(map[object.PartID]inventory.Inputs, len(parts))
	for i := range parts {
		w.store.inputs[parts[i].Name] = parts[i].Inputs()
	}
	return w, nil
}

// newCallByName returns a call whose parts have no digests. Such a call can remove a bundle whose sources cannot be resolved.
func (e *Engine) newCallByName(ctx context.Context, c cluster.Cluster, b *Bundle, o []CallOption) (*call, error) {
	if err := e.accepts(c); err != nil {
		return nil, err
	}
	end, err := e.turns.take(ctx, placeOf(c, b))
	if err != nil {
		return nil, err
	}
	where, err := whereabouts(ctx, c, b)
	if err == nil {
		err = where.Check(e.messages)
	}
	if err != nil {
		end()
		return nil, err
	}
	mem := e.memoryOf(c, b)
	w := &call{
		client: ssa.New(c, e.identity.FieldManager), e: e, c: c, b: b, o: CallOptionsOf(o...), id: b.ID(e.namespace), parts: b.Outline(),
		mem: mem, end: func() { e.measure(keyOf(c, b), mem); end() }, where: where, config: compose.NewConfig(b),
	}
	w.client.Guard, w.client.CheckCluster = e.guard, w.checkCluster
	w.store = w.newStore()
	w.composer = w.newComposer()
	return w, nil
}

// ID returns the ID of the ApplySet of a bundle. Members of the bundle have it as the value of the label
// applyset.kubernetes.io/part-of.
func (e *Engine) ID(b *Bundle) string {
	return b.ID(e.namespace)
}

func (e *Engine) memoryOf(c cluster.Cluster, b *Bundle) *memory {
	k := keyOf(c, b)
	e.mu.Lock()
	defer e.mu.Unlock()
	if m, ok := e.memories.Get(k); ok {
		return m
	}
	m := &memory{evaluations: inspect.Evaluations{}, reports: inspect.Reports{}, repairs: map[cluster.ObjectRef]ownership.Repairs{}}
	e.memories.AddSized(k, m, m.size())
	return m
}

// measure updates the size of a memory at the end of a call, unless the memory has been dropped in the meantime.
func (e *Engine) measure(k bundleKey, m *memory) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now, ok := e.memories.Get(k); ok && now == m {
		e.memories.AddSized(k, m, m.size())
	}
}

// Forget drops the state that the engine keeps in memory about a bundle.
func (e *Engine) Forget(c cluster.Cluster, b *Bundle) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.memories.Remove(keyOf(c, b))
}
