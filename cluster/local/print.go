// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// thingsToTry is printed after the installation. Names in capitals are placeholders for values that differ between runs.
const thingsToTry = `
Everything is Ready. In another terminal:

  alias control='KUBECTL --kubeconfig CONTROL'
  alias target='KUBECTL --kubeconfig TARGET'
  alias kymactl='KUBECONFIG=CONTROL KYMACTL'
  alias canary='KUBECTL --kubeconfig CANARY'
  alias crossplane='KUBECONFIG=CONTROL CRANK'
  MODULES=REGISTRY

  crossplane beta trace kymaenvironmentclaim cluster-a    # the resources that the claim created
  control get providers,configurations,functions    # what Crossplane installed
  kymactl module list              # the version of each module in each channel
  kymactl status --all             # the installed modules and their states
  target get deployments -A        # the Deployments of the modules
  target get samples,greetings     # the custom resources that report the state of the modules
  helm list -A --kubeconfig TARGET    # if Helm is installed: the same releases

Things to try:

1. Delete an object in the target cluster. The provider restores it, and the Manifest reports the drift:

     target delete deployment greeter
     target get deployment greeter -w
     control describe manifest COMPOSITE-greeter

2. Cause a warning in a module. The Kyma and the claim report the module and the reason until you restore the text:

     target patch greeting greeter --type merge -p '{"spec": {"text": ""}}'
     kymactl status
     control get kymaenvironmentclaim cluster-a -o wide
     target patch greeting greeter --type merge -p '{"spec": {"text": "Hello again"}}'
     kymactl wait

3. Switch to the channel with newer versions, and back. The downgrade is blocked until you allow it:

     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"channel": "fast"}}'
     kymactl module list --enabled
     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"channel": "regular"}}'
     kymactl status
     control annotate kymas COMPOSITE DOWNGRADE

   The claim owns the modules and the channel. The composition reverts changes to them in the Kyma, so
   kymactl module enable and disable refuse to make such changes.

4. Show the contents of a module, verify its signature, and compare it with its next version:

     kymactl module inspect $MODULES//example.org/module/greeter:1.0.0
     kymactl module verify $MODULES//example.org/module/greeter:1.0.0 --key KEY
     kymactl module diff $MODULES//example.org/module/greeter:1.0.0 $MODULES//example.org/module/greeter:1.2.0

5. Change a value in a Manifest, first to a valid value, then to one that the chart rejects:

     values() { control patch manifest hello --type json \
       -p '[{"op": "replace", "path": "/spec/forProvider/installs/0/values", "value": '"$1"'}]'; }
     values '{"replicas": 4}'
     values '{"replicas": "many"}'
     control get manifest hello -o wide

6. Disable a module. Its objects are removed, and nothing else:

     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"modules": [{"name": "template-operator"}]}}'
     kymactl wait --module greeter --for deleted
     target get deployments -A

7. Promote a version that works in the fleet, and follow the rollout. It changes the canary first, and then the other clusters:

     kymactl module promote banner --version 1.2.0 --to regular
     kymactl rollout status banner --watch
     control get kymas -n fleet -L ring -w
     canary get configmap banner -o yaml

   Promote a version that fails, by changing back to 1.1.0. Other clusters keep the version that they have:

     kymactl module promote banner --version 1.1.0 --to regular --allow-downgrade
     kymactl rollout status banner --watch
     control describe modulereleasemeta banner

   Take a cluster out of the fleet, and add it again. The KymaSet removes its Kyma, and then creates one:

     control label kkpc stable-4 -n fleet ring-
     control get kymasets,kymas -n fleet
     control label kkpc stable-4 -n fleet ring=stable

8. Delete the claim. Its modules are removed from the target cluster before the Kyma is deleted:

     control delete kymaenvironmentclaim cluster-a
     kymactl wait COMPOSITE --for deleted

The log of the provider is in LOG.
Press Ctrl-C to stop everything.`

// printTree prints the claim with its composed resources, and the modules, as the team sees them.
func printTree(ctx context.Context, e *environment) error {
	args := []string{"beta", "trace", strings.ToLower(claimKind), claimName, "-n", team}
	tree, err := e.servers.crossplane.Crank(ctx, args...)
	if err != nil {
		return err
	}
	printCommand("crossplane", args, tree)
	args = []string{"get", "kymas,manifests"}
	out, err := e.workshop.kubectl(ctx, args...)
	if err != nil {
		return err
	}
	printCommand("kubectl", args, out)
	for _, args := range [][]string{{"module", "list"}, {"status", e.claim.composite, "--all"}} {
		out, err := e.workshop.kymactl(ctx, args...)
		if err != nil {
			return err
		}
		printCommand("kymactl", args, out)
	}
	return nil
}

func printCommand(name string, args []string, out string) {
	_, _ = fmt.Fprintf(os.Stdout, "\n$ %s %s\n%s\n", name, strings.Join(args, " "), strings.TrimSpace(out))
}

func printThingsToTry(ctx context.Context, e *environment) error {
	paths := map[tools.Tool]string{}
	for _, t := range []tools.Tool{tools.Kubectl, tools.Crank} {
		path, err := tools.Path(ctx, t)
		if err != nil {
			return err
		}
		paths[t] = path
	}
	log, _ := e.servers.providerLog()
	text := strings.NewReplacer(
		"CONTROL", e.workshop.kubeconfig(), "TARGET", e.servers.target.KubeconfigFile(),
		"CANARY", e.fleet.Clusters[0].KubeconfigFile(), "COMPOSITE", e.claim.composite,
		"KUBECTL", paths[tools.Kubectl], "CRANK", paths[tools.Crank], "LOG", log,
		"KYMACTL", filepath.Join(e.workshop.binaries(), "kymactl"), "REGISTRY", e.servers.registry.Host()+"/"+repository,
		"KEY", filepath.Join(e.workshop.modules(), signer+".pub"),
		"DOWNGRADE", v1alpha1.AnnotationAllowDowngrade+"="+allowed(regular),
	).Replace(thingsToTry)
	_, _ = fmt.Fprintln(os.Stdout, text)
	return nil
}

// printBare prints the start of docs/first-module.md, for a demo without Crossplane.
func printBare(s *servers) {
	log, _ := s.providerLog()
	sayf("the control plane, the provider, a second cluster and an empty registry are running. In another terminal:")
	sayf("  export KUBECONFIG=%s", s.control.KubeconfigFile())
	sayf("  export TARGET=%s", s.target.KubeconfigFile())
	sayf("  export REGISTRY=%s/%s", s.registry.Host(), repository)
	sayf("  export PATH=%s:$PATH", s.workshop.binaries())
	sayf("docs/first-module.md uses these to build your first module")
	sayf("the log of the provider is in %s", log)
	sayf("press Ctrl-C to stop everything")
}
