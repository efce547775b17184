// SPDX-License-Identifier: Apache-2.0

package share

// limits are limits for a number of workers.
type limits struct {
	// share is the number of workers that a ProviderConfig can always use.
	share int
	// half is the number of workers that one ProviderConfig, or all slow passes together, can use.
	half int
	// quarter is the number of workers that the slow passes of one namespace can use.
	quarter int
	// most is the number of workers that one namespace can use.
	most int
}

func limitsOf(workers int) limits {
	quarter := max(1, workers/4)
	return limits{share: max(1, workers/8), half: max(1, workers/2), quarter: quarter, most: max(1, workers-quarter)}
}

// A load contains the numbers of workers in use when a pass over a Manifest requests one.
type load struct {
	// total is the number of all workers in use, and ofConfig is the number of those with the same ProviderConfig.
	total, ofConfig int
	// ofNamespace is the number of workers in use in the same namespace.
	ofNamespace int
	// slow is the number of workers in use by slow passes, including passes that have already taken long, and slowOfNamespace is the
	// number of those in the same namespace.
	slow, slowOfNamespace int
	// contenders is the number of other namespaces with Manifests that wait for a worker.
	contenders int
}

// admits reports whether a pass gets a worker. A slow pass is one of a ProviderConfig whose cluster responds slowly, whose previous passes
// took long, or about which nothing is known. The limit for a namespace is for a tenant whose passes suddenly take long.
func (l limits) admits(u load, slow bool) bool {
	if u.ofConfig >= l.share && u.total >= l.half || u.ofNamespace >= l.most {
		return false
	}
	return !slow || u.slow < l.half && u.slowOfNamespace < min(l.quarter, max(1, l.half/(u.contenders+1)))
}
