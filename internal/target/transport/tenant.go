// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	// tenantBurst is the number of bytes that the provider reads from all clusters of a tenant as fast as they send them. tenantRate is how
	// many more it reads per second, and clusterRate how many more for each cluster. One cluster that never stops sending leaves half of
	// tenantRate to the others.
	tenantBurst = 2 * paceBurst
	tenantRate  = 2 * paceRate
	clusterRate = 128 << 10
)

// Tenants bounds what is read from all clusters of each tenant together, since a tenant can have many clusters. The zero value has no tenants.
// It is safe for concurrent use.
type Tenants struct {
	// Slowed is called when the data of a tenant is read more slowly, at most once per hour for each tenant; optional. It must not block.
	Slowed func(tenant string)

	mu sync.Mutex
	of map[string]*Tenant
}

// A Tenant bounds what is read from the clusters of one tenant. A nil Tenant bounds nothing.
type Tenant struct {
	limit *rate.Limiter
	// slowed reports that data is read more slowly. next is the time of the next report, in nanoseconds.
	slowed func()
	next   atomic.Int64
	// clusters is the number of the clusters. Tenants guards it.
	clusters int
}

// Join adds a cluster to a tenant. The caller calls leave when the cluster is gone.
func (t *Tenants) Join(name string) (tenant *Tenant, leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]*Tenant{}
	}
	tenant = t.of[name]
	if tenant == nil {
		tenant = &Tenant{limit: rate.NewLimiter(tenantRate, tenantBurst), slowed: func() {}}
		if t.Slowed != nil {
			tenant.slowed = func() { t.Slowed(name) }
		}
		t.of[name] = tenant
	}
	t.count(tenant, 1)
	return tenant, sync.OnceFunc(func() { t.leave(name, tenant) })
}

// Clusters returns the number of the clusters of a tenant.
func (t *Tenants) Clusters(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tenant := t.of[name]; tenant != nil {
		return tenant.clusters
	}
	return 0
}

// count changes the number of the clusters of a tenant. The caller holds mu.
func (t *Tenants) count(tenant *Tenant, change int) {
	tenant.clusters += change
	tenant.limit.SetLimit(tenantRate + rate.Limit(tenant.clusters)*clusterRate)
}

// leave removes a cluster. A tenant without clusters is remembered until it has its burst again: otherwise, it could get a new burst with each
// new cluster.
func (t *Tenants) leave(name string, tenant *Tenant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count(tenant, -1)
	t.forget(name, tenant)
}

// forget removes a tenant without clusters, or waits until it can be removed. The caller holds mu.
func (t *Tenants) forget(name string, tenant *Tenant) {
	if tenant.clusters > 0 || t.of[name] != tenant {
		return
	}
	missing := tenantBurst - tenant.limit.Tokens()
	if missing < 1 {
		delete(t.of, name)
		return
	}
	time.AfterFunc(time.Duration(missing/tenantRate*float64(time.Second))+time.Second, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.forget(name, tenant)
	})
}

// took counts bytes that were read, at most tenantBurst. It returns the time to wait before more are read.
func (t *Tenant) took(now time.Time, n int) time.Duration {
	if t == nil {
		return 0
	}
	wait := t.limit.ReserveN(now, n).DelayFrom(now)
	if next := t.next.Load(); wait > 0 && now.UnixNano() >= next && t.next.CompareAndSwap(next, now.Add(time.Hour).UnixNano()) {
		t.slowed()
	}
	return wait
}
