// SPDX-License-Identifier: Apache-2.0

package module

import (
	"path"
	"regexp"
	"strings"
)

var isDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// A reference is a parsed reference to an artifact in a registry.
type reference struct {
	// repo and name are the two parts of the repository, as in a Manifest.
	repo, name string
	// tag and digest are empty if the reference has none.
	tag, digest string
}

// parseReference parses host[:port]/path[:tag][@digest]. It ignores a scheme.
func parseReference(s string) (reference, error) {
	var r reference
	bare := withoutScheme(s)
	if host, _, _ := strings.Cut(bare, "/"); strings.Contains(host, "@") {
		// The reference is not shown: it contains a secret.
		return r, invalidf("the reference contains credentials: store them in a Secret, and set pullSecretRef in spec.registries of the ProviderConfig")
	}
	bare, digest, pinned := strings.Cut(bare, "@")
	if pinned && !isDigest.MatchString(digest) {
		// The part before it is not shown either: a password may contain a slash.
		return r, invalidf("the text after @ in the reference must be a digest, sha256: followed by 64 hexadecimal digits")
	}
	r.digest = digest
	// A colon before the last slash belongs to a port.
	if i := strings.LastIndex(bare, ":"); i > strings.LastIndex(bare, "/") {
		bare, r.tag = bare[:i], bare[i+1:]
	}
	bare = strings.Trim(bare, "/")
	dir, last := path.Split(bare)
	r.repo, r.name = strings.TrimSuffix(dir, "/"), last
	if r.repo == "" || r.name == "" || strings.ContainsAny(bare, " \t\n") {
		return r, invalidf("malformed reference %.300q: must be host/path:tag or host/path@digest", s)
	}
	return r, nil
}

func withoutScheme(s string) string {
	for _, scheme := range []string{"oci://", "https://", "http://"} {
		if rest, ok := strings.CutPrefix(s, scheme); ok {
			return rest
		}
	}
	return s
}
