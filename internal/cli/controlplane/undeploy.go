// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

const undeployLong = `Remove what deploy created in a control plane. The command deletes the Kyma, so that the provider
removes all its modules from the target cluster. It then deletes the ProviderConfig and its Secret, unless they are still
in use. The command waits until each object is deleted. If an object doesn't exist, this is not an error.

The command only deletes objects that deploy created. To delete a Kyma or a ProviderConfig that was created in another
way, specify it with --kyma or --provider-config.

ModuleTemplates, CRDs and the provider package are shared by the whole control plane, so the command keeps them unless
you set the corresponding flag. It also keeps a ModuleTemplate as long as a Kyma, a KymaSet or a ModuleReleaseMeta uses
its module. You can't delete the CRDs or the package as long as there are objects of any kind of the provider, which
includes KymaSets, ModuleReleaseMetas and RolloutPolicies: Kubernetes would delete these too, and no provider would be
left to remove the modules from their clusters. The command never deletes namespaces. A ClusterProviderConfig of
deploy --in-cluster that others use stays, and still allows the namespace to use the identity of the provider: to revoke
this, remove the namespace from spec.allowedNamespaces.names.

With --output json or yaml, the command prints an object with the field objects, which is a list. Each item has the
fields kind, namespace, name and action (deleted, kept or unchanged).`

const undeployExample = `  # Remove the Kyma default in namespace team-a, with its modules and its access to the cluster
  kymactl undeploy -n team-a

  # Also remove what the whole control plane shares
  kymactl undeploy -n team-a --templates --package --timeout 10m`

// undeployOptions holds the flags of undeploy.
type undeployOptions struct {
	cluster command.ClusterFlags
	output  command.Output

	kyma      string
	config    string
	templates bool
	crds      bool
	provider  bool

	// kymaNamed is true if --kyma is set, so that the Kyma is deleted even if deploy did not create it.
	kymaNamed bool
}

func (o *undeployOptions) addFlags(f *pflag.FlagSet) {
	o.cluster.AddFlags(f)
	o.output.AddNamedFlag(f)
	f.StringVar(&o.kyma, "kyma", "default", "`NAME` of the Kyma")
	f.StringVar(&o.config, "provider-config", "", "`NAME` of the ProviderConfig (default: the ProviderConfig of the Kyma)")
	f.BoolVar(&o.templates, "templates", false, "also delete the ModuleTemplates that deploy created and whose modules are not in use")
	f.BoolVar(&o.crds, "crds", false, "also delete the CRDs")
	f.BoolVar(&o.provider, "package", false, "also delete the provider package, including its CRDs")
}

func (o *undeployOptions) check() error {
	if err := o.output.Check(); err != nil {
		return err
	}
	if err := checkName("--kyma", o.kyma); err != nil {
		return err
	}
	if o.config == "" {
		return nil
	}
	return checkName("--provider-config", o.config)
}

// NewUndeploy returns the command kymactl undeploy.
func NewUndeploy(e *command.Environment) *cobra.Command {
	o := &undeployOptions{}
	c := &cobra.Command{
		Use:        "undeploy",
		SuggestFor: []string{"uninstall", "delete"},
		Short:      "Remove a Kyma, its modules and everything else that deploy created",
		Long:       undeployLong,
		Example:    undeployExample,
		Args:       command.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			o.kymaNamed = cmd.Flags().Changed("kyma")
			return undeploy(cmd.Context(), e, o)
		},
	}
	o.addFlags(c.Flags())
	return c
}

// A removal is one run of kymactl undeploy.
type removal struct {
	e         *command.Environment
	plane     *apply.Plane
	report    *apply.Report
	o         *undeployOptions
	namespace string
	// ref is the config of the deleted Kyma; empty if the Kyma did not exist.
	ref reference
}

func undeploy(ctx context.Context, e *command.Environment, o *undeployOptions) error {
	cluster, err := o.cluster.Connect(e)
	if err != nil {
		return err
	}
	r := &removal{
		e: e, plane: apply.NewPlane(cluster), report: &apply.Report{Environment: e, Output: &o.output}, o: o, namespace: cluster.Namespace,
	}
	err = r.run(ctx)
	if failed := r.report.End(); err == nil {
		err = failed
	}
	return err
}

// run executes the steps that the flags select, in the order of their dependencies.
func (r *removal) run(ctx context.Context) error {
	steps := []func(context.Context) error{r.removeKyma, r.removeConfigs}
	if r.o.templates {
		steps = append(steps, r.removeTemplates)
	}
	if r.o.crds || r.o.provider {
		steps = append(steps, r.refuse)
	}
	if r.o.provider {
		steps = append(steps, r.removeProvider)
	}
	if r.o.crds {
		steps = append(steps, r.removeCRDs)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return command.Ended(ctx, err)
		}
	}
	r.sayKept()
	return nil
}

// sayKept prints what undeploy has kept, and the flags that would delete it.
func (r *removal) sayKept() {
	rest := ""
	if !r.o.templates {
		rest += ", ModuleTemplates (--templates)"
	}
	if !r.o.crds && !r.o.provider {
		rest += ", CRDs (--crds), the provider package (--package)"
	}
	r.e.Sayf("Kept: namespace %s%s.", r.namespace, rest)
}

// removeKyma deletes the Kyma and waits until the provider has removed its modules.
func (r *removal) removeKyma(ctx context.Context) error {
	o := apply.Object{GroupVersionKind: v1alpha1.KymaGroupVersionKind, Namespace: r.namespace, Name: r.o.kyma}
	u, err := r.plane.Found(ctx, o)
	switch {
	case err != nil:
		return err
	case u == nil:
		return r.report.Add(o, apply.Unchanged)
	}
	r.ref = referenceOf(u)
	if !apply.Ours(u) && !r.o.kymaNamed {
		r.e.Warnf("%s was not created by kymactl: to delete it, specify it with --kyma", o.Words())
		return r.report.Add(o, apply.Kept)
	}
	return r.remove(ctx, u, r.modulesOf)
}

// modulesOf describes what blocks the deletion of a Kyma: its Manifests, or else its finalizers.
func (r *removal) modulesOf(ctx context.Context, kyma *unstructured.Unstructured) (string, error) {
	all, err := r.plane.List(ctx, v1alpha1.ManifestGroupVersionKind, client.InNamespace(kyma.GetNamespace()))
	if err != nil {
		return "", err
	}
	var manifests []unstructured.Unstructured
	for i := range all {
		if lookup.Owns(kyma.GetUID(), &all[i]) {
			manifests = append(manifests, all[i])
		}
	}
	return waitingFor(kyma, manifests), nil
}
