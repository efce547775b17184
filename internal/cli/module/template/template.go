// SPDX-License-Identifier: Apache-2.0

package template

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/flags"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

type templateFlags struct {
	registry   command.RegistryFlags
	channel    string
	name       string
	inline     bool
	repository string
	mapping    string
	file       string
}

// Command makes kymactl module template.
func Command(e *command.Environment) *cobra.Command {
	f := &templateFlags{}
	c := &cobra.Command{
		Use:   "template MODULE",
		Short: "Write the ModuleTemplate that offers a module in a channel",
		Long: "Write the ModuleTemplate that offers a module in a channel, as YAML. It starts from what the module itself says (labels, " +
			"channel, readiness) and refers to the component in its registry, or with --inline holds the component descriptor. The " +
			"default custom resource stays in the module.\n\n" +
			open.ReferenceHelp + " A layout is in no registry, so that it needs --repository, which is where the module will be pushed to.\n\n" +
			"The same module and flags give the same bytes.",
		Example: "  kymactl module template registry.example.org/modules//example.org/module/greeter:1.0.0 --channel fast | kubectl apply -f -\n" +
			"  kymactl module template ./greeter.tar --repository registry.example.org/modules --inline -o greeter.yaml",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), e, args[0])
		},
	}
	f.registry.AddFlags(c.Flags())
	c.Flags().StringVarP(&f.channel, "channel", "c", "", "`CHANNEL` to offer the module in; default that of the module, or regular")
	c.Flags().StringVar(&f.name, "name", "", "`NAME` of the ModuleTemplate; default that of the module, a dash and the channel")
	c.Flags().BoolVar(&f.inline, "inline", false, "put the component descriptor into the template, rather than a reference to it")
	c.Flags().StringVar(&f.repository, "repository", "", "`HOST/BASE` where clusters get the module from; default where it was read")
	c.Flags().StringVar(&f.mapping, "name-mapping", string(ocm.URLPath), "with --repository, the `MAPPING` of names to repositories: urlPath or sha256-digest")
	c.Flags().StringVarP(&f.file, "output", "o", "", "`FILE` to write to; default -, which is stdout")
	return c
}

func (f *templateFlags) check() error {
	if err := flags.CheckDefinition(&definition.Definition{Channel: f.channel}); err != nil {
		return err
	}
	if f.name != "" && len(validation.IsDNS1123Subdomain(f.name)) > 0 {
		return command.Usagef("--name %q: want at most 253 lower case letters, digits, - and .", f.name)
	}
	if f.mapping != string(ocm.URLPath) && f.mapping != string(ocm.SHA256Digest) {
		return command.Usagef("--name-mapping %q: want %s or %s", f.mapping, ocm.URLPath, ocm.SHA256Digest)
	}
	if f.repository == "" {
		return nil
	}
	f.repository = strings.TrimRight(strings.TrimPrefix(f.repository, "oci://"), "/")
	if name, _, ok := strings.Cut(f.repository, "://"); ok {
		return command.Usagef("--repository has the scheme %s://: leave that out", name)
	}
	_, _, err := f.location().Repository("example.org/module")
	return command.WithCode(command.ExitUsage, errors.Wrap(err, "--repository"))
}

func (f *templateFlags) location() ocm.Location {
	return ocm.Location{BaseURL: f.repository, Mapping: ocm.Mapping(f.mapping)}
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
	data, err := encodeTemplate(t)
	if err != nil {
		return err
	}
	if file.IsStdout(f.file) {
		_, err = e.Out.Write(data)
		return err
	}
	if err := file.Write(f.file, data); err != nil {
		return err
	}
	e.Sayf("Wrote ModuleTemplate %s to %s.", t.Name, f.file)
	return nil
}

func (f *templateFlags) template(ctx context.Context, b *bundle.Bundle) (*v1alpha1.ModuleTemplate, error) {
	if f.repository != "" {
		b.Location = f.location()
	}
	if b.Location == (ocm.Location{}) {
		return nil, command.Usagef("%s is in no registry: say with --repository HOST/BASE where it will be", b.Layout())
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

// encodeTemplate writes an object of ours without what only a cluster writes.
func encodeTemplate(t any) ([]byte, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	// Large numbers stay as they are written.
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
