// SPDX-License-Identifier: Apache-2.0

package cached

import (
	"context"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Informers has an informer for each kind of object, such as the cache of a manager.
type Informers interface {
	GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error)
}

// A Kind reads the objects of one kind from a cache.
type Kind[T client.Object] struct {
	informers Informers
	empty     T
}

// Of returns the kind of an object that can be empty.
func Of[T client.Object](i Informers, empty T) *Kind[T] { return &Kind[T]{informers: i, empty: empty} }

// Index adds an index with the values that a function returns for an object. Unlike that of a client, it contains each object once, and not
// once more for its namespace.
func (k *Kind[T]) Index(ctx context.Context, name string, valuesOf func(T) []string) error {
	_, i, err := k.informer(ctx, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	return errors.Wrapf(i.AddIndexers(toolscache.Indexers{name: func(o any) ([]string, error) {
		if of, ok := o.(T); ok {
			return valuesOf(of), nil
		}
		return nil, nil // A cache has objects of one type.
	}}), "cannot index by %s", name)
}

// Objects returns the objects when the cache has received them all. It returns an error if the context is done before, or if the cache has not been
// started.
func (k *Kind[T]) Objects(ctx context.Context) (Objects[T], error) {
	informer, i, err := k.informer(ctx)
	switch {
	case err != nil:
		return Objects[T]{}, err
	case !informer.HasSynced():
		// Without objects, a rollout would be complete.
		return Objects[T]{}, errors.Errorf("the cache of %T has not been started", k.empty)
	}
	return Objects[T]{i}, nil
}

func (k *Kind[T]) informer(ctx context.Context, opts ...cache.InformerGetOption) (cache.Informer, toolscache.Indexer, error) {
	i, err := k.informers.GetInformer(ctx, k.empty, opts...)
	if err != nil {
		return nil, nil, errors.Wrapf(err, "cannot watch %T", k.empty)
	}
	indexed, ok := i.(interface{ GetIndexer() toolscache.Indexer })
	if !ok {
		return nil, nil, errors.Errorf("the cache of %T has no indexer, but is a %T", k.empty, i)
	}
	return i, indexed.GetIndexer(), nil
}

// Objects are the objects of a Kind. They belong to the cache, so callers must not change them. It is safe for concurrent use.
type Objects[T client.Object] struct {
	indexer toolscache.Indexer
}

// NewObjects returns the objects in an indexer.
func NewObjects[T client.Object](i toolscache.Indexer) Objects[T] { return Objects[T]{i} }

// All returns all objects, in any order.
func (o Objects[T]) All() []T { return typed[T](o.indexer.List()) }

// By returns the objects with a value in an index, in any order.
func (o Objects[T]) By(index, value string) ([]T, error) {
	all, err := o.indexer.ByIndex(index, value)
	return typed[T](all), errors.Wrapf(err, "cannot list by %s", index)
}

// Get returns an object by its name, and its namespace if it has one.
func (o Objects[T]) Get(namespace, name string) (found T, ok bool) {
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	// The error is always nil.
	if got, exists, err := o.indexer.GetByKey(key); err == nil && exists {
		found, ok = got.(T)
	}
	return found, ok
}

// typed returns the objects of a list.
func typed[T client.Object](all []any) []T {
	out := make([]T, 0, len(all))
	for _, a := range all {
		if o, ok := a.(T); ok {
			out = append(out, o)
		}
	}
	return out
}
