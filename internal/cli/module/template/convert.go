// SPDX-License-Identifier: Apache-2.0

package template

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/flags"
	"github.com/crossplane-contrib/provider-kyma/internal/module/convert"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
)

// maxConverted is the maximum size of an input file, in bytes.
const maxConverted = 64 << 20

// conversion holds the flags and the accumulated output of kymactl module convert.
type conversion struct {
	options     convert.Options
	file        string
	skipUnknown bool
	strict      bool

	out  bytes.Buffer
	lost int
	// hints holds the texts to print after a successful conversion.
	hints []string
}

// NewConvert returns the command kymactl module convert.
func NewConvert(e *command.Environment) *cobra.Command {
	f := &conversion{}
	c := &cobra.Command{
		Use:   "convert FILE...",
		Short: "Convert ModuleTemplates, Kymas and Manifests of lifecycle-manager and module-manager",
		Long: "Convert ModuleTemplates, Kymas and Manifests of the Kyma operators lifecycle-manager and module-manager " +
			"(operator.kyma-project.io/v1alpha1, v1beta1 and v1beta2) to the objects of this provider, and write them as a YAML " +
			"stream in the same order. A file can contain several documents, and lists such as kubectl get prints. To read from " +
			"stdin, use -.\n\n" +
			"For each field that cannot be converted, the command prints a line with the document and the object on stderr. With " +
			"--strict, such a field is an error. If anything fails, nothing is written.\n\n" +
			"Converted Kymas and Manifests refer to a ProviderConfig in their namespace. It replaces the kubeconfig Secret that " +
			"lifecycle-manager finds by the label operator.kyma-project.io/kyma-name. Create the ProviderConfig yourself, with the " +
			"kubeconfig from that Secret: credentials are never converted.",
		Example: "  kubectl get moduletemplates.operator.kyma-project.io -A -o yaml | kymactl module convert - --channel regular\n" +
			"  kymactl module convert kyma.yaml manifest.yaml --provider-config cluster-a -n team-a -o ours.yaml",
		Args:              command.Args(1, command.NoMaximum),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), e, args)
		},
	}
	c.Flags().StringVarP(&f.options.Channel, "channel", "c", "", "`CHANNEL` for ModuleTemplates and Kymas that do not specify one")
	c.Flags().StringVar(&f.options.ProviderConfig, "provider-config", "",
		"`NAME` of the ProviderConfig for Kymas and Manifests (default: the name of the Kyma)")
	c.Flags().StringVarP(&f.options.Namespace, "namespace", "n", "", "`NAMESPACE` for Kymas and Manifests (default: their own namespace)")
	c.Flags().StringVarP(&f.file, "output", "o", "", "`FILE` to write to (default -, which means stdout)")
	c.Flags().BoolVar(&f.skipUnknown, "skip-unknown", false, "skip objects of other kinds, with a warning")
	c.Flags().BoolVar(&f.strict, "strict", false, "fail if a field cannot be converted")
	return c
}

// check validates the command line. Its errors have the exit code ExitUsage.
func (f *conversion) check(args []string) error {
	o := f.options
	if err := flags.CheckDefinition(&definition.Definition{Channel: o.Channel}); err != nil {
		return err
	}
	if o.ProviderConfig != "" && len(validation.IsDNS1123Subdomain(o.ProviderConfig)) > 0 {
		return command.Usagef("--provider-config %q: use at most 253 lowercase letters, digits, '-' or '.'", o.ProviderConfig)
	}
	if o.Namespace != "" && len(validation.IsDNS1123Label(o.Namespace)) > 0 {
		return command.Usagef("--namespace %q: use at most 63 lowercase letters, digits or '-'", o.Namespace)
	}
	stdin := 0
	for _, a := range args {
		if a == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return command.Usagef("- is specified %d times: stdin can be read only once", stdin)
	}
	return nil
}

func (f *conversion) run(ctx context.Context, e *command.Environment, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	for _, name := range args {
		data, err := readInput(e, name)
		if err != nil {
			return err
		}
		if name == "-" {
			name = "stdin"
		}
		if err := f.stream(ctx, e, name, data); err != nil {
			return errors.Wrap(err, name)
		}
	}
	if f.strict && f.lost > 0 {
		return errors.Errorf("nothing was written, because --strict is set and some fields cannot be converted (%d in total)", f.lost)
	}
	if err := f.write(e); err != nil {
		return err
	}
	for _, h := range f.hints {
		e.Sayf("%s", h)
	}
	return nil
}

// write writes the converted objects to the file of --output, or to stdout.
func (f *conversion) write(e *command.Environment) error {
	if !file.IsStdout(f.file) {
		return file.Write(f.file, f.out.Bytes())
	}
	_, err := e.Out.Write(f.out.Bytes())
	return errors.Wrap(err, "cannot write to stdout")
}

// readInput reads a file, or stdin if the name is -. It fails if the content exceeds maxConverted.
func readInput(e *command.Environment, name string) ([]byte, error) {
	in := e.In
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // The user names the file.
		if errors.Is(err, os.ErrNotExist) {
			return nil, command.NotFoundf("file %s does not exist", name)
		}
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read %s", name)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxConverted+1))
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read %s", name)
	}
	if len(data) > maxConverted {
		return nil, errors.Errorf("%s is larger than %d bytes", name, maxConverted)
	}
	return data, nil
}

// stream converts a stream of documents. name is the name of the file for messages.
func (f *conversion) stream(ctx context.Context, e *command.Environment, name string, data []byte) error {
	docs, err := convert.Documents(data)
	if err != nil {
		return err
	}
	if len(docs) == 0 {
		return errors.New("no objects found")
	}
	for i, doc := range docs {
		if err := ctx.Err(); err != nil {
			return err
		}
		o, lost, err := convert.Object(doc, f.options)
		var unknown *convert.UnknownKindError
		if errors.As(err, &unknown) && f.skipUnknown {
			e.Warnf("%s: document %d is skipped: %s", name, i+1, err)
			continue
		}
		if err != nil {
			return errors.Wrapf(err, "document %d", i+1)
		}
		if err := f.add(e, name, i+1, o, lost); err != nil {
			return errors.Wrapf(err, "document %d", i+1)
		}
	}
	return nil
}

// add appends an object to the output, and warns about its lost fields. n is the number of its document in the file.
func (f *conversion) add(e *command.Environment, name string, n int, o client.Object, lost []string) error {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	for _, l := range lost {
		e.Warnf("%s: document %d: %s %q: %s", name, n, kind, o.GetName(), l)
	}
	f.lost += len(lost)
	data, err := encode(o)
	if err != nil {
		return err
	}
	if f.out.Len() > 0 {
		f.out.WriteString("---\n")
	}
	f.out.Write(data)
	switch o := o.(type) {
	case *v1alpha1.Kyma:
		f.hintf("Kyma %s refers to ProviderConfig %s in its namespace: create it from the Secret with label "+
			"operator.kyma-project.io/kyma-name=%s.", o.Name, o.Spec.ProviderConfigReference.Name, o.Name)
	case *v1alpha1.Manifest:
		if of := o.Labels["operator.kyma-project.io/kyma-name"]; of != "" {
			f.hintf("Manifest %s belongs to Kyma %s: if you also convert that Kyma, omit this Manifest, because the Kyma creates its own.",
				o.Name, of)
		}
	}
	return nil
}

func (f *conversion) hintf(format string, args ...any) {
	f.hints = append(f.hints, fmt.Sprintf(format, args...))
}
