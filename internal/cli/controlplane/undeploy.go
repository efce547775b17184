// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

const undeployLong = `Take away what deploy put into a control plane: the Kyma, and with it all its modules, which the
provider removes from their cluster; then the ProviderConfig and its Secret, where nobody else uses them. It waits
until each is gone. What is gone already is no error.

Only what deploy made is deleted. A Kyma or a ProviderConfig that somebody else made is deleted only if --kyma or
--provider-config names it.

ModuleTemplates, definitions and the package of the provider are for the whole control plane, and stay unless a flag
names them. ModuleTemplates also stay as long as a Kyma uses their module. Definitions and package cannot be deleted
while there are objects of ours: they would be deleted with them, and nobody would be left to remove modules from their
clusters. Namespaces stay.

With -o json there is one object, with the list objects: kind, namespace, name, and the action, which is deleted, kept
or unchanged.`

const undeployExample = `  # The Kyma default of namespace team-a, with its modules and its access to the cluster
  kymactl undeploy -n team-a

  # And all that is for the whole control plane
  kymactl undeploy -n team-a --templates --package --timeout 10m`

// undeployOptions are the flags of undeploy.
type undeployOptions struct {
	cluster command.ClusterFlags
	output  command.Output

	kyma      string
	config    string
	templates bool
	crds      bool
	provider  bool

	// kymaNamed says that the user named the Kyma, which is as good as having made it.
	kymaNamed bool
}

func (o *undeployOptions) addFlags(f *pflag.FlagSet) {
	o.cluster.AddFlags(f)
	o.output.AddNamedFlag(f)
	f.StringVar(&o.kyma, "kyma", "default", "`NAME` of the Kyma")
	f.StringVar(&o.config, "provider-config", "", "`NAME` of the ProviderConfig; default that of the Kyma")
	f.BoolVar(&o.templates, "templates", false, "delete the ModuleTemplates that deploy applied and no Kyma uses, too")
	f.BoolVar(&o.crds, "crds", false, "delete the definitions of the kinds, too")
	f.BoolVar(&o.provider, "package", false, "delete the package of the provider, with its definitions, too")
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

// NewUndeploy makes kymactl undeploy.
func NewUndeploy(e *command.Environment) *cobra.Command {
	o := &undeployOptions{}
	c := &cobra.Command{
		Use:        "undeploy",
		SuggestFor: []string{"uninstall", "delete"},
		Short:      "Take a Kyma with its modules, and what else deploy made, out of a control plane",
		Long:       undeployLong,
		Example:    undeployExample,
		Args:       cobra.NoArgs,
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

// A removal is one run of undeploy.
type removal struct {
	*applier

	o         *undeployOptions
	namespace string
	// ref is the config that the Kyma had, where there was one.
	ref reference
}

func undeploy(ctx context.Context, e *command.Environment, o *undeployOptions) error {
	cluster, err := o.cluster.Connect(e)
	if err != nil {
		return err
	}
	r := &removal{
		applier:   &applier{e: e, k: cluster, get: cluster.Document, report: &report{e: e, output: &o.output}},
		o:         o,
		namespace: cluster.Namespace,
	}
	err = r.run(ctx)
	if failed := r.report.end(); err == nil {
		err = failed
	}
	return err
}

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

func (r *removal) sayKept() {
	rest := ""
	if !r.o.templates {
		rest += ", ModuleTemplates (--templates)"
	}
	if !r.o.crds && !r.o.provider {
		rest += ", the definitions (--crds) and the package of the provider (--package)"
	}
	r.e.Sayf("Kept: namespace %s%s.", r.namespace, rest)
}

// found is live, where a kind that is not served has no objects.
func (r *removal) found(ctx context.Context, o object) (*unstructured.Unstructured, error) {
	u, err := r.live(ctx, o)
	if kmeta.IsNoMatchError(err) || u == nil && err == nil {
		return nil, nil //nolint:nilnil // Nothing is an answer.
	}
	return u, err
}

// removeKyma and wait until the provider has removed its modules.
func (r *removal) removeKyma(ctx context.Context) error {
	o := object{GroupVersionKind: v1alpha1.KymaGroupVersionKind, Namespace: r.namespace, Name: r.o.kyma}
	u, err := r.found(ctx, o)
	switch {
	case err != nil:
		return err
	case u == nil:
		return r.report.add(o, unchanged)
	}
	r.ref = referenceOf(u)
	if !ours(u) && !r.o.kymaNamed {
		r.e.Warnf("%s was not made by kymactl: name it with --kyma to delete it", o.words())
		return r.report.add(o, kept)
	}
	return r.remove(ctx, u, r.modulesOf)
}

// modulesOf says what a Kyma that is being deleted waits for.
func (r *removal) modulesOf(ctx context.Context, kyma *unstructured.Unstructured) (string, error) {
	all, err := r.list(ctx, v1alpha1.ManifestGroupVersionKind, client.InNamespace(kyma.GetNamespace()))
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
