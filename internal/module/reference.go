// SPDX-License-Identifier: Apache-2.0

package module

import (
	"path"
	"regexp"
	"strings"
)

var isDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// A reference is a place in a registry.
type reference struct {
	// repo and name are the repository in two parts, as a Manifest has them.
	repo, name string
	// tag and digest are empty where the reference has none.
	tag, digest string
}

// parseReference reads host[:port]/path[:tag][@digest]. A scheme is tolerated and means nothing.
func parseReference(s string) (reference, error) {
	var r reference
	bare := withoutScheme(s)
	if host, _, _ := strings.Cut(bare, "/"); strings.Contains(host, "@") {
		// The text is left out: it contains a secret.
		return r, invalidf("its reference contains credentials: put them into the pull secret of an entry in registries")
	}
	bare, digest, pinned := strings.Cut(bare, "@")
	if pinned && !isDigest.MatchString(digest) {
		// What is before it is left out too: a password may hold a slash.
		return r, invalidf("its reference has behind @ no digest; want sha256: and 64 hexadecimal digits")
	}
	r.digest = digest
	// A colon before the last slash is that of a port.
	if i := strings.LastIndex(bare, ":"); i > strings.LastIndex(bare, "/") {
		bare, r.tag = bare[:i], bare[i+1:]
	}
	bare = strings.Trim(bare, "/")
	dir, last := path.Split(bare)
	r.repo, r.name = strings.TrimSuffix(dir, "/"), last
	if r.repo == "" || r.name == "" || strings.ContainsAny(bare, " \t\n") {
		return r, invalidf("reference %.300q is malformed; want host/path:tag or host/path@digest", s)
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
