// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
)

// RunTests starts a cluster, passes it to setUp, runs the tests of a package with it, and stops it. It returns the exit code
// for TestMain, which is 1 if the cluster or setUp fails. Starting a cluster takes seconds, so the tests of a package share one.
func RunTests(m interface{ Run() int }, o Options, setUp func(context.Context, *Cluster) error) int {
	ctx := context.Background()
	c, err := Start(ctx, o)
	if err == nil {
		defer c.Stop()
		err = setUp(ctx, c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
