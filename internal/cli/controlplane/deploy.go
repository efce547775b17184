// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

const deployLong = `Put what modules need into a control plane: the definitions of the kinds, or with
--package the whole provider; a ProviderConfig with the kubeconfig of the cluster that modules are installed into;
ModuleTemplates; and a Kyma.

Everything is applied on the side of the server, and only by the fields that the command line names. So a second run
changes nothing, and modules that were enabled since stay enabled, whoever enabled them. A run that was interrupted is
completed by the next one. Fields that somebody else has set to something else are named, and are taken over with
--force-conflicts only.

The definitions are those of this kymactl. Where they came with a package, they are left to it. Without --package the
provider itself is not started: run it as a process, or have Crossplane run it.

The kubeconfig of --target-kubeconfig is reduced to one context, with the content of the files that it refers to, and
kept in the Secret NAME-kubeconfig. One with exec or auth-provider is refused, as the provider would refuse it. Its
content is never printed. With --in-cluster modules are installed into the control plane itself. With neither, the
Kyma keeps the config that it has, or gets the ProviderConfig or ClusterProviderConfig of that name, which must exist.

The namespace is made if it does not exist. --module enables modules besides those that are enabled;
one that no ModuleTemplate offers yet is warned about.

With -o json there is one object, with the list objects: kind, namespace, name, and the action, which is created,
configured or unchanged.`

const deployExample = `  # The definitions, and a Kyma for the cluster of a kubeconfig
  kymactl deploy -n team-a --target-kubeconfig cluster-a.kubeconfig

  # The provider as a package, two modules, and wait until all is Ready
  kymactl deploy -n team-a --package registry.example.org/platform/provider-kyma:v0.1.0 \
    --target-kubeconfig cluster-a.kubeconfig --template template.yaml --module istio --module serverless=fast --wait

  # What would change?
  kymactl deploy -n team-a --template template.yaml --dry-run`

// NewDeploy makes kymactl deploy.
func NewDeploy(e *command.Environment) *cobra.Command {
	o := &deployOptions{}
	c := &cobra.Command{
		Use:        "deploy",
		SuggestFor: []string{"install", "apply"},
		Short:      "Put the definitions, a ProviderConfig, ModuleTemplates and a Kyma into a control plane",
		Long:       deployLong,
		Example:    deployExample,
		Args:       cobra.NoArgs,
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

// A deployment is one run of deploy.
type deployment struct {
	*applier

	o         *deployOptions
	namespace string
	// ref is the config of the Kyma.
	ref reference
	// kubeconfig of the target cluster, if it is to be kept.
	kubeconfig []byte
	templates  []*unstructured.Unstructured
}

func deploy(ctx context.Context, e *command.Environment, o *deployOptions) error {
	d := &deployment{o: o}
	// What files can be wrong about is said before anything is done.
	if err := d.read(e); err != nil {
		return command.WithCode(command.ExitUsage, err)
	}
	cluster, err := o.cluster.Connect(e)
	if err != nil {
		return err
	}
	d.namespace = cluster.Namespace
	r := &report{e: e, output: &o.output, dryRun: o.dryRun}
	d.applier = &applier{e: e, k: cluster, get: cluster.Document, report: r, dryRun: o.dryRun, force: o.force}
	err = d.run(ctx)
	if failed := r.end(); err == nil {
		err = failed
	}
	return err
}

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
		e.Warnf("the token in the tokenFile of %s is copied as it is now: deploy again when it changes", d.o.target)
	}
	return nil
}

// run in the order in which things need each other.
func (d *deployment) run(ctx context.Context) error {
	kinds := &installation{applier: d.applier, skip: d.o.skipCRDs, image: d.o.image}
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
	return nil
}

// makeNamespace makes the namespace, unless it is there. Who may not look expects
// it to be there.
func (d *deployment) makeNamespace(ctx context.Context) error {
	o := object{GroupVersionKind: coreKind("Namespace"), Name: d.namespace}
	u, err := d.live(ctx, o)
	switch {
	case kerrors.IsForbidden(err):
		return nil
	case err != nil:
		return err
	case u != nil && u.GetDeletionTimestamp() != nil:
		return errors.Errorf("%s is being deleted: wait until it is gone, or use another --namespace", o.words())
	case u != nil:
		return d.report.add(o, unchanged)
	}
	var options []client.CreateOption
	if d.dryRun {
		d.absent = d.namespace
		options = append(options, client.DryRunAll)
	}
	err = d.k.Create(ctx, wanted(o, nil), append(options, client.FieldOwner(command.FieldManager))...)
	if kerrors.IsAlreadyExists(err) {
		return d.report.add(o, unchanged)
	}
	if err != nil {
		return errors.Wrapf(err, "cannot make %s", o.words())
	}
	return d.report.add(o, created)
}

// configure the access to the target cluster.
func (d *deployment) configure(ctx context.Context) error {
	config := d.ref.object(d.namespace)
	if d.o.inCluster {
		return d.apply(ctx, wanted(config, map[string]any{"spec": map[string]any{
			"credentials": map[string]any{"source": string(v1alpha1.CredentialsSourceInjectedIdentity)},
		}}))
	}
	if d.o.target == "" {
		return nil
	}
	secret := object{GroupVersionKind: coreKind("Secret"), Namespace: d.namespace, Name: config.Name + kubeconfigSuffix}
	if err := d.apply(ctx, wanted(secret, map[string]any{"data": map[string]any{kubeconfigKey: encode(d.kubeconfig)}})); err != nil {
		return err
	}
	return d.apply(ctx, wanted(config, map[string]any{"spec": map[string]any{
		"credentials": map[string]any{
			"source":    string(v1alpha1.CredentialsSourceSecret),
			"secretRef": map[string]any{"name": secret.Name, "key": kubeconfigKey},
		},
	}}))
}

func (d *deployment) applyTemplates(ctx context.Context) error { return d.applyAll(ctx, d.templates) }
