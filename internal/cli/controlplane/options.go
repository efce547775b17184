// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
)

// answerTimeout is longer than a running provider needs to process a new Kyma.
const answerTimeout = 5 * time.Second

// deployOptions holds the flags of deploy.
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
	answer time.Duration
	dryRun bool
	force  bool

	// modules is the result of parsing moduleArgs. check sets it.
	modules []moduleArg
}

func (o *deployOptions) addFlags(f *pflag.FlagSet) {
	o.cluster.AddFlags(f)
	o.output.AddNamedFlag(f)
	f.BoolVar(&o.skipCRDs, "skip-crds", false, "don't install or change the CRDs")
	f.StringVar(&o.image, "package", "", "package `IMAGE` of the provider to install with Crossplane (default: install only the CRDs)")
	f.StringVar(&o.config, "provider-config", "",
		"`NAME` of the ProviderConfig (default: the name of the Kyma, or "+inClusterConfig+" with --in-cluster)")
	f.StringVar(&o.target, "target-kubeconfig", "", "kubeconfig `FILE` of the target cluster; stored in a Secret")
	f.StringVar(&o.context, "target-context", "", "`CONTEXT` in --target-kubeconfig (default: the current context)")
	f.BoolVar(&o.inCluster, "in-cluster", false, "install modules in the control plane itself, with the identity of the provider")
	f.StringArrayVar(&o.templates, "template", nil, "`FILE` with ModuleTemplates to apply; - means stdin; can be repeated")
	f.StringVar(&o.kyma, "kyma", "default", "`NAME` of the Kyma")
	f.StringVar(&o.channel, "channel", "", "`CHANNEL` of the Kyma (default: the current channel, or regular)")
	f.StringArrayVar(&o.moduleArgs, "module", nil, "`NAME[=CHANNEL]` of an additional module to enable; can be repeated")
	f.BoolVar(&o.wait, "wait", false, "wait until the Kyma is Ready")
	f.DurationVar(&o.answer, "provider-timeout", answerTimeout, "`DURATION` after which a warning is printed if no provider has processed the Kyma; "+
		"0 means no warning")
	f.BoolVar(&o.dryRun, "dry-run", false, "use server-side dry runs to show what the command would do, without changing anything")
	f.BoolVar(&o.force, "force-conflicts", false, "take over fields that other clients have set to different values")
}

// check validates the flags and sets modules. Errors are usage errors.
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
	if o.channel != "" && !definition.IsChannel(o.channel) {
		return command.Usagef("--channel %q: use "+definition.ChannelForm, o.channel)
	}
	var err error
	o.modules, err = parseModules(o.moduleArgs)
	return err
}

// checkTogether returns a usage error if flags contradict each other.
func (o *deployOptions) checkTogether() error {
	switch {
	case o.skipCRDs && o.image != "":
		return command.Usagef("--skip-crds and --package cannot be used together")
	case o.target != "" && o.inCluster:
		return command.Usagef("--target-kubeconfig and --in-cluster cannot be used together")
	case o.context != "" && o.target == "":
		return command.Usagef("--target-context requires --target-kubeconfig")
	case o.wait && o.dryRun:
		return command.Usagef("--wait and --dry-run cannot be used together")
	}
	return nil
}

// configName returns the name of the config that deploy creates or uses.
func (o *deployOptions) configName() string {
	switch {
	case o.config != "":
		return o.config
	case o.inCluster:
		return inClusterConfig
	}
	return o.kyma
}

// checkName returns a usage error if the value of a flag is not a valid object name.
func checkName(flag, name string) error {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return command.Usagef("%s %q: %s", flag, name, problems[0])
	}
	return nil
}

// A moduleArg is a module to enable. An empty channel means the channel of the Kyma.
type moduleArg struct{ name, channel string }

// parseModules parses values of --module, which have the form NAME[=CHANNEL].
func parseModules(args []string) ([]moduleArg, error) {
	var out []moduleArg
	seen := map[string]moduleArg{}
	for _, a := range args {
		name, channel, found := strings.Cut(a, "=")
		m := moduleArg{name: name, channel: channel}
		switch before, again := seen[name]; {
		case !argument.IsModuleName(name):
			return nil, command.Usagef("--module %q: use NAME or NAME=CHANNEL, with the name of a module", a)
		case found && !definition.IsChannel(channel):
			return nil, command.Usagef("--module %q: the channel must be "+definition.ChannelForm, a)
		case again && before != m:
			return nil, command.Usagef("--module %s is set twice, with different channels", name)
		case again:
			continue
		}
		seen[name] = m
		out = append(out, m)
	}
	return out, nil
}

// A reference is the content of spec.providerConfigRef.
type reference struct{ kind, name string }

func (r reference) fields() map[string]any { return map[string]any{"kind": r.kind, "name": r.name} }

func (r reference) object(namespace string) apply.Object {
	if r.kind == v1alpha1.ClusterProviderConfigKind {
		return apply.Object{GroupVersionKind: v1alpha1.ClusterProviderConfigGroupVersionKind, Name: r.name}
	}
	return apply.Object{GroupVersionKind: v1alpha1.ProviderConfigGroupVersionKind, Namespace: namespace, Name: r.name}
}
