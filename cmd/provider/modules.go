// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// verificationKeys reads the public keys in the files that --module-verification-key names. Each value has the form NAME=FILE.
func verificationKeys(flags []string) ([]ocm.Key, error) {
	out := make([]ocm.Key, 0, len(flags))
	for _, flag := range flags {
		name, file, ok := strings.Cut(flag, "=")
		if !ok || name == "" || file == "" {
			return nil, errors.Errorf("invalid value %q: must be NAME=FILE, with the name of the signature and a file with the PEM-encoded public key", flag)
		}
		b, err := os.ReadFile(file) //nolint:gosec // The administrator names the file.
		if err != nil {
			return nil, errors.Wrapf(err, "signature %q", name)
		}
		key, err := ocm.ParseKey(name, b)
		if err != nil {
			return nil, errors.Wrapf(err, "signature %q: file %s", name, file)
		}
		out = append(out, key)
	}
	return out, nil
}
