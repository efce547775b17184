// SPDX-License-Identifier: Apache-2.0

package connect_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var server *controlplane.Cluster

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{Name: "library"}, func(_ context.Context, c *controlplane.Cluster) error {
		server = c
		return nil
	}))
}

// restConfig returns the configuration of an administrator of a real API server.
func restConfig() *rest.Config { return server.Config() }

// settings returns a bundle of one ConfigMap.
func settings(name, namespace, configMap string) *manifest.Bundle {
	text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {greeting: hello}\n", configMap)
	return &manifest.Bundle{Name: name, Owner: "a test", Installs: []manifest.Install{
		{Layer: source.YAML([]byte(text)), Form: manifest.FormPlain, Name: "settings", Namespace: namespace},
	}}
}
