// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// fakeLeases are the Leases of an API server.
type fakeLeases struct {
	mu      sync.Mutex
	version int
	by      map[string]*coordinationv1.Lease
}

func (f *fakeLeases) next() string {
	f.version++
	return strconv.Itoa(f.version)
}

// of returns the Leases as a replica sees them.
func (f *fakeLeases) of(r *replica) Leases { return &connection{fakeLeases: f, replica: r} }

// connection is the connection of a replica to the API server.
type connection struct {
	*fakeLeases

	replica *replica
}

var errUnavailable = errors.New("the API server does not respond")

func (c *connection) lock() (func(), error) {
	time.Sleep(10 * time.Millisecond)
	c.mu.Lock()
	if c.replica.cut {
		c.mu.Unlock()
		return nil, errUnavailable
	}
	return c.mu.Unlock, nil
}

func (c *connection) List(context.Context, metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	unlock, err := c.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	out := &coordinationv1.LeaseList{}
	for _, l := range c.by {
		out.Items = append(out.Items, *l.DeepCopy())
	}
	return out, nil
}

func (c *connection) Create(_ context.Context, l *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	unlock, err := c.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c.by[l.Name] != nil {
		return nil, kerrors.NewAlreadyExists(coordinationv1.Resource("leases"), l.Name)
	}
	l = l.DeepCopy()
	l.ResourceVersion = c.next()
	l.UID = types.UID("uid-" + l.ResourceVersion)
	c.by[l.Name] = l
	return l.DeepCopy(), nil
}

func (c *connection) Update(_ context.Context, l *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	unlock, err := c.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	switch is := c.by[l.Name]; {
	case is == nil:
		return nil, kerrors.NewNotFound(coordinationv1.Resource("leases"), l.Name)
	case is.ResourceVersion != l.ResourceVersion:
		return nil, kerrors.NewConflict(coordinationv1.Resource("leases"), l.Name, nil)
	}
	l = l.DeepCopy()
	l.ResourceVersion = c.next()
	c.by[l.Name] = l
	if c.replica.deaf {
		c.replica.deaf = false
		return nil, errUnavailable
	}
	return l.DeepCopy(), nil
}

func (c *connection) Delete(_ context.Context, name string, o metav1.DeleteOptions) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	is := c.by[name]
	if is == nil {
		return kerrors.NewNotFound(coordinationv1.Resource("leases"), name)
	}
	if v := o.Preconditions.ResourceVersion; v != nil && *v != is.ResourceVersion || *o.Preconditions.UID != is.UID {
		return kerrors.NewConflict(coordinationv1.Resource("leases"), name, nil)
	}
	delete(c.by, name)
	return nil
}
