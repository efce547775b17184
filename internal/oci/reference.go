// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	ociScheme = "oci://"

	// maxReference and maxPath bound references and paths, in bytes. Registries accept no longer paths.
	maxReference = 4096
	maxPath      = 255
)

var (
	isScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)

	// The formats are those of the OCI distribution specification, section "Pulling manifests".
	isPath   = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	isTag    = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	isDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

	// isHost matches a DNS name, an IPv4 address or an IPv6 address in brackets, with or without a port.
	isHost = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:]*:[0-9a-f:.]*\])(:[0-9]{1,5})?$`)
)

// A Reference names an artifact or a repository.
type Reference struct {
	Repository string // host[:port]/path
	Tag        string // May be empty.
	Digest     string // sha256:…, or empty.
}

// ParseReference parses host[:port]/path[:tag][@sha256:…]. It accepts and drops the scheme oci://, and returns the
// host in lower case. The host must have a dot, a port or brackets, or be localhost: there is no default registry.
// Errors state the problem and never contain credentials.
func ParseReference(s string) (Reference, error) {
	r, err := parseReference(s)
	return r, errors.Wrapf(err, "malformed reference %q", Redact(s))
}

func parseReference(s string) (Reference, error) {
	if len(s) > maxReference {
		return Reference{}, errors.Errorf("must be at most %d bytes", maxReference)
	}
	bare := strings.TrimPrefix(s, ociScheme)
	if scheme, _, ok := strings.Cut(bare, "://"); ok && isScheme.MatchString(scheme) {
		return Reference{}, errors.Errorf("scheme %s:// is not supported: omit the scheme, or use oci://", OneLine(scheme))
	}
	var r Reference
	bare, r.Digest, _ = strings.Cut(bare, "@")
	// Text after @ that is not a digest may be part of a password, and so may all text before it.
	if strings.Contains(s, "@") && !isDigest.MatchString(r.Digest) {
		return Reference{}, errors.New("the text after @ must be a digest, sha256: followed by 64 lowercase hexadecimal " +
			"digits; credentials belong in the Docker configuration")
	}
	host, path, _ := strings.Cut(bare, "/")
	if path == "" {
		return Reference{}, errors.New("the path of the repository is missing: use host[:port]/path[:tag][@digest]")
	}
	host = strings.ToLower(host)
	if err := checkHost(host); err != nil {
		return Reference{}, err
	}
	path, tag, tagged := strings.Cut(path, ":")
	if tagged && !isTag.MatchString(tag) {
		return Reference{}, errors.Errorf("malformed tag %q: must consist of 1 to 128 letters, digits, '.', '_' or '-', "+
			"and must not begin with '.' or '-'", OneLine(tag))
	}
	if len(path) > maxPath || !isPath.MatchString(path) {
		return Reference{}, errors.Errorf("malformed path %q: must consist of lowercase letters, digits, '.', '_', '-' or "+
			"'/', and be at most %d bytes long", OneLine(path), maxPath)
	}
	r.Repository, r.Tag = host+"/"+path, tag
	return r, nil
}

func checkHost(host string) error {
	if !isHost.MatchString(host) {
		return errors.Errorf("malformed host %q: must be a host name or an IP address, with an optional port", OneLine(host))
	}
	if !strings.ContainsAny(host, ".:") && host != "localhost" {
		return errors.Errorf("%q is not a registry host: it has neither a dot nor a port", host)
	}
	return nil
}

// String returns the reference in the form that ParseReference accepts.
func (r Reference) String() string {
	s := r.Repository
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// ValidTag reports whether tag can be the tag of an artifact.
func ValidTag(tag string) bool { return isTag.MatchString(tag) }

// ValidDigest reports whether digest is sha256: and 64 hexadecimal digits in lower case.
func ValidDigest(digest string) bool { return isDigest.MatchString(digest) }

// DigestOf returns the digest of data in the form that registries use.
func DigestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
