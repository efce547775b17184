// SPDX-License-Identifier: Apache-2.0

package signing

import (
	"context"
	"net"
	"os/exec"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Signer runs cosign.
type Signer struct {
	// Cosign is the path of cosign.
	Cosign string
	// Key is the file or the URI of the private key. cosign reads its password from COSIGN_PASSWORD.
	Key string
}

// Image signs a manifest, given by its reference with a digest, and all manifests of an index. The signatures have the format of
// cosign 2, because that is what Crossplane and admission controllers verify.
func (s Signer) Image(ctx context.Context, reference string) error {
	return s.run(ctx, imageArguments(s.Key, reference)...)
}

// File signs a file, and writes the signature to another one.
func (s Signer) File(ctx context.Context, path, signature string) error {
	return s.run(ctx, "sign-blob", "--key", s.Key, "--use-signing-config=false", "--tlog-upload=false", "--bundle", signature, "--yes", path)
}

func imageArguments(key, reference string) []string {
	args := []string{"sign", "--key", key, "--recursive", "--new-bundle-format=false", "--use-signing-config=false", "--tlog-upload=false", "--yes"}
	if onLoopback(reference) {
		args = append(args, "--allow-http-registry")
	}
	return append(args, reference)
}

// onLoopback reports whether the registry of a reference is on this machine, and so can use plain HTTP.
func onLoopback(reference string) bool {
	host, _, _ := strings.Cut(reference, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s Signer) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.Cosign, args...)
	out, err := cmd.CombinedOutput()
	return errors.Wrapf(err, "cosign %s: %s", args[0], strings.TrimSpace(string(out)))
}
