// SPDX-License-Identifier: Apache-2.0

package crashes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/forward"
)

// These servers are shared, because starting them is slow.
var (
	control   client.WithWatch
	entrance  *gate
	simulator *apiserver.Server
	registry  *controlplane.Registry
	// dir is the directory of the provider, which has the binary and a kubeconfig of the gate.
	dir    string
	binary string
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	log.SetLogger(logr.Discard())
	var err error
	if dir, err = os.MkdirTemp("", "provider-kyma-crashes-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return controlplane.RunTests(m, controlplane.Options{Name: "control-plane"}, setUp)
}

// setUp starts everything but the provider and the control plane.
func setUp(ctx context.Context, c *controlplane.Cluster) error {
	root, err := tools.Root()
	if err != nil {
		return err
	}
	if err := c.InstallCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}
	if control, err = c.Client(); err != nil {
		return err
	}
	if err := control.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return errors.Wrap(err, "cannot create the namespace")
	}
	if entrance, err = newGate(c.Config()); err != nil {
		return err
	}
	if err := forward.WriteKubeconfig(filepath.Join(dir, "kubeconfig"), entrance.URL); err != nil {
		return err
	}
	if simulator, err = apiserver.Start(ctx, apiserver.Options{}); err != nil {
		return err
	}
	if registry, err = controlplane.StartRegistry(controlplane.WebOptions{}); err != nil {
		return err
	}
	binary, err = controlplane.BuildProvider(ctx, dir)
	return err
}
