// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// seconds are the buckets for durations that a user waits for.
var seconds = []float64{1, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600} //nolint:gochecknoglobals // Constant.

// An Object contains what the metrics need of a managed resource.
type Object struct {
	UID     types.UID
	Created time.Time
	// Deleted is the time at which the deletion was requested, or zero.
	Deleted time.Time
	// Reconciled is true if the object has the condition Synced. Synced and Ready are true if these conditions are True.
	Reconciled, Synced, Ready bool
	// Module is the module that the object installs. It is nil for kinds that install none.
	Module *Module
}

// objectVectors contains the metrics of managed resources for all kinds. They have the names that users of Crossplane know.
type objectVectors struct {
	exists, ready, synced              *prometheus.GaugeVec
	firstReconcile, firstReady, delete *prometheus.HistogramVec
}

func newObjectVectors(f promauto.Factory) objectVectors {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return f.NewGaugeVec(prometheus.GaugeOpts{Name: "crossplane_managed_resource_" + name, Help: help}, []string{"gvk"})
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return f.NewHistogramVec(prometheus.HistogramOpts{Name: "crossplane_managed_resource_" + name, Help: help, Buckets: seconds}, []string{"gvk"})
	}
	return objectVectors{
		exists:         gauge("exists", "Number of managed resources that exist."),
		ready:          gauge("ready", "Number of managed resources that are Ready."),
		synced:         gauge("synced", "Number of managed resources that are Synced."),
		firstReconcile: histogram("first_time_to_reconcile_seconds", "Time from the creation of a managed resource to its first Synced condition."),
		firstReady:     histogram("first_time_to_readiness_seconds", "Time from the creation of a managed resource until it is Ready for the first time."),
		delete:         histogram("deletion_seconds", "Time from the request to delete a managed resource until it no longer exists."),
	}
}

// Objects counts the managed resources of a kind. Each change costs the same, regardless of the number of objects. It is safe for
// concurrent use.
type Objects struct {
	exists, ready, synced              prometheus.Gauge
	firstReconcile, firstReady, delete prometheus.Observer
	modules                            *modules
	now                                func() time.Time

	mu    sync.Mutex
	known map[types.UID]*counted
}

// counted is an object as it is counted.
type counted struct {
	Object

	// reconciled and ready are false until the object is reconciled and Ready for the first time.
	reconciled, ready bool
	// as contains the labels with which the module is counted.
	as Module
}

// Objects returns the metrics of a kind. Call it once for each kind.
func (m *Metrics) Objects(gvk schema.GroupVersionKind) *Objects {
	kind, v := gvk.String(), m.objects
	return &Objects{
		exists: v.exists.WithLabelValues(kind), ready: v.ready.WithLabelValues(kind), synced: v.synced.WithLabelValues(kind),
		firstReconcile: v.firstReconcile.WithLabelValues(kind), firstReady: v.firstReady.WithLabelValues(kind), delete: v.delete.WithLabelValues(kind),
		modules: m.modules, now: time.Now, known: map[types.UID]*counted{},
	}
}

// Set counts an object that was created or changed. existed is true for an object that existed when the provider started: it is
// unknown whether it was Ready before.
func (o *Objects) Set(current Object, existed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.known[current.UID]
	if c == nil {
		c = &counted{reconciled: existed, ready: existed}
		o.known[current.UID] = c
		o.exists.Inc()
	}
	if current.Reconciled && !c.reconciled {
		c.reconciled = true
		o.firstReconcile.Observe(o.now().Sub(current.Created).Seconds())
	}
	if current.Ready && !c.ready {
		c.ready = true
		o.firstReady.Observe(o.now().Sub(current.Created).Seconds())
	}
	move(o.ready, c.Ready, current.Ready)
	move(o.synced, c.Synced, current.Synced)
	o.moveModule(c, current.Module)
	c.Object = current
}

// Has reports whether an object is counted.
func (o *Objects) Has(uid types.UID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[uid] != nil
}

// Delete removes an object that no longer exists. An unknown object is ignored.
func (o *Objects) Delete(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.remove(uid); c != nil && !c.Deleted.IsZero() {
		o.delete.Observe(o.now().Sub(c.Deleted).Seconds())
	}
}

// Forget removes an object that another process counts from now on. An unknown object is ignored.
func (o *Objects) Forget(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remove(uid)
}

// remove removes an object from the gauges, and returns it, or nil if it is unknown. The caller holds the lock.
func (o *Objects) remove(uid types.UID) *counted {
	c := o.known[uid]
	if c == nil {
		return nil
	}
	delete(o.known, uid)
	o.exists.Dec()
	move(o.ready, c.Ready, false)
	move(o.synced, c.Synced, false)
	o.moveModule(c, nil)
	return c
}

// Reset removes all objects, for example because another process counts them from now on.
func (o *Objects) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for uid, c := range o.known {
		o.moveModule(c, nil)
		delete(o.known, uid)
	}
	o.exists.Set(0)
	o.ready.Set(0)
	o.synced.Set(0)
}

// moveModule counts the module of an object with its current labels. The caller holds the lock.
func (o *Objects) moveModule(c *counted, current *Module) {
	before := c.Module
	if before != nil && current != nil && *before == *current {
		return
	}
	if before != nil {
		o.modules.remove(c.as)
	}
	if current != nil {
		c.as = o.modules.add(*current)
	}
}

// move changes a gauge by the difference of two states of an object.
func move(g prometheus.Gauge, before, current bool) {
	switch {
	case before == current:
	case current:
		g.Inc()
	default:
		g.Dec()
	}
}
