// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// deployOptions are the flags of deploy.
type deployOptions struct {
	cluster command.ClusterFlags
	output  command.Output

	skipCRDs bool
	image    string

	config     string
	target     string
	context    string
	inCluster  bool
	templates  []string
	kyma       string
	channel    string
	moduleArgs []string

	wait   bool
	dryRun bool
	force  bool

	// modules are moduleArgs, after check.
	modules []moduleArg
}

func (o *deployOptions) addFlags(f *pflag.FlagSet) {
	o.cluster.AddFlags(f)
	o.output.AddNamedFlag(f)
	f.BoolVar(&o.skipCRDs, "skip-crds", false, "leave the definitions of the kinds as they are")
	f.StringVar(&o.image, "package", "", "have Crossplane install the package `IMAGE` of the provider, instead of the definitions only")
	f.StringVar(&o.config, "provider-config", "",
		"`NAME` of the ProviderConfig; default that of the Kyma, and "+inClusterConfig+" with --in-cluster")
	f.StringVar(&o.target, "target-kubeconfig", "", "kubeconfig `FILE` of the cluster that modules are installed into; it is kept in a Secret")
	f.StringVar(&o.context, "target-context", "", "`CONTEXT` of --target-kubeconfig; default its current one")
	f.BoolVar(&o.inCluster, "in-cluster", false, "install modules into the control plane itself, with the identity of the provider")
	f.StringArrayVar(&o.templates, "template", nil, "`FILE` with ModuleTemplates to apply, - is stdin; may be given several times")
	f.StringVar(&o.kyma, "kyma", "default", "`NAME` of the Kyma")
	f.StringVar(&o.channel, "channel", "", "`CHANNEL` of the Kyma; default that which it has, or regular")
	f.StringArrayVar(&o.moduleArgs, "module", nil, "`NAME[=CHANNEL]` of a module to enable besides those that are; may be given several times")
	f.BoolVar(&o.wait, "wait", false, "wait until the Kyma is Ready")
	f.BoolVar(&o.dryRun, "dry-run", false, "have the control plane check all of it and say what would be done, and change nothing")
	f.BoolVar(&o.force, "force-conflicts", false, "take over fields that others have set to something else")
}

// check what can be told from the command line alone.
func (o *deployOptions) check() error {
	if err := o.output.Check(); err != nil {
		return err
	}
	if err := o.checkTogether(); err != nil {
		return err
	}
	if err := checkStdin(o.templates); err != nil {
		return err
	}
	if err := checkName("--kyma", o.kyma); err != nil {
		return err
	}
	if err := checkName("--provider-config", o.configName()); err != nil {
		return err
	}
	if o.channel != "" && !argument.IsChannelName(o.channel) {
		return command.Usagef("--channel %q: want 3 to 32 lower case letters", o.channel)
	}
	var err error
	o.modules, err = parseModules(o.moduleArgs)
	return err
}

// checkTogether refuses flags that contradict each other.
func (o *deployOptions) checkTogether() error {
	switch {
	case o.skipCRDs && o.image != "":
		return command.Usagef("--skip-crds and --package exclude each other")
	case o.target != "" && o.inCluster:
		return command.Usagef("--target-kubeconfig and --in-cluster exclude each other")
	case o.context != "" && o.target == "":
		return command.Usagef("--target-context needs --target-kubeconfig")
	case o.wait && o.dryRun:
		return command.Usagef("--wait and --dry-run exclude each other: nothing would become Ready")
	}
	return nil
}

// configName is the name of the config that is made. Modules that are to be
// installed into the control plane look for theirs by name.
func (o *deployOptions) configName() string {
	switch {
	case o.config != "":
		return o.config
	case o.inCluster:
		return inClusterConfig
	}
	return o.kyma
}

func checkName(flag, name string) error {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return command.Usagef("%s %q: %s", flag, name, problems[0])
	}
	return nil
}

// A moduleArg is a module to enable. Without a channel it gets that of the Kyma.
type moduleArg struct{ name, channel string }

func parseModules(args []string) ([]moduleArg, error) {
	var out []moduleArg
	seen := map[string]moduleArg{}
	for _, a := range args {
		name, channel, found := strings.Cut(a, "=")
		m := moduleArg{name: name, channel: channel}
		switch before, again := seen[name]; {
		case !argument.IsModuleName(name):
			return nil, command.Usagef("--module %q: want the name of a module, or NAME=CHANNEL", a)
		case found && !argument.IsChannelName(channel):
			return nil, command.Usagef("--module %q: the channel must be 3 to 32 lower case letters", a)
		case again && before != m:
			return nil, command.Usagef("--module %s is given twice, with different channels", name)
		case again:
			continue
		}
		seen[name] = m
		out = append(out, m)
	}
	return out, nil
}

// A reference is what a Kyma has in spec.providerConfigRef.
type reference struct{ kind, name string }

func (r reference) fields() map[string]any { return map[string]any{"kind": r.kind, "name": r.name} }

func (r reference) object(namespace string) object {
	if r.kind == v1alpha1.ClusterProviderConfigKind {
		return object{GroupVersionKind: v1alpha1.ClusterProviderConfigGroupVersionKind, Name: r.name}
	}
	return object{GroupVersionKind: v1alpha1.ProviderConfigGroupVersionKind, Namespace: namespace, Name: r.name}
}
