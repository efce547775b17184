// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"context"
	"path"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/key"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/verify"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// NewPull returns the command kymactl module pull.
func NewPull(e *command.Environment) *cobra.Command {
	t := &transfer{e: e, verb: "Pulling"}
	var registry command.RegistryFlags
	var output command.Output
	var check verification
	var to string
	c := &cobra.Command{
		Use:   "pull REF",
		Short: "Pull a module into an OCI image layout",
		Long: "Pull a module from a registry into an OCI image layout, which is a directory or a tar file. The copy is byte-for-byte " +
			"identical and includes the layers, the referenced components, the charts with format helm that are stored next to the " +
			"module, and all signatures including those of cosign. You can then use kymactl module push to push the module to " +
			"another registry, even from a machine that cannot reach the first one.\n\n" +
			"REF is host[:port]/path/component-descriptors/NAME:VERSION, or host[:port]/path//NAME:VERSION, the notation of OCM. " +
			"You can replace the version with @sha256:…, or append @sha256:… to it.\n\n" +
			"If you pull into the same directory again, the command completes an interrupted pull and skips content that already " +
			"exists. If the layout contains a different module, the command replaces nothing and fails with exit code 5, unless you " +
			"set --overwrite. The previous module is removed when the new one is complete: if the command fails, a tar file is unchanged, and " +
			"a directory still contains the previous module. Files and directories that are not layouts are never replaced.\n\n" +
			overwriteHelp + "\n\n" +
			"With --key, the command first verifies the module in the same way as kymactl module verify, and writes nothing if " +
			"verification fails.\n\n" +
			"The last line on stdout is the digest of the manifest, and the line before it is the path of the layout.",
		Example: "  kymactl module pull registry.example.org/modules/component-descriptors/example.org/module/greeter:1.0.0\n" +
			"  kymactl module pull registry.example.org/modules//example.org/module/greeter:1.0.0 -o greeter.tar --key release.pub",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := file.CheckLayout(to, &output); err != nil {
				return err
			}
			keys, err := check.read()
			if err != nil {
				return err
			}
			b, err := openVerified(ctx, e, &registry, args[0], keys)
			if err != nil {
				return err
			}
			defer b.Close()
			if to == "" {
				if to, err = nameOf(b.Descriptor()); err != nil {
					return err
				}
			}
			done, err := t.toLayout(ctx, b, to)
			if err != nil {
				return err
			}
			return t.say(ctx, b, done, "Pulled", &output)
		},
	}
	f := c.Flags()
	f.StringVarP(&to, "output", "o", "",
		"`PATH` of the layout: a directory, or a file that ends in .tar, .tar.gz or .tgz (default MODULE-VERSION)")
	registry.AddFlags(f)
	check.addFlags(f)
	t.addOverwrite(f, "a layout")
	output.AddFlag(f, true)
	return c
}

// openVerified opens a module. If keys is not empty, the module must have a signature with one of the keys; otherwise the error has
// the exit code ExitUnverified. The caller must close the bundle.
func openVerified(ctx context.Context, e *command.Environment, registry *command.RegistryFlags, reference string, keys []ocm.Key) (*bundle.Bundle, error) {
	b, err := open.Module(ctx, e, registry, reference)
	if err != nil && len(keys) > 0 {
		// A module that cannot be read is not verified. module verify returns the same exit code.
		return nil, verify.Unverified(err, false)
	}
	if err != nil {
		return nil, err
	}
	if err := verifyFirst(ctx, b, keys); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// nameOf returns the default directory for a pulled module, such as greeter-1.0.0.
func nameOf(d *ocm.Descriptor) (string, error) {
	tag, err := ocm.Tag(d.Version())
	if err != nil {
		return "", err
	}
	return baseName(d) + "-" + tag, nil
}

// baseName returns the last element of the name of a component, or module if that element is not a valid directory name.
func baseName(d *ocm.Descriptor) string {
	name := path.Base(d.Name())
	if name == "." || name == ".." || name == "/" {
		return "module"
	}
	return name
}

// verifyFirst verifies a module before it is pulled. Verified and pulled content are the same, because both are read by digest.
// It does nothing if keys is empty.
func verifyFirst(ctx context.Context, b *bundle.Bundle, keys []ocm.Key) error {
	if len(keys) == 0 {
		return nil
	}
	if err := verify.CheckSignature(ctx, b, keys); err != nil {
		return verify.Unverified(errors.Wrap(err, "nothing was written: cannot verify the module"), true)
	}
	return nil
}

// A verification holds the flags that require a signature.
type verification struct {
	wanted bool
	key    string
	name   string
}

func (v *verification) addFlags(f *pflag.FlagSet) {
	f.StringVar(&v.key, "key", "", "`FILE` with a PEM-encoded RSA public key or certificate; the module must be signed with its private key")
	f.StringVar(&v.name, "signature-name", bundle.DefaultSignature, "`NAME` of the signature to verify with --key")
	f.BoolVar(&v.wanted, "verify", false, "verify the module; requires --key, which implies this flag")
}

// read returns the key of --key, or no keys if the flag is not set. Its errors have the exit code ExitUsage.
func (v *verification) read() ([]ocm.Key, error) {
	if v.key == "" {
		if v.wanted {
			return nil, command.Usagef("--verify requires --key")
		}
		return nil, nil
	}
	k, err := key.ReadPublic(v.name, v.key)
	if err != nil {
		return nil, err
	}
	return []ocm.Key{k}, nil
}
