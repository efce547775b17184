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
  alias crossplane='KUBECONFIG=CONTROL CRANK'
  MODULES=REGISTRY

  crossplane beta trace kymaenvironmentclaim cluster-a    # what the claim became
  control get providers,configurations,functions    # what Crossplane installed
  kymactl module list              # which version of a module each channel has
  kymactl status --all             # which modules are installed, and whether they work
  target get deployments -A        # where they run
  target get samples,greetings     # the modules' own resources, whose state counts too
  helm list -A --kubeconfig TARGET    # Helm, where you have it, sees the same releases

Things to try:

1. Break something in the target. It comes back, and the Manifest says what differed:

     target delete deployment greeter
     target get deployment greeter -w
     control describe manifest COMPOSITE-greeter

2. Make a module unhappy. Its Kyma and the claim say which one, and why, until the text is back:

     target patch greeting greeter --type merge -p '{"spec": {"text": ""}}'
     kymactl status
     control get kymaenvironmentclaim cluster-a -o wide
     target patch greeting greeter --type merge -p '{"spec": {"text": "Hello again"}}'
     kymactl wait

3. Switch to the channel with newer versions, and back. The way back is refused until it is meant:

     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"channel": "fast"}}'
     kymactl module list --enabled
     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"channel": "regular"}}'
     kymactl status
     control annotate kymas COMPOSITE DOWNGRADE

   Modules and channel are the claim's: what you write there into the Kyma itself, the composition reverts, and
   kymactl module enable and disable refuse to.

4. See what a module consists of, who signed it, and what its next version changes:

     kymactl module inspect $MODULES//example.org/module/greeter:1.0.0
     kymactl module verify $MODULES//example.org/module/greeter:1.0.0 --key KEY
     kymactl module diff $MODULES//example.org/module/greeter:1.0.0 $MODULES//example.org/module/greeter:1.2.0

5. Change a value of a Manifest of your own, to something good and to something the chart refuses:

     values() { control patch manifest hello --type json \
       -p '[{"op": "replace", "path": "/spec/forProvider/installs/0/values", "value": '"$1"'}]'; }
     values '{"replicas": 4}'
     values '{"replicas": "many"}'
     control get manifest hello -o wide

6. Disable a module. All of it goes, and nothing else:

     control patch kymaenvironmentclaim cluster-a --type merge -p '{"spec": {"modules": [{"name": "template-operator"}]}}'
     kymactl wait --module greeter --for deleted
     target get deployments -A

7. Delete the claim. Its modules leave the target before its Kyma goes:

     control delete kymaenvironmentclaim cluster-a
     kymactl wait COMPOSITE --for deleted

The provider's log is LOG.
Ctrl-C stops everything.`

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
		"CONTROL", e.workshop.kubeconfig(), "TARGET", e.servers.target.KubeconfigFile(), "COMPOSITE", e.claim.composite,
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
	sayf("the control plane, the provider, a second cluster and an empty registry run. In another terminal:")
	sayf("  export KUBECONFIG=%s", s.control.KubeconfigFile())
	sayf("  export TARGET=%s", s.target.KubeconfigFile())
	sayf("  export REGISTRY=%s/%s", s.registry.Host(), repository)
	sayf("  export PATH=%s:$PATH", s.workshop.binaries())
	sayf("docs/first-module.md makes a first module with these")
	sayf("the provider's log is %s", log)
	sayf("Ctrl-C stops everything")
}
