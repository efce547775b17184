// SPDX-License-Identifier: Apache-2.0

package history

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
)

// A Recorder logs the changes of modules, and measures their duration. It is safe for concurrent use.
type Recorder struct {
	log     logging.Logger
	observe func(t Type, took time.Duration)
	now     func() time.Time

	mu     sync.Mutex
	states map[types.UID]State
}

// NewRecorder returns a Recorder that writes a line to a log for each change, and calls observe.
func NewRecorder(log logging.Logger, observe func(t Type, took time.Duration)) *Recorder {
	return &Recorder{log: log, observe: observe, now: time.Now, states: map[types.UID]State{}}
}

// Set records the current state of a Manifest. existed is true if it existed when the provider started. Set does nothing if r is nil.
func (r *Recorder) Set(m *v1alpha1.Manifest, existed bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, known := r.states[m.UID]
	if !known && existed {
		r.states[m.UID] = Existing(m, r.now())
		return
	}
	s, changed := s.Next(m, r.now())
	r.states[m.UID] = s
	for _, c := range changed {
		r.record(m, c)
	}
}

// Delete records that a Manifest no longer exists. It does nothing if r is nil.
func (r *Recorder) Delete(m *v1alpha1.Manifest) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, known := r.states[m.UID]
	delete(r.states, m.UID)
	if c, ok := s.Gone(m, r.now()); ok && known {
		r.record(m, c)
	}
}

// Forget forgets a Manifest that another process records from now on. It does nothing if r is nil.
func (r *Recorder) Forget(m *v1alpha1.Manifest) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.states, m.UID)
}

// Reset forgets all Manifests.
func (r *Recorder) Reset() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.states)
}

func (r *Recorder) record(m *v1alpha1.Manifest, c Change) {
	r.observe(c.Type, c.Took)
	r.log.Info(string(c.Type)+" module", "namespace", m.Namespace, "name", m.Name, "module", m.Labels[v1alpha1.LabelModuleName],
		"cluster", naming.ConfigOf(m), "from", c.From, "to", c.To, "duration", c.Took.Round(time.Millisecond).String())
}
