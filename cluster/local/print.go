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
  alias crossplane='KUBECONFIG=CONTROL CRANK'

  crossplane beta trace kymaenvironmentclaim cluster-a -n team-a    # what the claim became
  control get providers,configurations,functions    # what Crossplane installed
  control get moduletemplates      # which version of a module each channel has
  control get kymas,manifests      # which modules are installed, and whether they work
  target get deployments -A        # where they run
  target get samples,greetings     # the modules' own resources, whose state counts too
  helm list -A                     # Helm sees the same releases

Things to try:

1. Break something in the target. It comes back, and the Manifest says what differed:

     target delete deployment greeter
     target get deployment greeter -w
     control describe manifest COMPOSITE-greeter

2. Make a module unhappy. The claim says which one, and why, until the text is back:

     target patch greeting greeter --type merge -p '{"spec": {"text": ""}}'
     control get kymaenvironmentclaim cluster-a -o wide
     crossplane beta trace kymaenvironmentclaim cluster-a -n team-a -o wide
     target patch greeting greeter --type merge -p '{"spec": {"text": "Hello again"}}'

3. Switch to the channel with newer versions, and back. The way back is refused until it is meant:

     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"channel": "fast"}}'
     control get manifests -w
     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"channel": "regular"}}'
     control get kymaenvironmentclaim cluster-a -o wide
     control annotate kymas COMPOSITE DOWNGRADE

   Modules and channel are the claim's: what you write there into the Kyma itself, the composition takes back.

4. Change a value of a Manifest that is nobody's but yours, to something good and to something the chart refuses:

     values() { control patch manifest hello --type json \
       -p '[{"op": "replace", "path": "/spec/forProvider/installs/0/values", "value": '"$1"'}]'; }
     values '{"replicas": 4}'
     values '{"replicas": "many"}'
     control get manifest hello -o wide

5. Disable a module. All of it goes, and nothing else:

     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"modules": [{"name": "template-operator"}]}}'
     target get deployments -A

6. Delete the claim. Its modules leave the target before its Kyma goes:

     control delete kymaenvironmentclaim cluster-a
     control get kymas,manifests

The provider's log is LOG.
Ctrl-C stops everything.`

func printThingsToTry(ctx context.Context, e *environment) error {
	paths := map[tools.Tool]string{}
	for _, t := range []tools.Tool{tools.Kubectl, tools.Helm, tools.Crank} {
		path, err := tools.Path(ctx, t)
		if err != nil {
			return err
		}
		paths[t] = path
	}
	log, _ := e.providerLog()
	text := strings.NewReplacer(
		"CONTROL", e.control.KubeconfigFile(), "TARGET", e.target.KubeconfigFile(), "COMPOSITE", e.composite,
		"KUBECTL", paths[tools.Kubectl], "HELM", paths[tools.Helm], "CRANK", paths[tools.Crank], "LOG", log,
		"DOWNGRADE", v1alpha1.AnnotationAllowDowngrade+"="+allowed(regular),
	).Replace(thingsToTry)
	_, _ = fmt.Fprintln(os.Stdout, text)
	return nil
}

func printBare(e *environment) {
	log, _ := e.providerLog()
	sayf("the control plane and the provider run")
	sayf("  export KUBECONFIG=%s", e.control.KubeconfigFile())
	sayf("  the provider's log: %s", log)
	sayf("  an empty registry, plain http: %s", e.registry.Host())
	sayf("Ctrl-C stops everything")
}
