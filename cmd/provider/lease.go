// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// namespaceFile contains the namespace of the pod.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	// outsideNamespace is the namespace of the lease for processes outside of a pod. It exists in every cluster.
	outsideNamespace = "default"
	// leaseDuration is the time after which another process takes over a lease that has not been renewed.
	leaseDuration = 60 * time.Second
	// renewDeadline is the time after which a leader exits if it cannot renew its lease.
	renewDeadline = 50 * time.Second
)

// leaseNamespace returns the namespace of the lease, or an empty string for the namespace of the pod.
func (f *flags) leaseNamespace() string {
	if f.leaderElectionNamespace != "" {
		return f.leaderElectionNamespace
	}
	if _, err := os.Stat(namespaceFile); err != nil {
		return outsideNamespace
	}
	return ""
}

// A lease records until when this process is the leader. A process that was suspended resumes its work before its leader
// election detects that another process is the leader. check stops it in this case. A lease is safe for concurrent use.
type lease struct {
	now func() time.Time
	// renewed is the time of the request that last renewed the lease, or nil.
	renewed atomic.Pointer[time.Time]
}

// observe returns a copy of a REST config. The lease records the requests of its clients that renew it.
func (l *lease) observe(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			// The lease begins at this time or later, when the API server receives the request.
			begun := l.now()
			resp, err := next.RoundTrip(r)
			if err == nil && r.Method != http.MethodGet && resp.StatusCode < http.StatusMultipleChoices {
				l.renewed.Store(&begun)
			}
			return resp, err
		})
	})
	return cfg
}

// check returns an error if another process might be the leader.
func (l *lease) check() error {
	renewed := l.renewed.Load()
	if renewed == nil {
		return errors.New("this process is not the leader, because it does not hold the lease")
	}
	now := l.now()
	// The monotonic clock stops while a machine is suspended, and the wall clock can be set back.
	age := max(now.Sub(*renewed), now.Round(0).Sub(renewed.Round(0)))
	if age >= leaseDuration {
		return errors.Errorf("this process might no longer be the leader, because it last renewed its lease %s ago",
			age.Round(time.Second))
	}
	return nil
}
