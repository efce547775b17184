// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/kubeconfig"
	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
	"github.com/crossplane-contrib/provider-kyma/internal/target/slots"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A Cluster is the connection to one target cluster. The pool that returned it closes it.
type Cluster = connection.Cluster

// tokenTime is the timeout of token requests.
const tokenTime = 10 * time.Second

// A Pool holds a connection for each set of credentials that is in use. It is safe for concurrent use.
type Pool struct {
	local       *rest.Config
	userAgent   string
	change      ChangeFunc
	outcome     func(*Cluster)
	wake        func(consumer string)
	lists       *slots.Slots
	openings    *slots.Slots
	request     transport.CountFunc
	limits      transport.Limits
	budget      *decoding.Budget
	caches      *informer.Budget
	guard       *netguard.Guard
	tenants     transport.Tenants
	metrics     *metrics.Metrics
	log         logging.Logger
	parkAfter   time.Duration
	builtin     mapper.Table
	interpreter cluster.Interpreter

	// closing counts the clusters that are being closed.
	closing sync.WaitGroup

	// mu guards the fields below. It is never held while a connection is created or closed.
	mu        sync.Mutex
	clusters  map[string]*entry   // By the digest of their credentials.
	lineages  map[string]*entry   // Those whose token can be replaced, by their lineage.
	consumers map[string]*entry   // By consumer.
	opened    map[*Cluster]*entry // By connection.
	closed    bool
}

// requestTime is the maximum duration of a request.
const requestTime = 15 * time.Second

// mostLists is the maximum number of kinds of all clusters that are listed at the same time. Otherwise, all lists of a fleet
// would be decoded at the same time after a network outage.
const mostLists = 64

// mostOpenings is the maximum number of connections that are opened at the same time. Otherwise, those that a user waits for would be
// opened last if all others are opened just before, as after a restart.
const mostOpenings = 16

// An entry is a cluster with its consumers and the state with which it is counted in the metrics.
type entry struct {
	cluster *Cluster
	// digest is that of the credentials in use, which come from origin. lineage is described in rotate.go.
	digest, origin, lineage string

	consumers map[string]bool
	// misplaced contains the consumers that belong to another cluster.
	misplaced map[string]bool
	state     transport.State
	opened    time.Time
}

// An Option configures a pool.
type Option func(*Pool)

// WithLocal sets the REST config of the provider, which InjectedIdentity uses. Without it, InjectedIdentity returns an
// error.
func WithLocal(rc *rest.Config) Option {
	return func(p *Pool) { p.local = rc }
}

// WithUserAgent sets the user agent of the provider. By default, it is the name of the program and its platform.
func WithUserAgent(s string) Option {
	return func(p *Pool) { p.userAgent = s }
}

// A ChangeFunc is like informer.ChangeFunc, with the identity of the cluster.
type ChangeFunc func(identity, set string, key cluster.ObjectRef, old, now *cluster.ObjectState)

// WithOnChange sets a function that is called when other clients change objects of bundles in any cluster.
func WithOnChange(f ChangeFunc) Option {
	return func(p *Pool) { p.change = f }
}

// WithOnRequest sets a function that is called for each request to any cluster.
func WithOnRequest(f transport.CountFunc) Option {
	return func(p *Pool) { p.request = f }
}

// WithOnOutcome sets a function that is called when requests to a cluster begin to fail or to succeed, when its version or its UID
// changes, and when LastUID can be called again. The function must not block.
func WithOnOutcome(f func(*Cluster)) Option {
	return func(p *Pool) { p.outcome = f }
}

// WithOnRetry sets a function that is called for each consumer of a cluster that got an error from Cluster.Ready and should try
// again. The function must not block.
func WithOnRetry(f func(consumer string)) Option {
	return func(p *Pool) { p.wake = f }
}

// WithLimits sets the limits of single requests. The defaults are those of transport.Limits, with 15 seconds for
// a request.
func WithLimits(l transport.Limits) Option {
	return func(p *Pool) { p.limits = l }
}

// WithBudget sets the budget of all responses of all clusters. The default is that of decoding.Scaled.
func WithBudget(b *decoding.Budget) Option {
	return func(p *Pool) { p.budget = b }
}

// WithGuard sets the guard that opens all connections. The default is a guard with the zero value of netguard.Options.
func WithGuard(g *netguard.Guard) Option {
	return func(p *Pool) { p.guard = g }
}

// WithMetrics sets the metrics of connections and requests.
func WithMetrics(m *metrics.Metrics) Option {
	return func(p *Pool) { p.metrics = m }
}

// WithLogger sets the logger of new and closed connections and of failing watches, which are logged at debug level.
func WithLogger(l logging.Logger) Option {
	return func(p *Pool) { p.log = l }
}

// WithParkAfter sets how long a cluster must be quiet before its watches are closed. The default is 0: they are never closed.
func WithParkAfter(d time.Duration) Option {
	return func(p *Pool) { p.parkAfter = d }
}

// NewPool returns a pool without connections. The interpreter determines what the caches of connections watch and keep.
func NewPool(i cluster.Interpreter, o ...Option) *Pool {
	p := &Pool{
		interpreter: i,
		limits:      transport.Limits{Request: requestTime},
		budget:      decoding.Scaled(),
		lists:       slots.New(mostLists),
		openings:    slots.New(mostOpenings),
		guard:       netguard.New(netguard.Options{}),
		metrics:     metrics.New(nil, version.Build{}),
		log:         logging.NewNopLogger(),
		builtin:     mapper.Builtin(),
		clusters:    map[string]*entry{},
		lineages:    map[string]*entry{},
		consumers:   map[string]*entry{},
		opened:      map[*Cluster]*entry{},
	}
	for _, f := range o {
		f(p)
	}
	p.tenants.Slowed = p.logSlowed
	p.caches = informer.ScaledBudget(func(bytes int64) { p.metrics.TargetCacheBytes.Set(float64(bytes)) })
	return p
}

// Get returns the cluster of the credentials for a consumer, which is any unique name of a managed resource. A consumer
// has one cluster: if its credentials change, it leaves the old cluster, unless Rotate replaces the token. The pool closes a cluster
// without consumers. Get sends no requests to the cluster, but identities from the environment of the provider may request tokens.
func (p *Pool) Get(consumer string, c Credentials) (*Cluster, error) {
	if cluster, err := p.join(consumer, c, "", nil); cluster != nil || err != nil {
		return cluster, err
	}
	k, err := p.restConfig(c)
	if err != nil {
		return nil, err
	}
	lineage := lineageOf(c, k)
	if cluster, err := p.join(consumer, c, lineage, nil); cluster != nil || err != nil {
		return cluster, err
	}
	fresh, err := p.connect(c, k)
	if err != nil {
		return nil, err
	}
	cluster, err := p.join(consumer, c, lineage, fresh)
	if cluster != fresh {
		// Another caller connected first, or the pool is closed.
		fresh.Close()
	}
	return cluster, err
}

// Last returns the cluster that Get returned last for a consumer. Its credentials may have been deleted since.
func (p *Pool) Last(consumer string) (*Cluster, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.consumers[consumer]
	if !ok {
		return nil, false
	}
	return e.cluster, true
}

// Forget removes a consumer.
func (p *Pool) Forget(consumer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeConsumer(consumer)
}

// Close closes all clusters, and waits until their goroutines have ended.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for consumer := range p.consumers {
		p.removeConsumer(consumer)
	}
	p.mu.Unlock()
	p.closing.Wait()
}

// join assigns a consumer to the cluster of its credentials: the one with their digest, the one of their lineage, or fresh. It returns nil
// if all are missing.
func (p *Pool) join(consumer string, c Credentials, lineage string, fresh *Cluster) (*Cluster, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the provider is stopping")
	}
	e := p.clusters[c.Digest]
	if e == nil && lineage != "" {
		e = p.lineages[lineage]
	}
	if e == nil && fresh == nil {
		return nil, nil //nolint:nilnil // Neither is an error: the caller connects.
	}
	if e == nil {
		e = p.open(c, lineage, fresh)
	}
	p.share(e, c.origin)
	if p.consumers[consumer] == e {
		return e.cluster, nil
	}
	p.removeConsumer(consumer)
	p.consumers[consumer] = e
	e.consumers[consumer] = true
	return e.cluster, nil
}

// open adds a cluster. The caller holds mu.
func (p *Pool) open(c Credentials, lineage string, fresh *Cluster) *entry {
	e := &entry{
		cluster: fresh, digest: c.Digest, origin: c.origin, lineage: lineage,
		consumers: map[string]bool{}, misplaced: map[string]bool{}, opened: time.Now(),
	}
	p.clusters[c.Digest], p.opened[fresh] = e, e
	if lineage != "" {
		p.lineages[lineage] = e
	}
	p.metrics.TargetConnections.Inc()
	p.metrics.TargetStates.Add(string(e.state), 1)
	p.log.Debug("Connecting to a cluster", "host", fresh.Host())
	return e
}

// removeConsumer removes a consumer from its cluster, if any. The caller holds mu.
func (p *Pool) removeConsumer(consumer string) {
	e, ok := p.consumers[consumer]
	if !ok {
		return
	}
	delete(p.consumers, consumer)
	delete(e.consumers, consumer)
	delete(e.misplaced, consumer)
	if len(e.consumers) > 0 {
		p.count(e)
		return
	}
	delete(p.clusters, e.digest)
	delete(p.opened, e.cluster)
	if e.lineage != "" {
		delete(p.lineages, e.lineage)
	}
	p.metrics.TargetConnections.Dec()
	p.metrics.TargetStates.Add(string(e.state), -1)
	p.log.Debug("Closing the connection to a cluster", "host", e.cluster.Host())
	p.closing.Go(e.cluster.Close)
}

// connect creates a cluster. It sends no requests.
func (p *Pool) connect(c Credentials, k *kubeconfig.Result) (*Cluster, error) {
	rc := k.Config
	if p.userAgent != "" {
		rc.UserAgent = p.userAgent
	}
	// Identities use the context for token requests.
	ctx, cancel := context.WithCancel(context.Background())
	tenant, leave := p.tenantOf(c)
	done := func() { cancel(); leave() }
	if c.identity != nil {
		client := p.guard.Dialer(c.trust()).Client(tokenTime)
		if err := renewing(rc, func(rc *rest.Config) error { return c.identity.wrap(ctx, rc, k.Cluster, client) }); err != nil {
			done()
			return nil, err
		}
	}
	cluster, err := connection.New(rc, p.interpreter, connection.Options{
		Transport: transport.Options{
			Limits: p.limits, Budget: p.budget, Count: p.countRequest, Dialer: p.guard.Dialer(c.trust()), Tenant: tenant, Waited: p.waited,
		},
		Builtin:   p.builtin,
		Change:    p.change,
		Changed:   p.changed,
		Log:       p.log,
		Done:      done,
		Monitored: true,
		Lists:     p.lists,
		Openings:  p.openings,
		Recovered: p.wakeConsumers,
		Replaced:  p.replaced,
		Budget:    p.caches,
		ParkAfter: p.parkAfter,
	})
	if err != nil {
		done()
		return nil, err
	}
	return cluster, nil
}

// changed updates the metrics for the state of a cluster, and reports the state.
func (p *Pool) changed(c *Cluster) {
	p.mu.Lock()
	if e := p.opened[c]; e != nil {
		p.count(e)
	}
	p.mu.Unlock()
	if p.outcome != nil {
		p.outcome(c)
	}
}

// count counts the state of a cluster. The caller holds mu.
func (p *Pool) count(e *entry) {
	p.metrics.TargetStates.Add(string(e.state), -1)
	e.state = e.cluster.Outcome().State
	if e.state == transport.Connected && len(e.misplaced) > 0 {
		e.state = transport.WrongCluster
	}
	if e.state == transport.Connected && e.cluster.IsParked() {
		e.state = transport.Parked
	}
	p.metrics.TargetStates.Add(string(e.state), 1)
}

// Misplaced records whether a consumer belongs to a different cluster than the one that its connection leads to. A connection with
// such a consumer counts as WrongCluster while it is Connected.
func (p *Pool) Misplaced(consumer string, yes bool) {
	p.mu.Lock()
	e := p.consumers[consumer]
	same := e == nil || e.misplaced[consumer] == yes
	if !same {
		e.misplaced[consumer] = yes
		if !yes {
			delete(e.misplaced, consumer)
		}
		p.count(e)
	}
	p.mu.Unlock()
	if !same && p.outcome != nil {
		p.outcome(e.cluster)
	}
}

func (p *Pool) countRequest(verb string, code int, watch bool) {
	p.metrics.TargetRequests.Count(verb, code)
	if p.request != nil {
		p.request(verb, code, watch)
	}
}
