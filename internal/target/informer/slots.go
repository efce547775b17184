// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"sync"
	"time"
)

const (
	// slotTime is the maximum time that a first list holds its slot. A list that takes longer continues without one, so that a cluster
	// that hangs hardly delays the lists of other clusters.
	slotTime = 3 * time.Second
	// ownSlots is the maximum number of slots of one cache, so that a cluster with many kinds doesn't use all of them.
	ownSlots = 8
)

// slots limit how many kinds are listed for the first time at the same time. If shared is nil, there is no limit.
type slots struct {
	shared, own chan struct{}
}

// take waits for a slot, and returns a function that releases it. It returns false if the context ends.
func (s slots) take(ctx context.Context) (release func(), ok bool) {
	if s.shared == nil {
		return func() {}, true
	}
	for i, slot := range []chan struct{}{s.own, s.shared} {
		select {
		case slot <- struct{}{}:
			continue
		case <-ctx.Done():
		}
		if i > 0 {
			<-s.own
		}
		return nil, false
	}
	free := sync.OnceFunc(func() {
		<-s.shared
		<-s.own
	})
	late := time.AfterFunc(slotTime, free)
	return func() {
		late.Stop()
		free()
	}, true
}
