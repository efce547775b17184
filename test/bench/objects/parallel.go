// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Creators is the number of concurrent calls of Parallel.
const Creators = 8

// Parallel calls do for each number below n, a few at the same time, and returns the first error.
func Parallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Creators)
	for i := range n {
		g.Go(func() error { return do(ctx, i) })
	}
	return g.Wait()
}
