// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"slices"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

const (
	// period is the time between two rounds. In each, a replica renews its Lease and reads those of the others.
	period = 2 * time.Second
	// requestTime is the timeout of a request for a Lease.
	requestTime = 2 * time.Second
	// endTime is the maximum time that the end of a replica waits for its work.
	endTime = 20 * time.Second
)

// Leases are the Leases of a namespace, which a client of client-go provides. List must not read from a cache.
type Leases interface {
	List(ctx context.Context, o metav1.ListOptions) (*coordinationv1.LeaseList, error)
	Create(ctx context.Context, l *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error)
	Update(ctx context.Context, l *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error)
	Delete(ctx context.Context, name string, o metav1.DeleteOptions) error
}

// Options are the options of a Manager.
type Options struct {
	// Count is the number of shards. All replicas must have the same.
	Count int
	// Shards contains the shards that the replica can hold. If it is nil, the replica can hold all shards.
	Shards map[int]bool
	// Name is a name of the replica for people, such as the name of its pod.
	Name string
	Log  logging.Logger
}

// A Manager makes a replica a member, and takes shards for it.
type Manager struct {
	options Options
	leases  Leases
	owner   *Owner
	now     func() time.Time
	// self is the Lease of the replica as it was written last, or nil before it is a member.
	self *coordinationv1.Lease
	// joined is true after the first round as a member. Replicas that start at the same time thus know each other before they take shards.
	joined bool
	watch  observer
	// given contains the shards that the replica has begun to give away, with channels that are closed when the work in them has ended.
	given map[int]<-chan struct{}
	wake  chan struct{}
}

// NewManager returns a Manager that reports the shards to an Owner.
func NewManager(l Leases, owner *Owner, o Options) *Manager {
	return &Manager{
		options: o, leases: l, owner: owner, now: time.Now, given: map[int]<-chan struct{}{}, wake: make(chan struct{}, 1),
		watch: observer{seen: map[string]observation{}},
	}
}

// Start takes and gives away shards until the context is done. It then waits until the work in the shards has ended, and leaves.
func (m *Manager) Start(ctx context.Context) error {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		m.round(ctx)
		select {
		case <-ctx.Done():
			m.leave(context.WithoutCancel(ctx))
			return nil
		case <-t.C:
		case <-m.wake:
		}
	}
}

// round renews the Lease of the replica, reads all Leases, and takes and gives away shards.
func (m *Manager) round(ctx context.Context) {
	if err := m.renew(ctx); err != nil {
		m.options.Log.Info("Cannot renew the Lease of this replica, retrying", "error", err)
		return
	}
	state, err := m.read(ctx)
	if err != nil {
		m.options.Log.Info("Cannot list the Leases of replicas and shards, retrying", "error", err)
		return
	}
	if m.self == nil || !m.joined {
		m.joined = m.self != nil
		return
	}
	next := Next(m.self.Name, m.options.Count, state.members, state.holders())
	m.endTenures(next.Give)
	m.owner.gain(state.heldBy(m.self.Name)...)
	for _, s := range next.Give {
		m.give(ctx, s, state.shards[s])
	}
	var taken []int
	for _, s := range next.Take {
		if m.take(ctx, s, state.shards[s]) {
			taken = append(taken, s)
		}
	}
	m.owner.gain(taken...)
}

// renew renews the Lease of the replica, or creates one.
func (m *Manager) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	// The Lease begins at this time or later, when the API server receives the request.
	begun := m.now()
	var l *coordinationv1.Lease
	var err error
	if m.self == nil {
		l, err = m.leases.Create(ctx, memberLease(&m.options, begun), metav1.CreateOptions{})
	} else {
		l = m.self.DeepCopy()
		l.Spec.RenewTime = &metav1.MicroTime{Time: begun}
		l, err = m.leases.Update(ctx, l, metav1.UpdateOptions{})
	}
	switch {
	case notfound.Is(err):
		m.fail("another replica declared this one dead")
		return nil
	case kerrors.IsConflict(err):
		// Only this replica updates its Lease, so the response of an earlier update was lost. read gets the current version.
		return nil
	case err != nil:
		return errors.Wrap(err, "cannot write the Lease of this replica")
	}
	m.self = l
	m.owner.renew(begun)
	return nil
}

// fail gives up all shards without another write, because other replicas may hold them. The replica becomes a member again under another
// name.
func (m *Manager) fail(why string) {
	m.options.Log.Info("Stopping the work in all shards", "reason", why, "shards", m.owner.Held())
	m.self, m.joined = nil, false
	clear(m.given)
	m.owner.lose(m.owner.Held()...)
}

// read reads all Leases, and deletes those of dead members.
func (m *Manager) read(ctx context.Context) (*state, error) {
	listing, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	l, err := m.leases.List(listing, metav1.ListOptions{LabelSelector: labelRole})
	if err != nil {
		return nil, errors.Wrap(err, "cannot list Leases")
	}
	s := stateOf(l.Items)
	if m.self != nil {
		listed := s.leases[m.self.Name]
		if listed == nil || listed.UID != m.self.UID {
			m.fail("the Lease of this replica no longer exists")
			return s, nil
		}
		if listed.ResourceVersion != m.self.ResourceVersion {
			m.next()
		}
		m.self = listed
	}
	for _, name := range m.watch.dead(m.now(), s.leases) {
		if m.self != nil && name == m.self.Name {
			continue
		}
		dead := s.leases[name]
		err := m.leases.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &dead.UID, ResourceVersion: &dead.ResourceVersion}})
		if err != nil && !notfound.Is(err) {
			m.options.Log.Info("Cannot delete the Lease of a replica that is not alive", "replica", name, "error", err)
			continue
		}
		m.options.Log.Info("A replica is no longer alive", "replica", name)
		s.remove(name)
	}
	return s, nil
}

// give ends the work in a shard, and releases it in the round after the work has ended.
func (m *Manager) give(ctx context.Context, shard int, l *coordinationv1.Lease) {
	done, ok := m.given[shard]
	if !ok {
		done = m.owner.give(shard)
		m.given[shard] = done
		go func() {
			<-done
			m.next()
		}()
	}
	select {
	case <-done:
	default:
		return
	}
	delete(m.given, shard)
	m.owner.lose(shard)
	l = l.DeepCopy()
	l.Spec.HolderIdentity = nil
	if err := m.write(ctx, l); err != nil {
		m.options.Log.Info("Cannot release a shard, retrying", "shard", shard, "error", err)
		return
	}
	m.options.Log.Info("Released a shard", "shard", shard)
}

// endTenures ends the tenures of shards that the replica had begun to give away, and that it no longer has to give, after the work in
// them has ended. The replica then gains those whose Leases still name it, so that it works in them again.
func (m *Manager) endTenures(give []int) {
	for shard, done := range m.given {
		if slices.Contains(give, shard) {
			continue
		}
		select {
		case <-done:
			delete(m.given, shard)
			m.owner.lose(shard)
		default:
		}
	}
}

// next requests a round as soon as possible.
func (m *Manager) next() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take takes a free shard, and reports whether it did. Another replica may be faster.
func (m *Manager) take(ctx context.Context, shard int, l *coordinationv1.Lease) bool {
	now := metav1.NewMicroTime(m.now())
	if l == nil {
		l = shardLease(shard)
	}
	l = l.DeepCopy()
	transitions := int32(0)
	if t := l.Spec.LeaseTransitions; t != nil {
		transitions = *t + 1
	}
	l.Spec.HolderIdentity, l.Spec.AcquireTime, l.Spec.LeaseTransitions = &m.self.Name, &now, &transitions
	switch err := m.write(ctx, l); {
	case kerrors.IsConflict(err), kerrors.IsAlreadyExists(err):
		return false
	case err != nil:
		m.options.Log.Info("Cannot take a shard, retrying", "shard", shard, "error", err)
		return false
	}
	m.options.Log.Info("Took a shard", "shard", strconv.Itoa(shard))
	return true
}

func (m *Manager) write(ctx context.Context, l *coordinationv1.Lease) (err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	if l.ResourceVersion == "" {
		_, err = m.leases.Create(ctx, l, metav1.CreateOptions{})
		return err //nolint:wrapcheck // The caller reads its reason.
	}
	_, err = m.leases.Update(ctx, l, metav1.UpdateOptions{})
	return err //nolint:wrapcheck // The caller reads its reason.
}

// leave waits until the work in all shards has ended, and deletes the Lease of the replica, which makes its shards free. If the work does
// not end in time, the Lease stays until another replica deletes it.
func (m *Manager) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	ended := make(chan struct{})
	var work []<-chan struct{}
	for _, s := range m.owner.Held() {
		work = append(work, m.owner.give(s))
	}
	go func() {
		for _, done := range work {
			<-done
		}
		close(ended)
	}()
	if !m.renewUntil(ctx, ended) || m.self == nil {
		return
	}
	m.owner.lose(m.owner.Held()...)
	err := m.leases.Delete(ctx, m.self.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &m.self.UID}})
	if err != nil && !notfound.Is(err) {
		m.options.Log.Info("Cannot delete the Lease of this replica", "error", err)
	}
}

// renewUntil renews the Lease of the replica until the work has ended. It returns false if the context ends first.
func (m *Manager) renewUntil(ctx context.Context, ended <-chan struct{}) bool {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-ended:
			return true
		case <-ctx.Done():
			return false
		case <-t.C:
			if err := m.renew(ctx); err != nil {
				m.options.Log.Info("Cannot renew the Lease of this replica, retrying", "error", err)
			}
		}
	}
}
