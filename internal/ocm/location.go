// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Mapping defines how the name of a component is mapped to a repository.
type Mapping string

// Mappings. An empty one means URLPath.
const (
	URLPath      Mapping = "urlPath"       // <base>/component-descriptors/<name>
	SHA256Digest Mapping = "sha256-digest" // <base>/<SHA-256 of name, in hex>, for registries that do not allow deeper paths.
)

// buildMark replaces the + of a version in its tag.
const buildMark = ".build-"

var (
	// Patterns of the OCI distribution specification, section "Pulling manifests".
	isPath = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	isTag  = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
)

// A Location is the place of components in a registry.
type Location struct {
	BaseURL string // host[:port][/path]; a scheme is ignored.
	SubPath string // A path below BaseURL, or empty.
	Mapping Mapping
}

// Location returns the effective repository context, which is the last one. It returns false if there is none, or if it
// is not a registry. No signature covers it.
func (d *Descriptor) Location() (Location, bool) {
	contexts := d.spec.RepositoryContexts
	if len(contexts) == 0 {
		return Location{}, false
	}
	last := contexts[len(contexts)-1]
	// OCM writes OCIRegistry, followed by a version.
	if !strings.EqualFold(strings.TrimSuffix(last.GetType(), "/v1"), "ociRegistry") {
		return Location{}, false
	}
	text := func(key string) string {
		s, _ := last.Object[key].(string)
		return s
	}
	return Location{BaseURL: text("baseUrl"), SubPath: text("subPath"), Mapping: Mapping(text("componentNameMapping"))}, true
}

// Repository returns the repository of a component in two parts, as in the sources of a Manifest: repo/name is the
// repository. Neither has a scheme.
func (l Location) Repository(component string) (repo, name string, err error) {
	base := l.BaseURL
	if _, bare, ok := strings.Cut(base, "://"); ok {
		base = bare
	}
	host, path, _ := strings.Cut(base, "/")
	// No repository contains an @, and a password may contain a slash.
	if strings.Contains(base, "@") {
		// The URL is not shown: it contains a secret.
		return "", "", errors.New("baseUrl contains credentials: store them in a Secret, and set pullSecretRef in spec.registries of the ProviderConfig")
	}
	if host == "" {
		return "", "", errors.Errorf("baseUrl %.100q has no host", l.BaseURL)
	}
	parts := []string{host}
	for _, p := range []string{path, l.SubPath} {
		p = strings.Trim(p, "/")
		if p == "" {
			continue
		}
		if !isPath.MatchString(p) {
			return "", "", errors.Errorf("baseUrl %.100q with subPath %.100q: malformed path %.100q: must consist of "+
				"lowercase letters, digits, '.', '_', '-' or '/'", l.BaseURL, l.SubPath, p)
		}
		parts = append(parts, p)
	}
	repo = strings.Join(parts, "/")
	switch l.Mapping {
	case URLPath, "":
		if !isPath.MatchString(component) {
			return "", "", errors.Errorf("component name %.100q is not a valid repository path", component)
		}
		return repo + "/component-descriptors", component, nil
	case SHA256Digest:
		sum := sha256.Sum256([]byte(component))
		return repo, hex.EncodeToString(sum[:]), nil
	}
	return "", "", errors.Errorf("unknown componentNameMapping %.100q: must be %s or %s", string(l.Mapping), URLPath, SHA256Digest)
}

// Tag returns the tag of a version in a registry, where .build- replaces +, as in OCM. It returns an error if the
// result is not a valid tag, or if the version itself contains .build-, because two versions would then have the same
// tag.
func Tag(version string) (string, error) {
	if strings.Contains(version, buildMark) {
		return "", errors.Errorf("version %.140q must not contain %s, which replaces + in tags", version, buildMark)
	}
	tag := strings.ReplaceAll(version, "+", buildMark)
	if !isTag.MatchString(tag) {
		return "", errors.Errorf("version %.140q cannot be used as a tag: must consist of at most 128 letters, digits, '.', '_', '-' or '+'", version)
	}
	return tag, nil
}
