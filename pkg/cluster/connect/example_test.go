// SPDX-License-Identifier: Apache-2.0

package connect_test

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A small controller is notified of a change by another client and repairs it.
func ExampleNew() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	changes := make(chan string, 1)
	c, err := connect.New(restConfig(), connect.WithOnChange(func(bundle string, _ cluster.ObjectRef, _, _ *cluster.ObjectState) {
		select {
		case changes <- bundle:
		default: // It is already in the queue.
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	engine, bundle := manifest.New(), settings("example-change", "example-change", "settings")
	seen, err := engine.Install(ctx, c, bundle, manifest.Wait())
	fmt.Println(seen.State, err)

	// Another client deletes the object.
	path := "/api/v1/namespaces/example-change/configmaps/settings"
	fmt.Println(c.REST().Delete().AbsPath(path).Do(ctx).Error())

	select {
	case id := <-changes:
		fmt.Println("the bundle changed:", id == engine.ID(bundle))
	case <-ctx.Done():
		fmt.Println(ctx.Err())
	}
	seen, err = engine.Install(ctx, c, bundle)
	fmt.Println(seen.State, err)
	// Output:
	// Ready <nil>
	// <nil>
	// the bundle changed: true
	// Ready <nil>
}
