// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"context"
	"runtime/debug"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/semaphore"
)

const (
	// small is the estimated size up to which a response, or all responses of a holder together, do not count in the budget.
	small = 1 << 20

	// leastBudget and mostBudget bound the budget of Scaled, which is the memory limit of the process divided by share.
	leastBudget, mostBudget = 64 << 20, 1 << 30
	share                   = 4

	// rawShare is the part of the budget for the bytes of responses that are not complete yet.
	rawShare = 4
)

// These are the errors of a budget.
var (
	// ErrTooLarge means that a response becomes larger than the whole budget.
	ErrTooLarge = errors.New("the response is too large to read or decode")
	// ErrBusy means that a response did not arrive in time while others waited for its memory, or that a second response had to
	// wait.
	ErrBusy = errors.New("too many large responses are being read or decoded at the same time")
)

// A Budget bounds the size of all responses that are read or decoded at the same time. It is safe for concurrent use.
//
// It has two parts. Incoming bytes count in the first part, in which a slow response makes room for one that waits. When a response is
// complete, it waits for the second part, which no one holds while it waits for a network. Therefore, a server that sends slowly does
// not delay others, and no two responses wait for each other.
type Budget struct {
	raw      *raw
	decoding *semaphore.Weighted
	most     int64
}

// New returns a budget of a number of bytes.
func New(size int64) *Budget {
	rest := size - size/rawShare
	return &Budget{raw: newRaw(size/rawShare, size/rawShare/2, patience, ErrBusy), decoding: semaphore.NewWeighted(rest), most: rest}
}

// Scaled returns a budget of a quarter of the memory limit of the process, but at least 64 MiB and at most 1 GiB.
func Scaled() *Budget {
	return New(min(max(debug.SetMemoryLimit(-1)/share, leastBudget), mostBudget))
}

// Response returns the maximum number of bytes of one response. Two responses of this size fit into the budget while they are read.
func (b *Budget) Response() int64 { return b.raw.size/2 - 1 }

// acquire waits until the budget has room for content, and returns a function that releases it. Small content does not
// count, unless its holder has much of it.
func (b *Budget) acquire(ctx context.Context, s *Source, content []byte) (func(), error) {
	h, size := holderOf(ctx), Estimate(s.ContentType, content)
	if size > b.most {
		return nil, ErrTooLarge
	}
	due := h.due(size, s.Failed)
	if due == 0 {
		return func() {}, nil
	}
	release, err := h.acquire(ctx, b.decoding, min(due, b.most), s.Failed)
	if err != nil {
		h.undo(due - size)
	}
	return release, err
}
