// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// thingsToTry has names in capitals for what is not the same each time.
const thingsToTry = `
Everything is Ready. In another terminal:

  alias control='KUBECTL --kubeconfig CONTROL -n team-a'
  alias target='KUBECTL --kubeconfig TARGET'
  alias helm='HELM --kubeconfig TARGET'

  control get moduletemplates      # which version of a module each channel has
  control get kymas,manifests      # which modules are installed, and whether they work
  target get deployments -A        # where they run
  target get samples,greetings     # the modules' own resources, whose state counts too
  helm list -A                     # Helm sees the same releases

Things to try:

1. Break something in the target. It comes back, and the Manifest says what differed:

     target delete deployment greeter
     target get deployment greeter -w
     control describe manifest default-greeter

2. Make a module unhappy. The Kyma says which one, and why, until the text is back:

     target patch greeting greeter --type merge -p '{"spec": {"text": ""}}'
     control get kymas default -o wide
     target patch greeting greeter --type merge -p '{"spec": {"text": "Hello again"}}'

3. Switch to the channel with newer versions, and back. The way back is refused until it is meant:

     control patch kymas default --type merge -p '{"spec": {"forProvider": {"channel": "fast"}}}'
     control get manifests -w
     control patch kymas default --type merge -p '{"spec": {"forProvider": {"channel": "regular"}}}'
     control get kymas default -o wide
     control annotate kymas default DOWNGRADE

4. Change a value in the control plane, to something good and to something the chart refuses:

     values() { control patch manifest hello --type json \
       -p '[{"op": "replace", "path": "/spec/forProvider/installs/0/values", "value": '"$1"'}]'; }
     values '{"replicas": 4}'
     values '{"replicas": "many"}'
     control get manifest hello -o wide

5. Disable a module. All of it goes, and nothing else:

     control patch kymas default --type merge -p '{"spec": {"forProvider": {"modules": [{"name": "template-operator"}]}}}'
     target get deployments -A

6. Delete the Kyma. Its modules leave the target before it goes:

     control delete kymas default
     control get manifests

The provider's log is LOG.
Ctrl-C stops everything.`

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
		"DOWNGRADE", v1alpha1.AnnotationAllowDowngrade+"="+allowed(regular),
	).Replace(thingsToTry)
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
