// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

const deployLong = `Set up a control plane for modules. The command installs the CRDs, or with --package the whole
provider, and creates a ProviderConfig with the kubeconfig of the target cluster, ModuleTemplates and a Kyma.

The command uses server-side apply, and only sets the fields that you specify on the command line. If you run it again,
nothing changes, and modules that were enabled in the meantime stay enabled. If the command is interrupted, run it again
to complete the setup. If another client has set a field to a different value, the command fails and names the field. To
take over the field, use --force-conflicts.

The command installs the CRDs of this version of kymactl. It does not change CRDs that belong to a package. Without
--package, the command doesn't start the provider: run 'kymactl install', or let Crossplane run it. If no provider processes the
Kyma within a few seconds, the command prints a warning.

The command reduces the kubeconfig of --target-kubeconfig to a single context, embeds the files that it refers to, and
stores it in the Secret NAME-kubeconfig. It never prints the content. Like the provider, it rejects kubeconfigs that use
exec or auth-provider. With --in-cluster, modules are installed in the control plane itself, and the command allows the
namespace to use the ClusterProviderConfig. It does this with the field manager kymactl/NAMESPACE, and does not touch the
namespaces that others allow. With neither flag, an existing Kyma keeps its ProviderConfig, and a new Kyma uses the
ProviderConfig or ClusterProviderConfig that you name with --provider-config, which must exist.

If the namespace doesn't exist, the command creates it. --module enables modules in addition to the modules that are
already enabled. If a module has no ModuleTemplate yet, the command prints a warning.

With --output json or yaml, the command prints an object with the field objects, which is a list. Each item has the
fields kind, namespace, name and action (created, configured or unchanged).`

const deployExample = `  # Install the CRDs, and create a Kyma for the cluster of a kubeconfig
  kymactl deploy -n team-a --target-kubeconfig cluster-a.kubeconfig

  # Install the provider as a package, enable two modules, and wait until everything is Ready
  kymactl deploy -n team-a --package registry.example.org/platform/provider-kyma:v0.1.0 \
    --target-kubeconfig cluster-a.kubeconfig --template template.yaml --module istio --module serverless=fast --wait

  # Preview the changes
  kymactl deploy -n team-a --template template.yaml --dry-run`

// NewDeploy returns the command kymactl deploy.
func NewDeploy(e *command.Environment) *cobra.Command {
	o := &deployOptions{}
	c := &cobra.Command{
		Use:        "deploy",
		SuggestFor: []string{"apply"},
		Short:      "Set up a control plane: CRDs or the provider, a ProviderConfig, ModuleTemplates and a Kyma",
		Long:       deployLong,
		Example:    deployExample,
		Args:       command.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return deploy(cmd.Context(), e, o)
		},
	}
	o.addFlags(c.Flags())
	return c
}

// A deployment is one run of kymactl deploy.
type deployment struct {
	plane     *apply.Plane
	applier   *apply.Applier
	o         *deployOptions
	namespace string
	// ref is the ProviderConfig or ClusterProviderConfig of the Kyma.
	ref reference
	// kubeconfig is the kubeconfig of the target cluster; nil without --target-kubeconfig.
	kubeconfig []byte
	templates  []*unstructured.Unstructured
}

func deploy(ctx context.Context, e *command.Environment, o *deployOptions) error {
	d := &deployment{o: o}
	// Read all files before changing anything, so that errors in them are usage errors.
	if err := d.read(e); err != nil {
		return command.WithCode(command.ExitUsage, err)
	}
	cluster, err := o.cluster.Connect(e)
	if err != nil {
		return err
	}
	d.namespace, d.plane = cluster.Namespace, apply.NewPlane(cluster)
	r := &apply.Report{Environment: e, Output: &o.output, DryRun: o.dryRun}
	d.applier = &apply.Applier{Environment: e, Plane: d.plane, Report: r, DryRun: o.dryRun, Force: o.force}
	err = d.run(ctx)
	if failed := r.End(); err == nil {
		err = failed
	}
	return err
}

// read reads the files that the command line names, and warns if it copied a token.
func (d *deployment) read(e *command.Environment) error {
	var err error
	if d.templates, err = readTemplates(e.In, d.o.templates); err != nil || d.o.target == "" {
		return err
	}
	var copied bool
	if d.kubeconfig, copied, err = targetKubeconfig(d.o.target, d.o.context); err != nil {
		return errors.Wrapf(err, "--target-kubeconfig %s", d.o.target)
	}
	if copied {
		e.Warnf("the current token in the tokenFile of %s was copied: run deploy again when the token changes", d.o.target)
	}
	return nil
}

// run executes the steps in the order of their dependencies.
func (d *deployment) run(ctx context.Context) error {
	kinds := &installation{plane: d.plane, applier: d.applier, skip: d.o.skipCRDs, image: d.o.image}
	for _, step := range []func(context.Context) error{
		d.refer, kinds.define, d.makeNamespace, d.configure, d.applyTemplates, d.applyKyma,
	} {
		if err := step(ctx); err != nil {
			return command.Ended(ctx, err)
		}
	}
	if d.o.wait {
		return d.awaitReady(ctx)
	}
	return d.awaitAnswer(ctx)
}

// makeNamespace creates the namespace if it doesn't exist.
func (d *deployment) makeNamespace(ctx context.Context) error {
	return d.applier.MakeNamespace(ctx, d.namespace)
}

// configure applies the ProviderConfig and the Secret with the kubeconfig, or the ClusterProviderConfig for --in-cluster.
func (d *deployment) configure(ctx context.Context) error {
	config := d.ref.object(d.namespace)
	if d.o.inCluster {
		return d.allow(ctx, config)
	}
	if d.o.target == "" {
		return nil
	}
	secret := apply.Object{GroupVersionKind: apply.CoreKind("Secret"), Namespace: d.namespace, Name: config.Name + kubeconfigSuffix}
	if err := d.applier.Apply(ctx, apply.Wanted(secret, map[string]any{"data": map[string]any{kubeconfigKey: encode(d.kubeconfig)}})); err != nil {
		return err
	}
	return d.applier.Apply(ctx, apply.Wanted(config, map[string]any{"spec": map[string]any{
		"credentials": map[string]any{
			"source":    string(v1alpha1.CredentialsSourceSecret),
			"secretRef": map[string]any{"name": secret.Name, "key": kubeconfigKey},
		},
	}}))
}

// allow applies the ClusterProviderConfig for --in-cluster, and allows the namespace of the Kyma to use it. Each namespace has its
// own field manager, because the command must not own what it has not granted: a namespace stays allowed as long as any field
// manager owns it. No command needs to read the namespaces of the others, so that concurrent commands don't lose any.
func (d *deployment) allow(ctx context.Context, config apply.Object) error {
	applier := *d.applier
	applier.Manager = command.FieldManager + "/" + d.namespace
	return applier.Apply(ctx, apply.Wanted(config, map[string]any{"spec": map[string]any{
		"credentials":       map[string]any{"source": string(v1alpha1.CredentialsSourceInjectedIdentity)},
		"allowedNamespaces": map[string]any{"names": []any{d.namespace}},
	}}))
}

// applyTemplates applies the ModuleTemplates from the files of the command line.
func (d *deployment) applyTemplates(ctx context.Context) error {
	return d.applier.ApplyAll(ctx, d.templates)
}
