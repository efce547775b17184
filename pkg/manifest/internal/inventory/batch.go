// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"
	"weak"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

const (
	// batchSize is the maximum number of inventories that are read together. Clusters with more bundles read the others one by one.
	batchSize = 25
	// batchAge is how long inventories are kept for the bundles that they belong to. The bundles of a cluster are usually needed together, but after
	// a restart, with thousands of clusters, there can be minutes between them.
	batchAge = 5 * time.Minute
	// batchFresh is how long an inventory counts as current that no watch confirms, because Secrets are still being listed. It is like the
	// time between a response and its use.
	batchFresh = 2 * time.Second
	// batchMost is the maximum size of the inventories of a cluster that are kept, so that those of the clusters that are processed at the same time
	// do not displace each other, and are read again.
	batchMost = 1 << 20
	// batchBytes is the maximum size of all inventories that are kept, for a process with 2 GiB.
	batchBytes = 32 << 20
)

// Batches reads the inventories of a cluster with one request when the first of them is needed, and keeps the others for a short time. After
// a restart, a cluster therefore gets one request for all its inventories, instead of one for each. It is safe for concurrent use, also as
// a nil pointer, which reads nothing.
type Batches struct {
	// most is the maximum size of a batch.
	most int64

	mu sync.Mutex
	// by contains the batch of each connection. A cache belongs to one connection, and so to one user, who may read what is kept.
	by *bytelru.Cache[cluster.Cache, *batch]
}

// NewBatches returns an empty Batches.
func NewBatches() *Batches {
	return &Batches{most: batchMost, by: bytelru.New[cluster.Cache, *batch]("inventories", bytelru.Scaled(batchBytes))}
}

// A batch contains inventories that no bundle has taken yet.
type batch struct {
	read sync.Once
	// begun is the time at which the request was sent.
	begun time.Time

	// mu is locked before that of Batches.
	mu sync.Mutex
	// parents contains the JSON of the parents, which takes a quarter of the memory of what it is decoded to.
	parents map[string]json.RawMessage
}

// take returns the parent of a store, or nil if it must be requested. Its version must be the given one. If that is empty, the parent must have
// been read just now. take waits while another bundle reads the batch.
func (b *Batches) take(ctx context.Context, s *Store, version string) *unstructured.Unstructured {
	if b == nil {
		return nil
	}
	of := b.of(s.Cache)
	of.read.Do(func() { b.fill(ctx, of, s) })
	u := b.remove(of, s)
	switch {
	case u == nil || u.GetNamespace() != s.Ref.Namespace,
		version == "" && time.Since(of.begun) > batchFresh,
		version != "" && u.GetResourceVersion() != version:
		return nil
	}
	return u
}

// remove removes the parent of a store from a batch, and returns it, or nil.
func (b *Batches) remove(of *batch, s *Store) *unstructured.Unstructured {
	of.mu.Lock()
	defer of.mu.Unlock()
	item, ok := of.parents[s.Ref.Name]
	if !ok {
		return nil
	}
	delete(of.parents, s.Ref.Name)
	b.resize(of, s.Cache)
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(item, &u.Object); err != nil {
		return nil
	}
	u.SetGroupVersionKind(ssa.SecretKind) // API servers omit it in lists.
	return u
}

// resize makes a batch that is still kept count with the size of its parents. The caller holds the lock of the batch.
func (b *Batches) resize(of *batch, c cluster.Cache) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now, ok := b.by.Get(c); ok && now == of {
		b.by.AddSized(c, of, bytelru.SizeOf(of.parents, batchBytes))
	}
}

// of returns the batch of a connection. After batchAge, the connection gets a new one.
func (b *Batches) of(c cluster.Cache) *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of, ok := b.by.Get(c); ok {
		return of
	}
	of := &batch{}
	b.by.AddSized(c, of, 0)
	// The timer must not keep a batch in memory that was displaced.
	added := weak.Make(of)
	time.AfterFunc(batchAge, func() { b.forget(added, c) })
	return of
}

// forget removes a batch, unless the connection has another one.
func (b *Batches) forget(of weak.Pointer[batch], c cluster.Cache) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now, ok := b.by.Get(c); ok && now == of.Value() {
		b.by.Remove(c)
	}
}

// fill reads a batch. If it cannot be read, for example because it is too large, it is empty: the request for one inventory, which follows,
// has an error of its own.
func (b *Batches) fill(ctx context.Context, of *batch, s *Store) {
	of.begun = time.Now()
	list := &struct {
		Items []json.RawMessage `json:"items"`
	}{}
	params := map[string]string{
		"labelSelector": object.LabelApplySetID + "," + object.LabelManagedBy + "=" + s.Identity.ManagedBy, "limit": strconv.Itoa(batchSize),
	}
	secrets := cluster.Mapping{Resource: "secrets", Namespaced: true}
	if err := s.Client.ListJSON(ctx, ssa.SecretKind, secrets, s.Ref.Namespace, params, list); err != nil {
		return
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.parents = make(map[string]json.RawMessage, len(list.Items))
	for _, item := range list.Items {
		o := struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}{}
		if json.Unmarshal(item, &o) == nil {
			of.parents[o.Metadata.Name] = item
		}
	}
	if bytelru.SizeOf(of.parents, batchBytes) > b.most {
		of.parents = map[string]json.RawMessage{s.Ref.Name: of.parents[s.Ref.Name]}
	}
	b.resize(of, s.Cache)
}
