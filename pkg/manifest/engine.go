// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"
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

// An Engine works on sets. It is safe for concurrent use, but not for two calls on one set of one cluster at a time.
type Engine struct {
	namespace   string
	concurrency int
	history     int
	planAge     time.Duration
	now         func() time.Time
	charts      *lru.Cache // Digest of a content to *render.Chart.
	builds      *lru.Cache // Digest of a content and folder to the text of a kustomization that was built.
	loading     singleflight.Group
	rules       *rules

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
		rules:       newRules(),
	}
	for _, fn := range o {
		fn(e)
	}
	return e
}

// setKey names a set among all clusters. A cluster is known by its address, so that new credentials find what is known.
type setKey struct {
	host, name string
}

// A memory is what the engine knows of a set between two calls. It can be lost at any time.
type memory struct {
	// inv is the inventory as it is in the cluster at version. It is never changed, only replaced.
	inv     *inventory
	version string
	// size of the inventory as it is stored, in bytes.
	size int
	// failed are the parts that could not be applied, with the digest of the inputs that failed.
	failed map[string]failure
	// waiting is what the last step waited for.
	waiting string
	// held are the parts that wait for an install before them, and why.
	held map[string]string
	// judged are verdicts on objects that rules are for.
	judged map[Key]verdict
	// fights about fields that others take again and again.
	fights fights
	// reported is what was found of objects that differ and are left as they are.
	reported map[Key]reportedDrift
	// plan is the last one; nil for none.
	plan *keptPlan
}

// A failure of a part.
type failure struct {
	digest string
	err    error
}

// A verdict of a rule about one version of an object.
type verdict struct {
	resourceVersion string
	rule            string
	state           State
	message         string
}

// forgetGone forgets objects that an inventory no longer has, once it knows of more than there are.
func (m *memory) forgetGone(inv *inventory) {
	most := len(inv.Objects)
	if len(m.judged) <= most && len(m.reported) <= most && m.fights.objects() <= most {
		return
	}
	idx := inv.index()
	gone := func(k Key) bool { return idx[k] == nil }
	maps.DeleteFunc(m.judged, func(k Key, _ verdict) bool { return gone(k) })
	maps.DeleteFunc(m.reported, func(k Key, _ reportedDrift) bool { return gone(k) })
	m.fights.forgetIf(gone)
}

func (e *Engine) memoryOf(c Cluster, s *Set) *memory {
	k := setKey{host: c.Config().Host, name: s.Name}
	e.mu.Lock()
	defer e.mu.Unlock()
	if m, ok := e.sets.Get(k); ok {
		return m.(*memory) //nolint:forcetypeassert // Only memories are put in.
	}
	m := &memory{failed: map[string]failure{}, judged: map[Key]verdict{}}
	e.sets.Add(k, m)
	return m
}

// Forget what is known of a set.
func (e *Engine) Forget(c Cluster, s *Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sets.Remove(setKey{host: c.Config().Host, name: s.Name})
}

// A work is one call on one set.
type work struct {
	e     *Engine
	c     Cluster
	s     *Set
	id    string
	parts []part
	mem   *memory
	// stuck are the parts of which a hook failed; true for those of which nothing was applied, so that nothing is done.
	stuck map[string]bool
	// denied are the objects that the credentials may not read.
	denied map[Key]error
	// hpas are the autoscalers that were asked for.
	hpas autoscalers
	// rendered are parts that were rendered to tell what differs.
	rendered map[string]*planned
	// notes are what is said of parts in which all works.
	notes map[string]note
	// configs is read once, when it is needed; nil until then.
	configs *configs
}

func (e *Engine) work(c Cluster, s *Set) (*work, error) {
	parts, err := s.parts()
	if err != nil {
		return nil, err
	}
	w := e.outline(c, s)
	w.parts = parts
	return w, nil
}

// outline is work that needs no more than the names of the parts.
func (e *Engine) outline(c Cluster, s *Set) *work {
	return &work{e: e, c: c, s: s, id: s.id(e.namespace), parts: s.outline(), mem: e.memoryOf(c, s), denied: map[Key]error{}}
}

// ID of the ApplySet of a set, the value of the label applyset.kubernetes.io/part-of of its members.
func (e *Engine) ID(s *Set) string {
	return s.id(e.namespace)
}

// labels of each object of the set.
func (w *work) labels() map[string]string {
	l := make(map[string]string, len(w.s.Labels)+2)
	maps.Copy(l, w.s.Labels)
	l[LabelPartOf] = w.id
	l[LabelManagedBy] = ManagedBy
	return l
}
