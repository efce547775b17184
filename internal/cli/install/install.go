// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

const long = `Install the provider in a cluster without Crossplane, or upgrade it. The command contains the Helm chart of
the provider and the CRDs, and needs neither Helm nor network access besides the API server. It applies the CRDs, the
namespace and the objects of the chart with server-side apply, and waits until the provider is available.

The command line describes the whole installation: it sets the values that you specify, and all others to the defaults
of the chart. Repeat the values of an upgrade, or keep them in a file for --values. If you run the command again,
nothing changes. Objects that an earlier installation created and this one omits are deleted, except for CRDs and the
ClusterProviderConfig of the in-cluster mode. To preview what would change, use --dry-run.

With --in-cluster, the cluster manages itself: the provider gets the permissions of the ClusterRole cluster-admin, and
Kymas and Manifests in the namespace of the provider can use them. To use another ClusterRole or other namespaces, set
the values inCluster.clusterRole and inCluster.namespaces. All users who can create Kymas or Manifests there have these
permissions.

With --export, the command prints the objects as YAML instead, without connecting to a cluster: the CRDs, the namespace,
and the objects of the chart. The same version of kymactl with the same flags always prints the same.

The values are described in values.yaml of the chart, and unknown ones are rejected. --values overrides the defaults,
--image and --in-cluster override --values, and --set and --set-string override all others.

If Crossplane runs the provider, if it was installed with Helm, or if it runs in another namespace, the command fails
and changes nothing. If another client has set a field to a different value, the command fails and names the field. To
take over the field, use --force-conflicts.

With --output json or yaml, the command prints an object with the field objects, which is a list. Each item has the
fields kind, namespace, name and action (created, configured, unchanged or deleted).`

const example = `  # Install the provider, or upgrade it to the version of this command
  kymactl install

  # Install the provider in a cluster that manages itself
  kymactl install --in-cluster

  # Install another image with three replicas, and let Prometheus read its metrics
  kymactl install --image registry.example.org/platform/provider-kyma:v0.1.0 \
    --set replicas=3,metrics.podMonitor.enabled=true

  # Write the objects for GitOps, or apply them with kubectl
  kymactl install --export --values values.yaml > provider-kyma.yaml
  kymactl install --export | kubectl apply --server-side -f -`

// New returns the command kymactl install.
func New(e *command.Environment) *cobra.Command { return newCommand(e, version.Installed()) }

// newCommand returns the command for a version of kymactl.
func newCommand(e *command.Environment, build string) *cobra.Command {
	o := &options{version: build}
	c := &cobra.Command{
		Use:        "install",
		SuggestFor: []string{"upgrade"},
		Short:      "Install or upgrade the provider in a cluster without Crossplane",
		Long:       long,
		Example:    example,
		Args:       command.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			return install(cmd.Context(), e, o)
		},
	}
	o.addFlags(c)
	return c
}

func install(ctx context.Context, e *command.Environment, o *options) error {
	values, err := o.values(e.In, o.version, o.namespace)
	if err != nil {
		return err
	}
	i, err := renderChart(ctx, o.version, o.namespace, values)
	if err != nil {
		return err
	}
	if o.export {
		return i.write(e, o.skipCRDs)
	}
	cluster, err := o.cluster.Connect(e)
	if err != nil {
		return err
	}
	a := &apply.Applier{
		Environment: e, Plane: apply.NewPlane(cluster), DryRun: o.dryRun, Force: o.force,
		Report: &apply.Report{Environment: e, Output: &o.output, DryRun: o.dryRun},
	}
	err = command.Ended(ctx, i.run(ctx, a, o))
	if failed := a.Report.End(); err == nil {
		err = failed
	}
	return err
}

// run executes the steps in the order of their dependencies.
func (i *installation) run(ctx context.Context, a *apply.Applier, o *options) error {
	if err := i.refuse(ctx, a.Plane); err != nil {
		return err
	}
	if err := i.define(ctx, a, o.skipCRDs); err != nil {
		return err
	}
	if err := a.MakeNamespace(ctx, o.namespace); err != nil {
		return err
	}
	if err := a.ApplyAll(ctx, i.objects); err != nil {
		return err
	}
	if o.wait && !o.dryRun {
		if err := awaitAvailable(ctx, a, i.find("Deployment")); err != nil {
			return err
		}
	}
	// The replicas of an earlier version can use these objects until they have ended.
	if err := i.prune(ctx, a); err != nil || o.dryRun {
		return err
	}
	i.advise(a.Environment, o)
	return nil
}

// define applies the CRDs, and waits until their kinds are served.
func (i *installation) define(ctx context.Context, a *apply.Applier, skip bool) error {
	if skip {
		return nil
	}
	if err := a.ApplyAll(ctx, i.crds); err != nil || a.DryRun {
		return err
	}
	return a.AwaitServed(ctx, i.crds, func(_ context.Context, state string) string { return state })
}

// advise says what to do next.
func (i *installation) advise(e *command.Environment, o *options) {
	config := i.find(v1alpha1.ClusterProviderConfigKind)
	if config == nil {
		e.Sayf("The provider is installed in namespace %s. To add a cluster, use 'kymactl deploy -n NAMESPACE --target-kubeconfig FILE'.", o.namespace)
		return
	}
	// The names come from the chart, whose schema makes them a list of strings.
	namespaces, _, _ := unstructured.NestedStringSlice(config.Object, "spec", "allowedNamespaces", "names")
	if len(namespaces) == 0 {
		e.Sayf("The provider is installed in namespace %s. No namespace may use its permissions yet: set inCluster.namespaces.", o.namespace)
		return
	}
	e.Sayf("The provider is installed in namespace %s and manages its own cluster: all users who can create Kymas or Manifests in %s have "+
		"its permissions. To install modules, use 'kymactl deploy -n %s --provider-config %s --module NAME'.",
		o.namespace, strings.Join(namespaces, ", "), namespaces[0], config.GetName())
}
