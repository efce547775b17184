// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
)

// AddCluster adds an empty cluster. Its name must be a DNS label.
func (s *Server) AddCluster(name string) error {
	c, err := cluster.New(s.options.Cluster)
	if err != nil {
		return err
	}
	return s.add(name, state{cluster: c})
}

// add adds a cluster with new credentials and certificates.
func (s *Server) add(name string, st state) error {
	p, err := newPKI(name + "." + Domain)
	if err != nil {
		return err
	}
	if st.token, err = newToken(); err != nil {
		return err
	}
	e := &entry{name: name, total: &s.total, pki: p}
	e.state.Store(&st)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clusters[e.name] != nil {
		return errors.Errorf("cluster %q exists", e.name)
	}
	s.clusters[e.name] = e
	return nil
}

// RemoveCluster closes the connections of a cluster and removes it.
func (s *Server) RemoveCluster(name string) {
	e := s.entry(name)
	if e == nil {
		return
	}
	s.mu.Lock()
	delete(s.clusters, name)
	s.mu.Unlock()
	e.setFault(Fault{}, nil)
	e.closeConns()
}

// Replace replaces a cluster by an empty one with the same address and token, but with other UIDs, and closes its connections. A view
// can't be replaced.
func (s *Server) Replace(name string) error {
	c, err := cluster.New(s.options.Cluster)
	if err != nil {
		return err
	}
	e := s.entry(name)
	if e == nil {
		return errors.Errorf("there is no cluster %q", name)
	}
	if e.state.Load().view != nil {
		return errors.Errorf("cluster %q is a view of a real one", name)
	}
	e.state.Store(&state{cluster: c, token: e.state.Load().token})
	e.closeConns()
	return nil
}

// RotateToken replaces the token of a cluster. The previous one is not valid anymore.
func (s *Server) RotateToken(name string) error {
	token, err := newToken()
	if err != nil {
		return err
	}
	e := s.entry(name)
	if e == nil {
		return errors.Errorf("there is no cluster %q", name)
	}
	was := e.state.Load()
	e.state.Store(&state{cluster: was.cluster, view: was.view, token: token})
	return nil
}

// Cluster returns the state of a cluster, or nil if there is none or if it is a view.
func (s *Server) Cluster(name string) *cluster.Cluster {
	if e := s.entry(name); e != nil {
		return e.state.Load().cluster
	}
	return nil
}

// Names returns the names of all clusters, sorted.
func (s *Server) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]string, 0, len(s.clusters))
	for n := range s.clusters {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (s *Server) entry(name string) *entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.clusters[name]
}

// byServerName returns the cluster that a client selects, or nil.
func (s *Server) byServerName(name string) *entry {
	label, ok := strings.CutSuffix(name, "."+Domain)
	if !ok {
		return nil
	}
	return s.entry(label)
}

// Config returns a REST config for a cluster.
func (s *Server) Config(name string) *rest.Config {
	e := s.entry(name)
	return &rest.Config{
		Host: "https://" + s.Address(), BearerToken: e.state.Load().token,
		TLSClientConfig: rest.TLSClientConfig{ServerName: name + "." + Domain, CAData: e.pki.pem()},
	}
}

// Kubeconfig returns a kubeconfig for a cluster.
func (s *Server) Kubeconfig(name string) []byte {
	e := s.entry(name)
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: fleet
contexts: [{name: fleet, context: {cluster: fleet, user: fleet}}]
users: [{name: fleet, user: {token: %s}}]
clusters:
- name: fleet
  cluster: {server: "https://%s", tls-server-name: %s.%s, certificate-authority-data: %s}
`, e.state.Load().token, s.Address(), name, Domain, base64.StdEncoding.EncodeToString(e.pki.pem()))
}

// SetFault makes a cluster fail, or work again.
func (s *Server) SetFault(name string, f Fault) error {
	e := s.entry(name)
	if e == nil {
		return errors.Errorf("there is no cluster %q", name)
	}
	var r *replacement
	if f.Mode == Replaced {
		var err error
		if r, err = newReplacement(s.options.Cluster); err != nil {
			return err
		}
		e.replacement.Store(r)
	}
	e.setFault(f, r)
	return nil
}

// Count returns the counters of a cluster, or those of all clusters together for an empty name. The latter include removed clusters.
func (s *Server) Count(name string) Count {
	if name == "" {
		return s.total.snapshot()
	}
	return s.entry(name).snapshot()
}

// ResetCounts sets all counters but those of what is open to 0.
func (s *Server) ResetCounts() {
	s.total.reset()
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, e := range s.clusters {
		e.reset()
	}
}

// CreatedInReplacement returns the objects that were created during the last fault of mode Replaced, sorted, also those that were deleted since.
func (s *Server) CreatedInReplacement(name string) []string {
	e := s.entry(name)
	if e == nil {
		return nil
	}
	r := e.replacement.Load()
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.created))
}
