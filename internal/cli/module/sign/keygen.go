// SPDX-License-Identifier: Apache-2.0

package sign

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// keyBits is the size of new keys in bits. NIST recommends this size beyond 2030.
const keyBits = 3072

// NewKeygen returns the command kymactl module keygen.
func NewKeygen(e *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "keygen PREFIX",
		Short: "Create a key pair for signing modules",
		Long: "Create a 3072-bit RSA key pair. PREFIX.key is the private key for kymactl module sign (PKCS#8, not encrypted, readable " +
			"only by its owner). PREFIX.pub is the public key (PKIX) for kymactl module verify, and for the Secret to which " +
			"verification.keys of a ProviderConfig refers. Both are PEM files. If one of the files already exists, the command " +
			"fails and does not replace it.\n\n" +
			"You can also use any other RSA key of at least 2048 bits, such as the key of a certificate.",
		Example: "  kymactl module keygen release",
		Args:    command.Args(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			private, public := args[0]+".key", args[0]+".pub"
			if err := generate(private, public); err != nil {
				return err
			}
			e.Sayf("Keep %s private. You can share %s.", private, public)
			return e.Print("%s\n%s", private, public)
		},
	}
}

// generate creates a key pair, and writes both keys to new files or neither of them.
func generate(private, public string) error {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return errors.Wrap(err, "cannot create a key")
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return errors.Wrap(err, "cannot encode the key")
	}
	open, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return errors.Wrap(err, "cannot encode the public key")
	}
	if err := writeNew(private, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600); err != nil {
		return err
	}
	if err := writeNew(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open}), 0o644); err != nil {
		return errors.Join(err, os.Remove(private))
	}
	return nil
}

// writeNew writes a new file. It returns an error with the exit code ExitExists if the file exists.
func writeNew(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) //nolint:gosec // The user names the file.
	switch {
	case errors.Is(err, fs.ErrExist):
		return command.WithCode(command.ExitExists, errors.Errorf("%s exists: remove it, or use another prefix", path))
	case err != nil:
		return errors.Wrap(err, "cannot write a key")
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(errors.Wrapf(err, "cannot write %s", path), os.Remove(path))
	}
	return nil
}
