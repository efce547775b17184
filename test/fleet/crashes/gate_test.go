// SPDX-License-Identifier: Apache-2.0

package crashes

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/forward"
)

// A crash says at which write the provider is killed.
type crash struct {
	// writes is the number of writes that pass before.
	writes int
	// after is true if the write reaches the API server, whose response the provider does not receive.
	after bool
}

// A gate forwards the requests of the provider to the control plane, and kills the provider at a write.
type gate struct {
	*httptest.Server

	forward http.Handler

	mu sync.Mutex
	// victim is the process to kill. It is nil if no crash is planned.
	victim *process.Process
	crash  crash
	// dead is true from the decision to kill the victim until the next plan. Until then, no write passes.
	dead bool
	// passed and crashes are the numbers of writes that reached the API server, and of crashes.
	passed, crashes int
}

// newGate starts a gate that sends requests with the identity of a config.
func newGate(c *rest.Config) (*gate, error) {
	to, err := forward.To(c)
	if err != nil {
		return nil, err
	}
	g := &gate{forward: to}
	g.Server = httptest.NewServer(g)
	return g, nil
}

// plan plans a crash of a process. Without a process, all writes pass.
func (g *gate) plan(p *process.Process, c crash) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.victim, g.crash, g.dead = p, c, false
}

// killed reports whether the planned crash has happened.
func (g *gate) killed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// counts returns the numbers of writes that reached the API server, and of crashes.
func (g *gate) counts() (passed, crashes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passed, g.crashes
}

// isWrite reports whether a request changes an object of the provider. Events and access reviews do not count.
func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, "/apis/"+v1alpha1.Group+"/")
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isWrite(r) {
		g.forward.ServeHTTP(w, r)
		return
	}
	victim, forward := g.decide()
	switch {
	case victim == nil && forward:
		g.forward.ServeHTTP(w, r)
		return
	case victim != nil && forward:
		g.forward.ServeHTTP(httptest.NewRecorder(), r)
	}
	victim.Stop()
	panic(http.ErrAbortHandler)
}

// decide returns the process to kill at a write, or nil, and whether the write reaches the API server.
func (g *gate) decide() (victim *process.Process, forward bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.dead:
		return nil, false
	case g.victim == nil || g.crash.writes > 0:
		g.crash.writes--
		g.passed++
		return nil, true
	}
	g.dead = true
	g.crashes++
	if g.crash.after {
		g.passed++
	}
	return g.victim, g.crash.after
}
