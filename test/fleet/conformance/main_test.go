// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"net/http"
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
)

// A side is one of the two servers.
type side struct {
	host string
	// anonymous sends no credentials.
	client, anonymous *http.Client
}

// options are those of simulated clusters. The real server has no controller manager either.
var options = apiserver.Options{Cluster: cluster.Options{History: 1000, NoControllers: true}}

// All tests share the servers, because starting a real one is slow.
var (
	actual, simulated side
	simulator         *apiserver.Server
	backend           *apiserver.Backend
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{Name: "fleet"}, func(ctx context.Context, c *controlplane.Cluster) error {
		var err error
		if simulator, err = apiserver.Start(ctx, options); err != nil {
			return err
		}
		if err := simulator.AddCluster("c1"); err != nil {
			return err
		}
		if backend, err = apiserver.NewBackend(c.Config()); err != nil {
			return err
		}
		if actual, err = sideOf(c.Config()); err != nil {
			return err
		}
		simulated, err = sideOf(simulator.Config("c1"))
		return err
	}))
}

func sideOf(config *rest.Config) (side, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return side{}, errors.Wrap(err, "cannot create a client")
	}
	anonymous, err := rest.HTTPClientFor(rest.AnonymousClientConfig(config))
	return side{host: config.Host, client: client, anonymous: anonymous}, errors.Wrap(err, "cannot create a client")
}
