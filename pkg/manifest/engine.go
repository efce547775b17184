// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// Defaults of an Engine.
const (
	// DefaultConcurrency is how many objects of one set are applied at the same time.
	DefaultConcurrency = 8
	// DefaultHistory is how many revisions of a Helm release are kept, as many as Helm keeps.
	DefaultHistory = 10

	cachedCharts = 16
	cachedBuilds = 16
	cachedSets   = 50_000
)

// An Engine works on sets. It is safe for concurrent use. Of several calls on one set of one cluster one works at a time;
// the others wait for it, as long as their contexts last.
type Engine struct {
	namespace   string
	concurrency int
	history     int
	planAge     time.Duration
	now         func() time.Time
	charts      *lru.Cache // Digest of a content to *render.Chart.
	builds      *lru.Cache // Digest of a content and folder to the text of a kustomization that was built.
	loading     singleflight.Group
	rules       *health.Rules

	// turns at sets.
	turns turns

	mu   sync.Mutex
	sets *lru.Cache // setKey to *memory.
}

// An Option of an Engine.
type Option func(*Engine)

// WithNamespace that holds the inventories; by default DefaultNamespace. It is created where it is missing.
func WithNamespace(n string) Option {
	return func(e *Engine) { e.namespace = n }
}

// WithConcurrency bounds how many objects of one set are applied at the same time.
func WithConcurrency(n int) Option {
	return func(e *Engine) { e.concurrency = n }
}

// WithPlanAge keeps a plan this long, as long as nothing is known to have changed. By default none is kept.
func WithPlanAge(d time.Duration) Option {
	return func(e *Engine) { e.planAge = d }
}

// New returns an Engine.
func New(o ...Option) *Engine {
	e := &Engine{
		namespace:   DefaultNamespace,
		concurrency: DefaultConcurrency,
		history:     DefaultHistory,
		now:         time.Now,
		charts:      lru.New(cachedCharts),
		builds:      lru.New(cachedBuilds),
		sets:        lru.New(cachedSets),
		rules:       health.NewRules(),
	}
	for _, fn := range o {
		fn(e)
	}
	return e
}

// A work is one call on one set.
type work struct {
	*ssa.Client

	e     *Engine
	c     cluster.Cluster
	s     *Set
	id    string
	parts []part
	mem   *memory
	// stuck are the parts of which a hook failed; true for those of which nothing was applied, so that nothing is done.
	stuck map[string]bool
	// denied are the objects that the credentials may not read.
	denied map[cluster.ObjectRef]error
	// asked are the objects that were asked for in this step, as the watch does not show them.
	asked map[cluster.ObjectRef]bool
	// hpas are the autoscalers that were asked for.
	hpas autoscalers
	// rendered are parts that were rendered to tell what differs.
	rendered map[string]*planned
	// notes are what is said of parts in which all works.
	notes map[string]note
	// configs is read once, when it is needed; nil until then.
	configs *configs
	// owners of other sets, by their IDs.
	owners struct {
		sync.Mutex

		by map[string]string
	}
	// end the work, so that another call can begin.
	end func()
}

// work on a set, once no other call does. The work is to be ended, unless there is an error.
func (e *Engine) work(ctx context.Context, c cluster.Cluster, s *Set) (*work, error) {
	parts, err := s.parts()
	if err != nil {
		return nil, err
	}
	w, err := e.outline(ctx, c, s)
	if err != nil {
		return nil, err
	}
	w.parts = parts
	return w, nil
}

// outline is work that needs no more than the names of the parts.
func (e *Engine) outline(ctx context.Context, c cluster.Cluster, s *Set) (*work, error) {
	end, err := e.turns.take(ctx, keyOfSet(c, s))
	if err != nil {
		return nil, err
	}
	return &work{
		Client: ssa.New(c), e: e, c: c, s: s, id: s.id(e.namespace), parts: s.outline(), mem: e.memoryOf(c, s), denied: map[cluster.ObjectRef]error{}, end: end,
	}, nil
}

// ID of the ApplySet of a set, the value of the label applyset.kubernetes.io/part-of of its members.
func (e *Engine) ID(s *Set) string {
	return s.id(e.namespace)
}

// labels of each object of the set.
func (w *work) labels() map[string]string {
	l := make(map[string]string, len(w.s.Labels)+2)
	maps.Copy(l, w.s.Labels)
	l[object.LabelPartOf] = w.id
	l[object.LabelManagedBy] = object.ManagedBy
	return l
}
