// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func main() {
	ctrl.SetLogger(zap.New())
	rc, err := ctrl.GetConfig()
	if err == nil {
		err = run(ctrl.SetupSignalHandler(), rc, ctrl.Options{})
	}
	if err != nil {
		ctrl.Log.Error(err, "cannot run")
		os.Exit(1)
	}
}

// run runs the operator until the context ends.
func run(ctx context.Context, rc *rest.Config, o ctrl.Options) error {
	mgr, err := ctrl.NewManager(rc, o)
	if err != nil {
		return errors.Wrap(err, "cannot make a manager")
	}
	c, err := setup(mgr, rc)
	if err != nil {
		return err
	}
	defer c.Close()
	return errors.Wrap(mgr.Start(ctx), "manager")
}
