// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

func printThingsToTry(ctx context.Context, e *environment) error {
	kubectl, err := tools.Path(ctx, tools.Kubectl)
	if err != nil {
		return err
	}
	helm, err := tools.Path(ctx, tools.Helm)
	if err != nil {
		return err
	}
	text := strings.NewReplacer(
		"CONTROL", e.control.KubeconfigFile(), "TARGET", e.target.KubeconfigFile(),
		"KUBECTL", kubectl, "HELM", helm, "LOG", e.provider.LogFile(),
	).Replace(`
Everything is Ready. In another terminal:

  alias control='KUBECTL --kubeconfig CONTROL -n team-a'
  alias target='KUBECTL --kubeconfig TARGET -n hello-system'
  alias helm='HELM --kubeconfig TARGET'

  control get manifests            # what is installed, and whether it works
  target get deployments -A        # where it runs
  helm list -A                     # Helm sees the same releases

Three things to try:

1. Break something in the target. It comes back, and the Manifest says what differed:

     target delete deployment hello
     target get deployment hello -w
     control describe manifest hello

2. Change a value in the control plane, to something good and to something the chart refuses:

     values() { control patch manifest hello --type json \
       -p '[{"op": "replace", "path": "/spec/forProvider/installs/0/values", "value": '"$1"'}]'; }
     values '{"replicas": 4}'
     values '{"replicas": "many"}'
     control get manifest hello -o yaml

3. Remove a module. All of it goes, and nothing else:

     control delete manifest crossplane
     target get all -n crossplane-system

The provider's log is LOG.
Ctrl-C stops everything.`)
	_, _ = fmt.Fprintln(os.Stdout, text)
	return nil
}

func printBare(e *environment) {
	sayf("the control plane and the provider run")
	sayf("  export KUBECONFIG=%s", e.control.KubeconfigFile())
	sayf("  the provider's log: %s", e.provider.LogFile())
	sayf("  an empty registry, plain http: %s", e.registry.Host())
	sayf("Ctrl-C stops everything")
}
