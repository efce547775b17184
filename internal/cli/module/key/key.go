// SPDX-License-Identifier: Apache-2.0

package key

import (
	"crypto"
	"io"
	"os"
	"runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// maxKey is the maximum size of a key file, in bytes.
const maxKey = 64 << 10

// ReadPrivate reads a private key for signing from a PEM file. It warns if other users may read the file. Its errors have the exit code
// ExitUsage.
func ReadPrivate(e *command.Environment, file string) (crypto.Signer, error) {
	// Windows has no such permissions. A pipe or a device does not store the key.
	if i, err := os.Stat(file); err == nil && i.Mode().IsRegular() && i.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		e.Warnf("--key %s can be accessed by other users (mode %04o); run chmod 600 %s", file, i.Mode().Perm(), file)
	}
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	signer, err := ocm.ParsePrivateKey(data)
	return signer, command.WithCode(command.ExitUsage, errors.Wrapf(err, "--key %s", file))
}

// ReadPublic reads a public key or a certificate from a PEM file. The key verifies signatures with the given name. Its errors
// have the exit code ExitUsage.
func ReadPublic(signature, file string) (ocm.Key, error) {
	data, err := read(file)
	if err != nil {
		return ocm.Key{}, err
	}
	k, err := ocm.ParseKey(signature, data)
	return k, command.WithCode(command.ExitUsage, errors.Wrapf(err, "--key %s", file))
}

// read reads a file of at most maxKey bytes. It stops reading after this limit, because the file can be an endless device.
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
		return nil, command.Usagef("--key %s: file is larger than %d bytes and cannot be a key", file, maxKey)
	}
	return data, nil
}
