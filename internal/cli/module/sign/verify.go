// SPDX-License-Identifier: Apache-2.0

package sign

import (
	"context"
	"fmt"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/key"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/verify"
	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// A Verification is the output of module verify in JSON and YAML. Fields can be
// added, but not removed.
type Verification struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository,omitempty"` // host[:port]/path; empty for a layout.
	Layout     string `json:"layout,omitempty"`     // Path of a layout.
	Tag        string `json:"tag,omitempty"`
	Digest     string `json:"digest"`    // Digest of the verified manifest, sha256:….
	Signature  string `json:"signature"` // Name of the valid signature.
	Cosign     bool   `json:"cosign"`    // True if --cosign was set and the cosign signature is valid.
}

type verifying struct {
	e        *command.Environment
	registry command.RegistryFlags
	output   command.Output
	keyFiles []string
	name     string
	cosign   bool
}

// NewVerify returns the command kymactl module verify.
func NewVerify(e *command.Environment) *cobra.Command {
	v := &verifying{e: e}
	c := &cobra.Command{
		Use:   "verify MODULE",
		Short: "Verify the signature and the content of a module",
		Long: "Verify a module in the same way as a cluster with signature verification does. The component descriptor must have a " +
			"signature that has the given name and was created with one of the given keys. The signature must match the current " +
			"content of the descriptor, and every layer and every referenced component must match the signed digests.\n\n" +
			"A module without a signature fails verification. If verification fails, the exit code is 4, and a line on stderr names " +
			"the problem.\n\n" + open.ReferenceHelp + "\n\n" +
			"The last line on stdout is the digest of the verified module. To install exactly the module that was verified, refer " +
			"to it by this digest.",
		Example: "  kymactl module verify registry.example.org/modules//example.org/module/greeter:1.0.0 --key release.pub\n" +
			"  kymactl module verify ./greeter --key old.pub --key new.pub --signature-name acme --cosign -o json",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd.Context(), args[0])
		},
	}
	v.registry.AddFlags(c.Flags())
	c.Flags().StringArrayVar(&v.keyFiles, "key", nil,
		"`FILE` with a PEM-encoded RSA public key or certificate (required); can be repeated, in which case one key must match")
	c.Flags().StringVar(&v.name, "signature-name", bundle.DefaultSignature, "`NAME` that the signature must have")
	c.Flags().BoolVar(&v.cosign, "cosign", false, "also require a cosign signature of the manifest that was created with one of the keys")
	v.output.AddFlag(c.Flags(), false)
	return c
}

func (v *verifying) run(ctx context.Context, reference string) error {
	if err := v.output.Check(); err != nil {
		return err
	}
	keys, err := v.keys()
	if err != nil {
		return err
	}
	regs, err := open.Registries(v.e, &v.registry, reference)
	if err != nil {
		return err
	}
	b, err := bundle.Open(ctx, reference, regs)
	if err != nil {
		return verify.Unverified(err, false)
	}
	defer b.Close()
	if err := v.verify(ctx, b, keys); err != nil {
		return verify.Unverified(errors.Wrapf(err, "%s is not verified", reference), true)
	}
	return v.say(b)
}

func (v *verifying) verify(ctx context.Context, b *bundle.Bundle, keys []ocm.Key) error {
	if err := verify.CheckSignature(ctx, b, keys); err != nil {
		return err
	}
	if !v.cosign {
		return nil
	}
	return verifyCosign(ctx, b, keys)
}

// keys reads the public keys from the files of --key. Its errors have the exit code ExitUsage.
func (v *verifying) keys() ([]ocm.Key, error) {
	switch {
	case len(v.keyFiles) == 0:
		return nil, command.Usagef("--key FILE is required: specify the public key that matches the private key of the signature")
	case v.name == "":
		return nil, command.Usagef("--signature-name must not be empty")
	}
	keys := make([]ocm.Key, 0, len(v.keyFiles))
	for _, file := range v.keyFiles {
		k, err := key.ReadPublic(v.name, file)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// verifyCosign verifies that a module has a cosign signature with one of the keys.
func verifyCosign(ctx context.Context, b *bundle.Bundle, keys []ocm.Key) error {
	var err error
	for _, k := range keys {
		if err = cosign.Verify(ctx, b.Store, b.Digest, k.Public()); err == nil {
			return nil
		}
		var unsigned *cosign.NotSignedError
		if !errors.As(err, &unsigned) {
			return err
		}
	}
	return err
}

// say prints the result to stderr, and the verification to stdout.
func (v *verifying) say(b *bundle.Bundle) error {
	d := b.Descriptor()
	out := Verification{
		Name: d.Name(), Version: d.Version(), Layout: b.Layout(), Tag: b.Tag, Digest: b.Digest, Signature: v.name, Cosign: v.cosign,
	}
	if out.Layout == "" {
		out.Repository = b.Store.String()
	}
	also := ""
	if v.cosign {
		also = ", and with cosign"
	}
	v.e.Sayf("Verified: %s:%s is signed as %s%s", d.Name(), d.Version(), v.name, also)
	return v.output.Write(v.e.Out, out, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n%s\n", out.Signature, out.Digest)
		return err
	})
}
