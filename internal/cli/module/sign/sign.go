// SPDX-License-Identifier: Apache-2.0

package sign

import (
	"context"
	"crypto"

	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/key"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/summary"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
)

type signing struct {
	e        *command.Environment
	registry command.RegistryFlags
	output   command.Output
	keyFile  string
	name     string
	cosign   bool
}

// Command returns the command kymactl module sign.
func Command(e *command.Environment) *cobra.Command {
	s := &signing{e: e}
	c := &cobra.Command{
		Use:   "sign MODULE",
		Short: "Sign a module",
		Long: "Sign a module in place, in a registry or in a layout. The signature is stored in the component descriptor, and " +
			"clusters verify it there. It covers the name and the version of the component, and the digests of all its resources " +
			"and of all components that it references. Signing changes the digest of the module, but not its layers. The tag moves " +
			"to the signed module, unless another client moves the tag at the same time. If you refer to the module by digest, use " +
			"the new digest from then on.\n\n" +
			"The command also signs the digest of the signed module in the same way as cosign sign --key, under a separate tag, for " +
			"admission controllers that require a cosign signature. To skip this, use --cosign=false.\n\n" +
			"If you sign a module again with the same key, nothing changes. A signature that has the same name but was created " +
			"with another key is never replaced. To add a second signature, use a different --signature-name.\n\n" + open.ReferenceHelp + "\n\n" +
			"The last line on stdout is the digest of the signed module.",
		Example: "  kymactl module keygen release\n" +
			"  kymactl module sign greeter.tar --key release.key\n" +
			"  kymactl module sign registry.example.org/modules//example.org/module/greeter:1.0.0 --key release.key --signature-name acme",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd.Context(), args[0])
		},
	}
	s.registry.AddFlags(c.Flags())
	c.Flags().StringVar(&s.keyFile, "key", "", "`FILE` with a PEM-encoded RSA private key, without a passphrase (required)")
	c.Flags().StringVar(&s.name, "signature-name", bundle.DefaultSignature, "`NAME` of the signature; clusters select the key by this name")
	c.Flags().BoolVar(&s.cosign, "cosign", true, "also create a cosign signature of the manifest")
	s.output.AddFlag(c.Flags(), false)
	return c
}

func (s *signing) run(ctx context.Context, reference string) error {
	if err := s.output.Check(); err != nil {
		return err
	}
	signer, err := s.signer()
	if err != nil {
		return err
	}
	regs, err := open.Registries(s.e, &s.registry, reference)
	if err != nil {
		return err
	}
	b, err := bundle.Open(ctx, reference, regs)
	if err != nil {
		return err
	}
	defer b.Close()
	signed, err := s.sign(ctx, b, signer)
	if err != nil {
		return err
	}
	return s.say(ctx, b, signed, regs)
}

// signer reads the private key of --key. Its errors have the exit code ExitUsage.
func (s *signing) signer() (crypto.Signer, error) {
	switch {
	case s.keyFile == "":
		return nil, command.Usagef("--key FILE is required: specify the private key to sign with; kymactl module keygen creates one")
	case s.name == "":
		return nil, command.Usagef("--signature-name must not be empty")
	}
	return key.ReadPrivate(s.e, s.keyFile)
}

// sign signs a module in the registry or layout from which it was opened.
func (s *signing) sign(ctx context.Context, b *bundle.Bundle, signer crypto.Signer) (signed bundle.Signed, err error) {
	o := bundle.SignOptions{Name: s.name, Signer: signer, Digest: b.Digest, Cosign: s.cosign}
	reference := b.Tag
	if reference == "" {
		reference = b.Digest
	}
	if b.Layout() == "" {
		o.Repository = b.Store.String()
		return bundle.Sign(ctx, b.Store, reference, o)
	}
	// The bundle opened the layout for reading only.
	l, err := layout.Create(ctx, b.Layout())
	if err != nil {
		return bundle.Signed{}, err
	}
	defer func() {
		// Do not publish an incomplete layout.
		if err != nil {
			_ = l.Discard()
			return
		}
		err = l.Close()
	}()
	return bundle.Sign(ctx, l, reference, o)
}

// say prints the result to stderr, and the signed module to stdout.
func (s *signing) say(ctx context.Context, b *bundle.Bundle, signed bundle.Signed, regs oci.Registries) error {
	where, pinned := b.Layout(), b.Layout()
	if where == "" {
		where, pinned = b.Store.String(), b.Store.String()
		if b.Tag != "" {
			where += ":" + b.Tag
		} else {
			where += "@" + signed.Digest
		}
	}
	if signed.Changed {
		s.e.Sayf("Signed: %s, as %s", where, s.name)
	} else {
		s.e.Sayf("Unchanged: %s is already signed as %s", where, s.name)
	}
	if s.output.Table() {
		return s.e.Print("%s\n%s", where, signed.Digest)
	}
	after, err := bundle.Open(ctx, pinned+"@"+signed.Digest, regs)
	if err != nil {
		return err
	}
	defer after.Close()
	out, err := summary.Of(ctx, after)
	if err != nil {
		return err
	}
	out.Tag = b.Tag
	return s.output.Write(s.e.Out, out, nil)
}
