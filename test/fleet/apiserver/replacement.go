// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"sync"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
)

// A replacement is a cluster that responds at the address of another one. It records which objects are created in it.
type replacement struct {
	cluster *cluster.Cluster

	mu      sync.Mutex
	created map[string]bool
}

// newReplacement returns an empty cluster.
func newReplacement(o cluster.Options) (*replacement, error) {
	c, err := cluster.New(o)
	if err != nil {
		return nil, err
	}
	r := &replacement{cluster: c, created: map[string]bool{}}
	own := map[record.Key]bool{}
	for _, k := range c.Store().All() {
		own[k] = true
	}
	c.Observe(func(k record.Key, _ map[string]any) {
		if own[k] {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.created[k.GroupResource.String()+" "+k.Namespace+"/"+k.Name] = true
	})
	return r, nil
}

// answering returns the state that responds to the requests of a cluster: its own, or that of its replacement.
func (e *entry) answering() *state {
	st := e.state.Load()
	if r := e.now().replacement; r != nil {
		return &state{cluster: r.cluster, token: st.token}
	}
	return st
}
