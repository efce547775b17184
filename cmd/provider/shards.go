// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/shard"
)

const (
	// maxShards is the maximum value of --shards. Each shard is a Lease, which all replicas list every two seconds.
	maxShards = 256
	// shareRetry is the interval at which all replicas renew the lease that they share.
	shareRetry = 5 * time.Second
)

// A leadership decides what this process may write.
type leadership struct {
	*lease

	// owner knows the shards that this process holds. It is nil if all objects belong to the leader.
	owner *shard.Owner
	// shards decides which objects the controllers reconcile. It is nil like owner.
	shards *sharding.Shards
}

// newLeadership returns the leadership of a process with these flags.
func newLeadership(f *flags) *leadership {
	l := &leadership{lease: &lease{now: time.Now}}
	if f.isSharded() {
		l.owner = shard.NewOwner()
	}
	return l
}

// checkWork returns an error if the work of a context must not change a target cluster any longer.
func (l *leadership) checkWork(ctx context.Context) error {
	if err := l.check(); err != nil || l.owner == nil {
		return err
	}
	return l.owner.CheckWork(ctx) //nolint:wrapcheck // It is an error of this process.
}

// fence wraps a transport to the control plane. It refuses writes of work in a shard that this process no longer holds.
func (l *leadership) fence(next http.RoundTripper) http.RoundTripper {
	if l.owner == nil {
		return next
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			if err := l.owner.Check(r.Context()); err != nil {
				return nil, err //nolint:wrapcheck // It is an error of this process.
			}
		}
		return next.RoundTrip(r)
	})
}

// isSharded reports whether several replicas divide the work.
func (f *flags) isSharded() bool { return f.shards > 1 }

// validateShards returns an error if the flags for shards are invalid.
func (f *flags) validateShards() error {
	if f.shards < 1 || f.shards > maxShards {
		return errors.Errorf("--shards must be from 1 to %d, not %d", maxShards, f.shards)
	}
	if f.isSharded() && !f.leaderElection {
		return errors.New("--shards requires --leader-election")
	}
	_, err := f.selectedShards()
	return errors.Wrap(err, "--shard-selector")
}

// selectedShards returns the shards that this replica can hold, or nil if it can hold all.
func (f *flags) selectedShards() (map[int]bool, error) {
	if f.shardSelector == "" {
		return nil, nil //nolint:nilnil // There is no selection.
	}
	out := map[int]bool{}
	for part := range strings.SplitSeq(f.shardSelector, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || a < 0 || b < a || b >= f.shards {
			return nil, errors.Errorf("must list shards from 0 to %d, such as 0,3-5, not %q", f.shards-1, part)
		}
		for n := a; n <= b; n++ {
			out[n] = true
		}
	}
	return out, nil
}

// currentLeaseNamespace returns the namespace of all leases.
func (f *flags) currentLeaseNamespace() (string, error) {
	if ns := f.leaseNamespace(); ns != "" {
		return ns, nil
	}
	b, err := os.ReadFile(namespaceFile)
	return strings.TrimSpace(string(b)), errors.Wrap(err, "cannot read the namespace of the pod")
}

// shareLease makes all replicas with the same number of shards hold the lease of the leader together. Replicas with another number wait
// until it expires, because they divide the work differently. No replica releases it, because others may hold it.
func shareLease(o *ctrl.Options, f *flags) error {
	if !f.isSharded() {
		return nil
	}
	ns, err := f.currentLeaseNamespace()
	if err != nil {
		return err
	}
	c, err := coordinationv1.NewForConfig(o.LeaderElectionConfig)
	if err != nil {
		return errors.Wrap(err, "cannot create the client for leases")
	}
	lock := &resourcelock.LeaseLock{Client: c, LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("replicas with --shards=%d", f.shards)}}
	lock.LeaseMeta.Namespace, lock.LeaseMeta.Name = ns, leaderElectionID
	retry := shareRetry
	o.LeaderElectionResourceLockInterface, o.LeaderElectionReleaseOnCancel, o.RetryPeriod = lock, false, &retry
	return nil
}

// manageShards makes this process take shards while the manager runs. It does nothing if there is only one.
func (l *leadership) manageShards(mgr ctrl.Manager, f *flags, m *metrics.Metrics, log logging.Logger) error {
	if l.owner == nil {
		return nil
	}
	selected, err := f.selectedShards()
	if err != nil {
		return err
	}
	ns, err := f.currentLeaseNamespace()
	if err != nil {
		return err
	}
	// The requests of this client do not count as renewals of the lease that all replicas share.
	c, err := coordinationv1.NewForConfig(rest.CopyConfig(mgr.GetConfig()))
	if err != nil {
		return errors.Wrap(err, "cannot create the client for leases")
	}
	name, err := os.Hostname()
	if err != nil {
		return errors.Wrap(err, "cannot get the name of the host")
	}
	o := shard.Options{Count: f.shards, Shards: selected, Name: name, Log: log}
	log.Info("Dividing the work into shards", "shards", f.shards, "selected", slices.Sorted(maps.Keys(selected)))
	l.shards = sharding.New(l.owner, mgr.GetCache(), f.shards, log)
	l.shards.OnChange(func() { m.Shards.Set(float64(len(l.owner.Held()))) })
	return errors.Wrap(mgr.Add(shard.NewManager(c.Leases(ns), l.owner, o)), "cannot set up the shards")
}
