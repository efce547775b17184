// SPDX-License-Identifier: Apache-2.0

package key

import (
	"crypto"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// maxKey bounds a file with a key, in bytes.
const maxKey = 64 << 10

// ReadPrivate reads the PEM file with the private key to sign with.
func ReadPrivate(file string) (crypto.Signer, error) {
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	signer, err := ocm.ParsePrivateKey(data)
	return signer, command.WithCode(command.ExitUsage, errors.Wrapf(err, "--key %s", file))
}

// ReadPublic reads the PEM file with the public key or the certificate that signatures of a name are verified with.
func ReadPublic(signature, file string) (ocm.Key, error) {
	data, err := read(file)
	if err != nil {
		return ocm.Key{}, err
	}
	k, err := ocm.ParseKey(signature, data)
	return k, command.WithCode(command.ExitUsage, errors.Wrapf(err, "--key %s", file))
}

// read no more of a file than a key can have, as it may be a device without an end.
func read(file string) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // The user names their own file.
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, errors.Wrap(err, "--key"))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, errors.Wrap(err, "--key"))
	}
	if len(data) > maxKey {
		return nil, command.Usagef("--key %s is larger than %d bytes: it is no key", file, maxKey)
	}
	return data, nil
}
