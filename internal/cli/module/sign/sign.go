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

// Command makes kymactl module sign.
func Command(e *command.Environment) *cobra.Command {
	s := &signing{e: e}
	c := &cobra.Command{
		Use:   "sign MODULE",
		Short: "Sign a module",
		Long: "Sign a module where it lies, in a registry or in a layout. The signature is part of the component descriptor, which is what clusters " +
			"verify: it covers the name and the version of the component, and the digests of all its resources and of all components that it " +
			"references. The module gets another digest, all its layers stay, and its tag moves to the signed module, unless somebody else " +
			"moves it at the same time. What is named by a digest alone is found by its new digest then.\n\n" +
			"In addition the digest of the signed module is signed as cosign sign --key does it, under a tag of its own, for admission " +
			"controllers that look for that; --cosign=false leaves it out.\n\n" +
			"To sign twice with the same key changes nothing. A signature of the same name by another key is never replaced: use another " +
			"--signature-name, and a module then has both.\n\n" +
			open.ReferenceHelp + "\n\n" +
			"The last line on stdout is the digest of the signed module.",
		Example: "  kymactl module keygen release\n" +
			"  kymactl module sign greeter.tar --key release.key\n" +
			"  kymactl module sign registry.example.org/modules//example.org/module/greeter:1.0.0 --key release.key --signature-name acme",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd.Context(), args[0])
		},
	}
	s.registry.AddFlags(c.Flags())
	c.Flags().StringVar(&s.keyFile, "key", "", "PEM `FILE` with the private RSA key, without a passphrase (required)")
	c.Flags().StringVar(&s.name, "signature-name", bundle.DefaultSignature, "`NAME` of the signature, by which clusters choose the key")
	c.Flags().BoolVar(&s.cosign, "cosign", true, "also sign the manifest as cosign does")
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

func (s *signing) signer() (crypto.Signer, error) {
	switch {
	case s.keyFile == "":
		return nil, command.Usagef("--key FILE is missing: the private key to sign with, such as kymactl module keygen makes")
	case s.name == "":
		return nil, command.Usagef("--signature-name is empty")
	}
	return key.ReadPrivate(s.keyFile)
}

// sign the module where it was opened.
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
	// It was opened for reading.
	l, err := layout.Create(ctx, b.Layout())
	if err != nil {
		return bundle.Signed{}, err
	}
	defer func() {
		// Half of it is not published.
		if err != nil {
			_ = l.Discard()
			return
		}
		err = l.Close()
	}()
	return bundle.Sign(ctx, l, reference, o)
}

// say what became of it, on stderr, and write it to stdout.
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
		s.e.Sayf("Unchanged: %s is signed as %s already", where, s.name)
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
