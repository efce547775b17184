// SPDX-License-Identifier: Apache-2.0

package create

import (
	"context"
	"crypto"
	"fmt"
	"io"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/flags"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/key"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/summary"
	"github.com/crossplane-contrib/provider-kyma/internal/module/build"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// creation holds the flags of kymactl module create.
type creation struct {
	e        *command.Environment
	registry command.RegistryFlags
	output   command.Output

	to         string
	file       string
	over       definition.Definition // Name, version, channel and provider from the flags.
	from       string
	dryRun     bool
	keyFile    string
	signature  string
	cosign     bool
	strictness bool
}

// Command returns the command kymactl module create.
func Command(e *command.Environment) *cobra.Command {
	c := &creation{e: e}
	cmd := &cobra.Command{
		Use:        "create [DIR]",
		SuggestFor: []string{"build", "package"},
		Short:      "Build a module from charts, manifests and kustomizations",
		Long: "Build a module from the content that module.yaml in DIR (default: the working directory) lists, and write it to an OCI " +
			"image layout. To create a module.yaml, use kymactl module init. Without a module.yaml, DIR must be one of the " +
			"following: a chart; a kubebuilder project; a kustomization; or a directory of YAML files, including subdirectories " +
			"whose names do not begin with a dot. For a kubebuilder project, the command builds config/default, installs its CRDs " +
			"first, and uses the sample as the default custom resource if there is exactly one.\n\n" +
			"The command checks everything before it writes anything: names and versions must be valid, charts must render, YAML " +
			"files must contain objects, the default custom resource must match its CRD, and readiness rules must compile. It " +
			"prints a warning for each image that is not pinned by digest. It fetches nothing except the module or image of --from, " +
			"starts no other program, and does not modify DIR. The dependencies of a chart must be in its charts directory, and the " +
			"bases of a kustomization must be in DIR. The following files are excluded from the module: .git, .DS_Store, ._*, image " +
			"layouts, the files that the .helmignore of a chart excludes, and the files that you specify in flags.\n\n" +
			"Builds are reproducible: the same input always produces the same digest, regardless of the directory name, user, time " +
			"and machine. The command replaces an existing layout, but never a directory that contains anything else.\n\n" +
			"If module.yaml sets the format of a chart to helm, the layout also contains the chart as a regular Helm OCI artifact, " +
			"which you can pull with helm pull. module push uploads it to charts/NAME:VERSION next to the module. From then on, the " +
			"version of the chart is as immutable as the version of the module.\n\n" +
			"With --from, the module is built on top of another module or of an image. It keeps the resources of a base module, " +
			"unless it defines a resource with the same name, but not its signatures. It keeps all layers of a base image. In this " +
			"case, DIR is only read if you specify it, or if it contains a module.yaml.\n\n" +
			"The last line on stdout is the digest of the manifest.",
		Example: "  kymactl module create ./greeter -o greeter-layout\n" +
			"  kymactl module create ./chart --name example.org/module/greeter --version 1.2.3 -o greeter.tar\n" +
			"  kymactl module create --dry-run --output-format json | jq -r .digest\n" +
			"  kymactl module create --key release.key -o greeter.tar\n" +
			"  kymactl module create --from registry.example.org/team/image:1.0 -f module.yaml -o greeter.tar",
		Args: command.Args(0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context(), args)
		},
	}
	c.addFlags(cmd.Flags())
	return cmd
}

func (c *creation) addFlags(f *pflag.FlagSet) {
	f.StringVarP(&c.to, "output", "o", "", "`PATH` of the layout: a tar file if it ends in .tar, .tar.gz or .tgz, otherwise a directory")
	f.StringVarP(&c.file, "file", "f", "", "`FILE` to use instead of module.yaml in DIR; if you omit DIR, the directory of FILE is used")
	f.StringVar(&c.over.Name, "name", "", "`NAME` of the component, such as example.org/module/greeter; overrides module.yaml")
	f.StringVar(&c.over.Version, "version", "", "semantic `VERSION` of the module; overrides module.yaml")
	f.StringVar(&c.over.Channel, "channel", "", "`CHANNEL` to offer the module in; overrides module.yaml (default regular)")
	f.StringVar(&c.over.Provider, "provider", "", "`NAME` of the provider of the module; overrides module.yaml (default internal)")
	f.StringVar(&c.from, "from", "", "base `IMAGE` or module to build on")
	f.BoolVar(&c.dryRun, "dry-run", false, "check everything and print the digest, but write nothing")
	f.StringVar(&c.keyFile, "key", "", "`FILE` with a PEM-encoded RSA private key to sign with")
	f.StringVar(&c.signature, "signature-name", bundle.DefaultSignature, "`NAME` of the signature; clusters select the key by this name")
	f.BoolVar(&c.cosign, "cosign", true, "with --key, also create a cosign signature of the manifest")
	f.BoolVar(&c.strictness, "warnings-as-errors", false, "fail if there are warnings")
	c.registry.AddFlags(f)
	c.output.AddFlag(f, true)
}

// check validates the command line. Its errors have the exit code ExitUsage.
func (c *creation) check(f *pflag.FlagSet) error {
	if err := file.CheckLayout(c.to, &c.output); err != nil {
		return err
	}
	switch {
	case c.to == "" && !c.dryRun:
		return command.Usagef("-o PATH is required: specify the path of the layout, or use --dry-run")
	case c.keyFile == "" && (f.Changed("signature-name") || f.Changed("cosign")):
		return command.Usagef("--signature-name and --cosign require --key FILE")
	case c.signature == "":
		return command.Usagef("--signature-name must not be empty")
	}
	return flags.CheckDefinition(&c.over)
}

func (c *creation) run(ctx context.Context, args []string) error {
	signer, err := c.signer()
	if err != nil {
		return err
	}
	s, err := c.source(args)
	if err != nil {
		return err
	}
	defer s.Close()
	base, err := c.base(ctx)
	if err != nil {
		return err
	}
	if base != nil {
		defer base.Close()
	}
	m, err := c.build(ctx, base, s)
	if err != nil {
		return err
	}
	if err := c.warn(slices.Concat(s.warnings, m.Warnings)); err != nil {
		return err
	}
	return c.finish(ctx, m, signer)
}

// warn prints warnings. It returns an error if there are any and --warnings-as-errors is set.
func (c *creation) warn(warnings []string) error {
	for _, w := range warnings {
		c.e.Warnf("%s", w)
	}
	switch n := len(warnings); {
	case n == 0 || !c.strictness:
		return nil
	case n == 1:
		return errors.New("1 warning treated as an error (--warnings-as-errors)")
	default:
		return errors.Errorf("%d warnings treated as errors (--warnings-as-errors)", n)
	}
}

// finish signs a module if signer is not nil, writes the module and prints its summary.
func (c *creation) finish(ctx context.Context, m *build.Module, signer crypto.Signer) error {
	d := m.Descriptor
	if signer != nil {
		signed, err := ocm.Sign(d, c.signature, signer)
		if err != nil {
			return err
		}
		d = signed
	}
	a, err := m.Artifact(d)
	if err != nil {
		return err
	}
	if err := c.write(ctx, m, d, a, signer); err != nil {
		return err
	}
	return c.print(d, a)
}

// signer returns the private key of --key, or nil if the flag is not set.
func (c *creation) signer() (crypto.Signer, error) {
	if c.keyFile == "" {
		return nil, nil //nolint:nilnil // --key is not set.
	}
	return key.ReadPrivate(c.e, c.keyFile)
}

// base opens the module or image of --from. It returns nil if the flag is not set.
func (c *creation) base(ctx context.Context) (*build.Base, error) {
	if c.from == "" {
		// Check the flags of the registry, even if no registry is used.
		_, err := c.registry.Registries(c.e, "")
		return nil, err
	}
	regs, err := open.Registries(c.e, &c.registry, c.from)
	if err != nil {
		return nil, err
	}
	base, err := build.OpenBase(ctx, c.from, regs)
	return base, errors.Wrap(err, "--from")
}

// build builds a module from a source, on top of base unless base is nil.
func (c *creation) build(ctx context.Context, base *build.Base, s *source) (*build.Module, error) {
	if base != nil {
		m, err := build.Extend(ctx, base, s.definition, s.fsys)
		return m, errors.Wrap(err, s.name)
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	m, err := build.Build(ctx, s.definition, s.fsys)
	return m, errors.Wrap(err, s.name)
}

// write writes a module to the layout, and replaces previous content. It does nothing if --dry-run is set.
func (c *creation) write(ctx context.Context, m *build.Module, d *ocm.Descriptor, a *build.Artifact, signer crypto.Signer) (err error) {
	if c.dryRun {
		return nil
	}
	tag, err := ocm.Tag(d.Version())
	if err != nil {
		return err
	}
	l, err := layout.Create(ctx, c.to)
	if err != nil {
		return file.ExplainLayout(c.to, err)
	}
	defer func() {
		if err != nil {
			_ = l.Discard()
			return
		}
		err = l.Close()
	}()
	if err := c.put(ctx, l, m, a); err != nil {
		return err
	}
	charts, err := putManifests(ctx, l, m, a, tag)
	if err != nil {
		return err
	}
	if signer != nil && c.cosign {
		// The descriptor is already signed, so the digest does not change.
		signed, err := bundle.Sign(ctx, l, tag, bundle.SignOptions{Name: c.signature, Signer: signer, Cosign: true})
		if err != nil {
			return err
		}
		if signed.Digest != a.Digest {
			return errors.Errorf("signing changed the digest from %s to %s: this is a bug", a.Digest, signed.Digest)
		}
	}
	if err := l.Prune(ctx, tag, charts...); err != nil {
		return err
	}
	c.e.Sayf("Wrote %s %s to %s", d.Name(), d.Version(), c.to)
	return nil
}

// putManifests writes the manifests of a module and of the charts next to it, and returns the digests of the charts. It writes the
// module first, because it is the root of the layout.
func putManifests(ctx context.Context, l *layout.Store, m *build.Module, a *build.Artifact, tag string) (charts []string, err error) {
	if err := l.PutManifest(ctx, a.Manifest, tag); err != nil {
		return nil, err
	}
	for i := range m.Charts {
		chart := &m.Charts[i]
		if err := l.PutManifest(ctx, chart.Manifest, chart.LayoutTag()); err != nil {
			return nil, err
		}
		charts = append(charts, chart.Digest)
	}
	return charts, nil
}

// put writes all blobs of a module and of the charts next to it.
func (c *creation) put(ctx context.Context, l *layout.Store, m *build.Module, a *build.Artifact) error {
	layers := m.Layers
	for i := range m.Charts {
		layers = slices.Concat(layers, m.Charts[i].Layers)
	}
	var total, done int64
	for i := range layers {
		total += layers[i].Size
	}
	report, end := c.e.Progress("Writing " + m.Descriptor.Name())
	defer end()
	for i := range layers {
		layer := &layers[i]
		content := store.Content{MediaType: layer.MediaType, Digest: layer.Digest, Size: layer.Size}
		open := func(offset int64) (io.ReadCloser, error) { return layer.Open(ctx, offset) }
		if err := l.PutBlob(ctx, content, open); err != nil {
			return err
		}
		done += layer.Size
		report(done, total)
	}
	for _, blob := range []build.Layer{build.NewLayer("", a.Config), build.NewLayer("", a.Descriptor)} {
		open := func(offset int64) (io.ReadCloser, error) { return blob.Open(ctx, offset) }
		if err := l.PutBlob(ctx, store.Content{Digest: blob.Digest, Size: blob.Size}, open); err != nil {
			return err
		}
	}
	return nil
}

// print prints the summary of a module.
func (c *creation) print(d *ocm.Descriptor, a *build.Artifact) error {
	layers, err := summary.Layers(a.Manifest, d)
	if err != nil {
		return err
	}
	tag, err := ocm.Tag(d.Version())
	if err != nil {
		return err
	}
	s := summary.Module{
		Name: d.Name(), Version: d.Version(), Provider: d.Provider(), Tag: tag, Digest: a.Digest,
		Layers: layers, Charts: summary.Charts(d), Signatures: summary.Signatures(d),
	}
	if !c.dryRun {
		s.Layout = c.to
	}
	return c.output.Write(c.e.Out, s, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "%s %s\n", s.Name, s.Version); err != nil {
			return err
		}
		for _, l := range s.Layers {
			name := l.Resource
			if name == "" {
				name = "-"
			}
			if _, err := fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", name, l.MediaType, l.Size, l.Digest); err != nil {
				return err
			}
		}
		for _, chart := range s.Charts {
			if _, err := fmt.Fprintf(w, "%s\t%s:%s\t-\t%s\n", chart.Resource, chart.Repository, chart.Tag, chart.Digest); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintln(w, s.Digest)
		return err
	})
}
