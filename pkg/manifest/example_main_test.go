// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// The servers for the examples start with the first example, so that other tests run without them.
var servers struct {
	once     sync.Once
	cluster  *controlplane.Cluster
	registry *controlplane.Registry
}

func TestMain(m *testing.M) {
	code := m.Run()
	if servers.cluster != nil {
		servers.cluster.Stop()
	}
	if servers.registry != nil {
		servers.registry.Stop()
	}
	os.Exit(code)
}

func start() {
	servers.once.Do(func() {
		var err error
		if servers.cluster, err = controlplane.Start(context.Background(), controlplane.Options{Name: "examples"}); err != nil {
			panic(err)
		}
		if servers.registry, err = controlplane.StartRegistry(controlplane.WebOptions{Username: "robot", Password: "secret"}); err != nil {
			panic(err)
		}
	})
}

// restConfig returns the configuration of an administrator of a real API server.
func restConfig() *rest.Config {
	start()
	return servers.cluster.Config()
}

func connected() *connect.Connection {
	c, err := connect.New(restConfig())
	if err != nil {
		panic(err)
	}
	return c
}

// registry returns the address of a registry that has the chart of the examples and requires a login.
func registry(ctx context.Context) string {
	start()
	chart, err := controlplane.ReadDir("testdata/greeter")
	if err != nil {
		panic(err)
	}
	if _, err := servers.registry.PushChart(ctx, "charts", chart); err != nil {
		panic(err)
	}
	return servers.registry.Host()
}

// settings returns a bundle of one ConfigMap in a namespace of the same name.
func settings(name, greeting string) *manifest.Bundle {
	text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {greeting: %s}\n", greeting)
	return &manifest.Bundle{Name: name, Owner: "an example", Installs: []manifest.Install{
		{Layer: source.YAML([]byte(text)), Form: manifest.FormPlain, Name: "settings", Namespace: name},
	}}
}

func path(namespace, name string) string {
	return "/api/v1/namespaces/" + namespace + "/configmaps/" + name
}

// get returns a ConfigMap, or nil if it does not exist.
func get(ctx context.Context, c cluster.Cluster, namespace, name string) *unstructured.Unstructured {
	b, err := c.REST().Get().AbsPath(path(namespace, name)).Do(ctx).Raw()
	if kerrors.IsNotFound(err) {
		return nil
	}
	u := &unstructured.Unstructured{}
	if err == nil {
		err = u.UnmarshalJSON(b)
	}
	if err != nil {
		panic(err)
	}
	return u
}

func greeting(ctx context.Context, c cluster.Cluster, namespace, name string) string {
	text, _, _ := unstructured.NestedString(get(ctx, c, namespace, name).Object, "data", "greeting")
	return text
}

// remove deletes a ConfigMap as another client, and waits until the watch has reported it.
func remove(ctx context.Context, c cluster.Cluster, e *manifest.Engine, s *manifest.Bundle, name string) {
	if err := c.REST().Delete().AbsPath(path(s.Name, name)).Do(ctx).Error(); err != nil {
		panic(err)
	}
	for ctx.Err() == nil {
		if seen, err := e.Check(ctx, c, s); err != nil || !seen.UpToDate {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}
