// SPDX-License-Identifier: Apache-2.0

package list

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// list holds the flags of kymactl module list.
type list struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	kyma        string
	enabled     bool
	all         bool
	channel     string
}

// offered is the output for the catalog.
type offered struct {
	Modules catalog.Releases `json:"modules"`
}

// Names implements command.Named. It returns the names of the ModuleTemplates, without duplicates.
func (o offered) Names() []string {
	var out []string
	for i := range o.Modules {
		if name := o.Modules[i].Template; name != "" {
			out = append(out, "moduletemplate.kyma.m.crossplane.io/"+name)
		}
	}
	return argument.Once(out)
}

// enabled is the output for enabled modules.
type enabled struct {
	Modules []catalog.EnabledModule `json:"modules"`
}

// Names implements command.Named. It returns the names of the existing Manifests of the modules.
func (e enabled) Names() []string {
	var out []string
	for i := range e.Modules {
		if name := e.Modules[i].Manifest; name != "" {
			out = append(out, "manifest.kyma.m.crossplane.io/"+name)
		}
	}
	return out
}

// Command returns the command kymactl module list.
func Command(e *command.Environment) *cobra.Command {
	l := &list{environment: e}
	cmd := &cobra.Command{
		Use:        "list",
		SuggestFor: []string{"catalog"},
		Aliases:    []string{"ls"},
		Short:      "List the available or the enabled modules",
		Long: "List the modules that a control plane offers: each version of a module and the channels that have it, whether Kymas can " +
			"use it (READY), and the phase of its rollout (ROLLOUT; see 'kymactl rollout status'). A version has a channel if its " +
			"ModuleTemplate names one, or if a ModuleReleaseMeta assigns it to one. --output wide also shows whether the component " +
			"descriptor could be read (RESOLVED), whether its signature is valid (VERIFIED), the location of the module in its " +
			"registry (REPOSITORY), and the ModuleReleaseMeta (RELEASE-META).\n\n" +
			"With --kyma, --enabled or --all-namespaces, list the modules that Kymas have enabled instead: the channel, the version " +
			"and the state in the cluster, other available versions, and a message if a module needs attention. The state is empty " +
			"until the provider has processed the module. Modules that are being removed are in state Deleting.\n\n" +
			"With --output json or yaml, the command prints an object with the field modules, which is a list. An offered module " +
			"has the fields name, channel, version, template, repository, releaseMeta, phase, ready, resolved, verified and message. An enabled module has the " +
			"fields namespace, kyma, name, enabled, channel, activeChannel, version, state, reason, manifest, message and " +
			"available. Each item of available has the fields channel, version and newer. All fields are always present.",
		Example: "  kymactl module list --channel fast\n" +
			"  kymactl module list --kyma cluster-a -n team-a\n" +
			"  kymactl module list -A -o jsonpath='{.modules[?(@.state==\"Error\")].name}'",
		Args: command.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd.Context()) },
	}
	f := cmd.Flags()
	l.cluster.AddFlags(f)
	l.output.AddNamedFlag(f)
	f.StringVar(&l.kyma, "kyma", "", "list the enabled modules of the Kyma `NAME`")
	f.BoolVar(&l.enabled, "enabled", false, "list the enabled modules of all Kymas in the namespace")
	f.BoolVarP(&l.all, "all-namespaces", "A", false, "list the enabled modules of all Kymas in all namespaces")
	f.StringVarP(&l.channel, "channel", "c", "", "list only the modules in this `CHANNEL`")
	complete.Flag(cmd, "kyma", complete.Kymas(&l.cluster))
	complete.Flag(cmd, "channel", complete.Channels(&l.cluster))
	return cmd
}

func (l *list) run(ctx context.Context) error {
	if err := l.check(); err != nil {
		return err
	}
	c, err := l.cluster.Connect(l.environment)
	if err != nil {
		return err
	}
	offer, err := catalog.Offered(ctx, c)
	if err != nil {
		return err
	}
	if l.kyma == "" && !l.enabled && !l.all {
		return l.writeOffer(offer)
	}
	kymas, err := l.kymas(ctx, c)
	if err != nil {
		return err
	}
	return l.writeEnabled(catalog.EnabledModules(kymas, offer))
}

// check validates the command line. Its errors have the exit code ExitUsage.
func (l *list) check() error {
	if l.kyma != "" && l.all {
		return command.Usagef("--kyma names a Kyma in one namespace: it cannot be used with --all-namespaces")
	}
	if err := argument.CheckChannel(l.channel); err != nil {
		return err
	}
	return l.output.Check()
}

// kymas returns the Kyma of --kyma, or all Kymas in one namespace or in all namespaces.
func (l *list) kymas(ctx context.Context, c *command.Cluster) ([]v1alpha1.Kyma, error) {
	if l.kyma != "" {
		k, err := lookup.Kyma(ctx, c, c.Namespace, l.kyma)
		if err != nil {
			return nil, err
		}
		return []v1alpha1.Kyma{*k}, nil
	}
	var options []client.ListOption
	where := "in any namespace"
	if !l.all {
		options, where = append(options, client.InNamespace(c.Namespace)), "in namespace "+c.Namespace
	}
	found := &v1alpha1.KymaList{}
	if err := c.List(ctx, found, options...); err != nil {
		return nil, lookup.Explain(err, "list the Kymas "+where)
	}
	if len(found.Items) == 0 {
		l.environment.Sayf("No Kymas found %s.", where)
	}
	return found.Items, nil
}

// writeOffer writes the catalog.
func (l *list) writeOffer(offer catalog.Releases) error {
	if l.channel != "" {
		offer = offer.In(l.channel)
	}
	if len(offer) == 0 {
		l.environment.Sayf("No modules found. ModuleTemplates add modules to the catalog; see 'kymactl module template'.")
	}
	document := offered{offer}
	return l.output.Write(l.environment.Out, document, func(w io.Writer) error {
		head := []string{"MODULE", "CHANNEL", "VERSION", "TEMPLATE", "READY", "ROLLOUT", "MESSAGE"}
		if l.output.Wide() {
			head = append(head, "RESOLVED", "VERIFIED", "REPOSITORY", "RELEASE-META")
		}
		if err := command.Row(w, head...); err != nil {
			return err
		}
		for _, r := range offer {
			cells := []string{r.Name, r.Channel, r.Version, r.Template, r.Ready, r.Phase, r.Message}
			if l.output.Wide() {
				cells = append(cells, r.Resolved, r.Verified, r.Repository, r.ReleaseMeta)
			}
			if err := command.Row(w, cells...); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeEnabled writes the enabled modules. With --all-namespaces, it adds a column for their namespaces.
func (l *list) writeEnabled(modules []catalog.EnabledModule) error {
	document := enabled{[]catalog.EnabledModule{}}
	for i := range modules {
		if l.channel == "" || l.channel == modules[i].Channel || l.channel == modules[i].ActiveChannel {
			document.Modules = append(document.Modules, modules[i])
		}
	}
	return l.output.Write(l.environment.Out, document, func(w io.Writer) error {
		head := []string{"KYMA", "MODULE", "CHANNEL", "VERSION", "STATE", "AVAILABLE", "MESSAGE"}
		if l.all {
			head = append([]string{"NAMESPACE"}, head...)
		}
		if l.output.Wide() {
			head = append(head, "MANIFEST")
		}
		if err := command.Row(w, head...); err != nil {
			return err
		}
		for i := range document.Modules {
			m := &document.Modules[i]
			cells := []string{m.Kyma, m.Name, m.ShownChannel(), m.Version, m.State, summary(m.Available), m.Message}
			if l.all {
				cells = append([]string{m.Namespace}, cells...)
			}
			if l.output.Wide() {
				cells = append(cells, m.Manifest)
			}
			if err := command.Row(w, cells...); err != nil {
				return err
			}
		}
		return nil
	})
}

// summary lists available versions with their channels, and marks newer ones.
func summary(all []catalog.Available) string {
	out := make([]string, 0, len(all))
	for _, a := range all {
		line := a.Version + " (" + a.Channel + ")"
		if a.Newer {
			line = "newer " + line
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}
