// SPDX-License-Identifier: Apache-2.0

package readyourwrites

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxWritten is the number of objects whose last written version is kept.
const maxWritten = 50_000

// These constants bound the wait for the cache, which receives a write within milliseconds.
const (
	attempts = 50
	pause    = 2 * time.Millisecond
)

// A Client reads its own writes.
type Client struct {
	client.Client

	// written contains the resource version of the last write of this client to each object, by UID.
	written *lru.Cache
}

// New returns a client that reads and writes through c.
func New(c client.Client) *Client {
	return &Client{Client: c, written: lru.New(maxWritten)}
}

// Get gets an object. It waits up to 100 ms until the cache has the last write of this client.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	for i := 0; i < attempts && err == nil && c.isStale(obj) && sleep(ctx); i++ {
		err = c.Client.Get(ctx, key, obj, opts...)
	}
	return err
}

// IsCurrent reports whether an object is known to be no older than the last write of this client.
func (c *Client) IsCurrent(obj client.Object) bool {
	order, ok := c.compare(obj)
	return ok && order >= 0
}

// isStale reports whether an object is known to be older than the last write of this client.
func (c *Client) isStale(obj client.Object) bool {
	order, ok := c.compare(obj)
	return ok && order < 0
}

// compare compares the version of an object with that of the last write of this client. order is negative for an older
// object, and positive for one that another client has written since. ok is false if the versions cannot be compared: they
// differ, and one of them is not a number.
func (c *Client) compare(obj client.Object) (order int, ok bool) {
	last, known := c.written.Get(obj.GetUID())
	if !known || last == obj.GetResourceVersion() {
		return 0, true
	}
	written, _ := last.(string)
	want, err := strconv.ParseUint(written, 10, 64)
	if err != nil {
		return 0, false
	}
	have, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	return cmp.Compare(have, want), err == nil
}

// sleep waits until the next attempt. It returns false if the context ends first.
func sleep(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// Update updates an object.
func (c *Client) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	return c.remember(obj, c.Client.Update(ctx, obj, opts...))
}

// Patch patches an object.
func (c *Client) Patch(ctx context.Context, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
	return c.remember(obj, c.Client.Patch(ctx, obj, p, opts...))
}

// Apply applies an object.
func (c *Client) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	err := c.Client.Apply(ctx, obj, opts...)
	if o, ok := obj.(client.Object); ok {
		return c.remember(o, err)
	}
	return err
}

// Status returns a writer of the status.
func (c *Client) Status() client.SubResourceWriter {
	return &writer{SubResourceWriter: c.Client.Status(), client: c}
}

// A writer updates the status of objects, and records the versions that it writes.
type writer struct {
	client.SubResourceWriter

	client *Client
}

// Update updates the status.
func (w *writer) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return w.client.remember(obj, w.SubResourceWriter.Update(ctx, obj, opts...))
}

// remember records the version of an object that was written, and returns the error of the write.
func (c *Client) remember(obj client.Object, err error) error {
	if err == nil {
		c.written.Add(obj.GetUID(), obj.GetResourceVersion())
	}
	return err
}
