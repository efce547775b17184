// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
)

// Options are the options of a server. The zero value is valid.
type Options struct {
	// Cluster has the options of each cluster.
	Cluster cluster.Options
	// Version is the version of Kubernetes that the clusters report. The default is v1.36.3.
	Version string
	// BookmarkEvery is the interval between bookmarks of a watch. The default is one minute.
	BookmarkEvery time.Duration
}

// A Server serves clusters. It is safe for concurrent use.
type Server struct {
	options  Options
	listener net.Listener
	http     *http.Server
	// foreign has a certificate that no client trusts.
	foreign *pki
	total   counters
	stopped chan struct{}

	mu       sync.RWMutex
	clusters map[string]*entry
	unknown  []string
}

// Start starts a server on a free port of the loopback interface.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Version == "" {
		o.Version = "v1.36.3"
	}
	if o.BookmarkEvery == 0 {
		o.BookmarkEvery = time.Minute
	}
	foreign, err := newPKI("*." + Domain)
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Wrap(err, "cannot listen")
	}
	s := &Server{options: o, listener: l, foreign: foreign, stopped: make(chan struct{}), clusters: map[string]*entry{}}
	s.http = &http.Server{
		Handler:           s,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: configFor(s), GetCertificate: certificateFor(s)},
		ErrorLog:          log.New(io.Discard, "", 0),
		ReadHeaderTimeout: time.Minute,
	}
	go func() {
		defer close(s.stopped)
		_ = s.http.ServeTLS(&listenerOf{Listener: l}, "", "") // It ends with an error always.
	}()
	return s, nil
}

// Stop closes all connections and stops the server.
func (s *Server) Stop() {
	_ = s.http.Close()
	for _, name := range s.Names() {
		e := s.entry(name)
		e.setFault(Fault{}, nil)
		e.closeConns()
	}
	<-s.stopped
}

// Address returns the host and the port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Unknown returns the calls that are not implemented, sorted. Tests check that there are none.
func (s *Server) Unknown() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(slices.Values(s.unknown))
}

func (s *Server) recordUnknown(call string) {
	const most = 1000
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unknown) < most && !slices.Contains(s.unknown, call) {
		s.unknown = append(s.unknown, call)
	}
}
