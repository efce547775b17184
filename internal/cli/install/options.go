// SPDX-License-Identifier: Apache-2.0

package install

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/provider-kyma/charts"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// defaultNamespace is the namespace of the provider unless --namespace is set. The namespace of the context is usually that of a team.
const defaultNamespace = "provider-kyma-system"

// options holds the flags of install.
type options struct {
	cluster command.ClusterFlags
	output  command.Output

	image      string
	files      []string
	set        []string
	setStrings []string
	inCluster  bool
	skipCRDs   bool

	export bool
	wait   bool
	dryRun bool
	force  bool

	// version is the version of kymactl. namespace is the namespace of the provider; check sets it.
	version, namespace string
}

func (o *options) addFlags(c *cobra.Command) {
	f := c.Flags()
	o.cluster.AddFlags(f)
	o.output.AddNamedFlag(f)
	f.StringVar(&o.image, "image", "", "`IMAGE` of the provider, with a tag or a digest (default: the image of this version of kymactl)")
	f.StringArrayVarP(&o.files, "values", "f", nil, "`FILE` with values for the chart; - means stdin; can be repeated")
	f.StringArrayVar(&o.set, "set", nil, "`VALUES` for the chart, such as replicas=3,rbac.clusterAPI=true; can be repeated")
	f.StringArrayVar(&o.setStrings, "set-string", nil, "the same as --set, but all `VALUES` are strings; can be repeated")
	f.BoolVar(&o.inCluster, "in-cluster", false, "let the cluster manage itself: modules can be installed in it with the identity of the provider")
	f.BoolVar(&o.skipCRDs, "skip-crds", false, "don't install, change or print the CRDs")
	f.BoolVar(&o.export, "export", false, "print the objects as YAML, without connecting to a cluster")
	f.BoolVar(&o.wait, "wait", true, "wait until the provider is available")
	f.BoolVar(&o.dryRun, "dry-run", false, "use server-side dry runs to show what the command would do, without changing anything")
	f.BoolVar(&o.force, "force-conflicts", false, "take over fields that other clients have set to different values")
	namespace := f.Lookup("namespace")
	namespace.Usage = "`NAMESPACE` of the provider"
	namespace.DefValue = defaultNamespace
	for _, flag := range []string{"set", "set-string"} {
		complete.Flag(c, flag, completeValues)
	}
	complete.Flag(c, "image", cobra.NoFileCompletions)
	complete.Flag(c, "values", cobra.FixedCompletions([]string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt))
}

// check validates the flags and sets namespace. Errors are usage errors.
func (o *options) check(f *pflag.FlagSet) error {
	if err := o.output.Check(); err != nil {
		return err
	}
	if o.export {
		for _, flag := range []string{"output", "output-format", "wait", "dry-run", "force-conflicts"} {
			if f.Changed(flag) {
				return command.Usagef("--export and --%s cannot be used together", flag)
			}
		}
	}
	if f.Changed("wait") && o.wait && o.dryRun {
		return command.Usagef("--wait and --dry-run cannot be used together")
	}
	o.namespace = defaultNamespace
	if set := f.Lookup("namespace"); set.Changed {
		o.namespace = set.Value.String()
	}
	if problems := validation.IsDNS1123Label(o.namespace); len(problems) > 0 {
		return command.Usagef("--namespace %q: %s", o.namespace, problems[0])
	}
	return o.checkStdin()
}

// completeValues completes the names of values of the chart, such as metrics.secure=.
func completeValues(_ *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	// Earlier values of the same flag stay.
	done := text[:strings.LastIndex(text, ",")+1]
	files, err := charts.Files(charts.Name)
	if err != nil {
		return nil, directive
	}
	values := map[string]any{}
	if err := yamldoc.Decode(files["values.yaml"], &values); err != nil {
		return nil, directive
	}
	var out []cobra.Completion
	for _, path := range paths(values, "") {
		if strings.HasPrefix(path, text[len(done):]) {
			out = append(out, done+path)
		}
	}
	return out, directive
}

// paths returns the paths of all values that are not maps, or that are empty maps, sorted.
func paths(values map[string]any, prefix string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if v, ok := values[name].(map[string]any); ok && len(v) > 0 {
			out = append(out, paths(v, prefix+name+".")...)
			continue
		}
		out = append(out, prefix+name+"=")
	}
	return out
}
