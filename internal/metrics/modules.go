// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const (
	// mostModules limits the number of series, because module authors and tenants choose the labels. otherSeries of them are for the modules above
	// the limit: more than there are states.
	mostModules = 2000
	otherSeries = 16
	// other is the value of all labels except the state for the modules above the limit.
	other = "other"
)

// A Module contains the labels of a module in a cluster. Name and Channel are empty for a Manifest that no Kyma created.
type Module struct{ Name, Version, Channel, State string }

// modules counts modules by their labels.
type modules struct {
	vector *prometheus.GaugeVec
	most   int

	mu     sync.Mutex
	counts map[Module]int
}

func newModules(f promauto.Factory) *modules {
	return &modules{
		vector: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "provider_kyma_modules",
			Help: "Number of modules in clusters, by module, version, channel and state. " +
				"There are at most 2,000 combinations; others are counted with the value other in the labels module, version and channel.",
		}, []string{"module", "version", "channel", "state"}),
		most:   mostModules - otherSeries,
		counts: map[Module]int{},
	}
}

// add counts a module, and returns the labels with which it is counted.
func (m *modules) add(l Module) Module {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts[l] == 0 && len(m.counts) >= m.most {
		l = Module{Name: other, Version: other, Channel: other, State: l.State}
	}
	m.counts[l]++
	m.set(l)
	return l
}

// remove no longer counts a module. The labels are those that add returned.
func (m *modules) remove(l Module) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts[l]--; m.counts[l] > 0 {
		m.set(l)
		return
	}
	delete(m.counts, l)
	m.vector.DeleteLabelValues(l.Name, l.Version, l.Channel, l.State)
}

func (m *modules) set(l Module) {
	m.vector.WithLabelValues(l.Name, l.Version, l.Channel, l.State).Set(float64(m.counts[l]))
}
