// SPDX-License-Identifier: Apache-2.0

package share

// limits are limits for a number of workers.
type limits struct {
	// workers is the number of workers.
	workers int
	// share is the number of workers that a ProviderConfig can always use.
	share int
	// half is the number of workers that one ProviderConfig, or all slow passes together, can use.
	half int
	// quarter is the number of workers that the slow passes of one namespace can use.
	quarter int
	// most is the number of workers that one namespace can use.
	most int
	// newcomers is the number of workers that passes of newcomers can use in addition to half.
	newcomers int
	// spare is the number of long passes that need no worker, and spareOfNamespace is that of one namespace.
	spare, spareOfNamespace int
}

func limitsOf(workers int) limits {
	half, quarter := max(1, workers/2), max(1, workers/4)
	spare := sparePerWorker * workers
	return limits{
		workers: workers, spare: spare, spareOfNamespace: spare - spare/4,
		share: max(1, workers/8), half: half, quarter: quarter, most: max(1, workers-quarter),
		newcomers: max(0, min(quarter, workers-half-1)),
	}
}

// A load contains the numbers of workers in use when a pass over a Manifest requests one. Except for ofConfig, passes that need no worker
// anymore don't count.
type load struct {
	// total is the number of all workers in use, and ofConfig is the number of those with the same ProviderConfig.
	total, ofConfig int
	// ofNamespace is the number of workers in use in the same namespace.
	ofNamespace int
	// slow is the number of workers in use by slow passes, including passes that have already taken long, and slowOfNamespace is the
	// number of those in the same namespace.
	slow, slowOfNamespace int
	// newcomers is the number of workers in use by passes of newcomers. They do not count as slow.
	newcomers int
	// contenders is the number of other namespaces with Manifests that wait for a worker.
	contenders int
}

// An admission is the answer to a pass that requests a worker.
type admission int

const (
	// refused means that the pass has to wait.
	refused admission = iota
	// admitted means that the pass gets a worker.
	admitted
	// newcomer means that the pass gets one of the workers that only newcomers can use.
	newcomer
)

// admit decides whether a pass gets a worker. A pass about which nothing is known counts as slow. If slow passes use all workers that
// they can use, it is a newcomer, provided that its namespace uses no worker. So the first passes of a tenant do not wait for the slow
// passes of others. The limit for a namespace is for a tenant whose passes suddenly take long.
func (l limits) admit(u load, e expectation) admission {
	switch {
	case u.total >= l.workers, u.ofConfig >= l.share && u.total >= l.half, u.ofNamespace >= l.most:
		return refused
	case e == quick || u.slow < l.half && u.slowOfNamespace < min(l.quarter, max(1, l.half/(u.contenders+1))):
		return admitted
	case e == unknown && u.ofNamespace == 0 && u.newcomers < l.newcomers:
		return newcomer
	default:
		return refused
	}
}
