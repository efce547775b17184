// SPDX-License-Identifier: Apache-2.0

package template

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/flags"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
)

// templateFlags holds the flags of kymactl module template.
type templateFlags struct {
	registry command.RegistryFlags
	where    locationFlags
	channel  string
	// versionOnly omits the channel.
	versionOnly bool
	// release adds the ModuleReleaseMeta that assigns the version to the channel.
	release bool
	name    string
	inline  bool
	file    string
}

// Command returns the command kymactl module template.
func Command(e *command.Environment) *cobra.Command {
	f := &templateFlags{}
	c := &cobra.Command{
		Use:   "template MODULE",
		Short: "Write the ModuleTemplate that offers a version of a module",
		Long: "Write the ModuleTemplate that offers a module in a channel, as YAML. It contains the settings of the module (labels, " +
			"channel and readiness rules), and a reference to the component in its registry. With --inline, it contains the " +
			"component descriptor instead of a reference. The default custom resource stays in the module.\n\n" +
			"With --no-channel, the ModuleTemplate only adds the version to the catalogue, and its name is MODULE-VERSION. Several " +
			"versions of a module can then exist side by side, and a ModuleReleaseMeta specifies which one each channel has; see " +
			"'kymactl module promote'. With --release-meta, the output also has this ModuleReleaseMeta, for the first version of a " +
			"module: it assigns the version to the channel, and has the name of the module.\n\n" +
			open.ReferenceHelp + locationHelp + "\n\n" +
			"The same module and flags always produce identical output.",
		Example: "  kymactl module template registry.example.org/modules//example.org/module/greeter:1.0.0 --channel fast | kubectl apply -f -\n" +
			"  kymactl module template registry.example.org/modules//example.org/module/greeter:1.0.0 --release-meta | kubectl apply -f -\n" +
			"  kymactl module template registry.example.org/modules//example.org/module/greeter:1.1.0 --no-channel | kubectl apply -f -\n" +
			"  kymactl module template ./greeter.tar --repository registry.example.org/modules --inline -o greeter.yaml",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), e, args[0])
		},
	}
	f.registry.AddFlags(c.Flags())
	c.Flags().StringVarP(&f.channel, "channel", "c", "", "`CHANNEL` to offer the module in (default: the channel of the module, or regular)")
	c.Flags().BoolVar(&f.versionOnly, "no-channel", false, "offer the version in no channel; a ModuleReleaseMeta assigns it to channels")
	c.Flags().BoolVar(&f.release, "release-meta", false, "offer the version in no channel, and also write a ModuleReleaseMeta that assigns it to --channel")
	c.Flags().StringVar(&f.name, "name", "", "`NAME` of the ModuleTemplate (default: MODULE-CHANNEL, or MODULE-VERSION with --no-channel or --release-meta)")
	c.Flags().BoolVar(&f.inline, "inline", false, "include the component descriptor in the ModuleTemplate instead of a reference to it")
	f.where.addFlags(c.Flags())
	c.Flags().StringVarP(&f.file, "output", "o", "", "`FILE` to write to (default -, which means stdout)")
	return c
}

// check validates the flags. Its errors have the exit code ExitUsage.
func (f *templateFlags) check() error {
	if f.versionOnly && f.channel != "" {
		return command.Usagef("--channel is %s: it cannot be used with --no-channel", f.channel)
	}
	if f.versionOnly && f.release {
		return command.Usagef("--release-meta cannot be used with --no-channel: it assigns the version to a channel")
	}
	if err := flags.CheckDefinition(&definition.Definition{Channel: f.channel}); err != nil {
		return err
	}
	if f.name != "" && len(validation.IsDNS1123Subdomain(f.name)) > 0 {
		return command.Usagef("--name %q: use at most 253 lowercase letters, digits, '-' or '.'", f.name)
	}
	return f.where.check()
}

func (f *templateFlags) run(ctx context.Context, e *command.Environment, reference string) error {
	if err := f.check(); err != nil {
		return err
	}
	b, err := open.Module(ctx, e, &f.registry, reference)
	if err != nil {
		return err
	}
	defer b.Close()
	t, err := f.template(ctx, b)
	if err != nil {
		return err
	}
	if !f.release && !f.versionOnly {
		return write(e, f.file, t)
	}
	m := releaseOf(t, b.Descriptor().Version())
	f.offerVersion(t, b.Descriptor().Version())
	if !f.release {
		return write(e, f.file, t)
	}
	return write(e, f.file, t, m)
}

// offerVersion turns the ModuleTemplate of a channel into that of a version.
func (f *templateFlags) offerVersion(t *v1alpha1.ModuleTemplate, version string) {
	if f.name == "" {
		t.Name = strings.TrimSuffix(t.Name, t.Spec.Channel) + strings.ToLower(strings.ReplaceAll(version, "+", "-"))
	}
	t.Spec.Channel, t.Spec.Version = "", version
}

// releaseOf returns the ModuleReleaseMeta that assigns a version to the channel of a ModuleTemplate.
func releaseOf(t *v1alpha1.ModuleTemplate, version string) *v1alpha1.ModuleReleaseMeta {
	name := module.NameOf(t)
	return &v1alpha1.ModuleReleaseMeta{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.ModuleReleaseMetaKind},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.ModuleReleaseMetaSpec{
			ModuleName: name, Channels: []v1alpha1.ChannelRelease{{Channel: t.Spec.Channel, Release: v1alpha1.Release{Version: version}}},
		},
	}
}

func (f *templateFlags) template(ctx context.Context, b *bundle.Bundle) (*v1alpha1.ModuleTemplate, error) {
	if err := f.where.locate(b); err != nil {
		return nil, err
	}
	t, err := bundle.Template(ctx, b, f.channel, f.inline)
	if err != nil {
		return nil, err
	}
	if f.name != "" {
		t.Name = f.name
	}
	return t, nil
}

// write writes objects of this provider to a file, or to stdout if the path is empty or -.
func write(e *command.Environment, path string, objects ...client.Object) error {
	var data []byte
	for i, o := range objects {
		one, err := encode(o)
		if err != nil {
			return err
		}
		if i > 0 {
			data = append(data, "---\n"...)
		}
		data = append(data, one...)
	}
	if file.IsStdout(path) {
		_, err := e.Out.Write(data)
		return err
	}
	if err := file.Write(path, data); err != nil {
		return err
	}
	for _, o := range objects {
		e.Sayf("Wrote %s %s to %s.", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), path)
	}
	return nil
}

// encode returns an object of this provider as YAML, without its status and its creationTimestamp.
func encode(t any) ([]byte, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	// Keep the digits of large numbers.
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	delete(tree, "status")
	if m, ok := tree["metadata"].(map[string]any); ok {
		delete(m, "creationTimestamp")
	}
	data, err = json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(data)
}
