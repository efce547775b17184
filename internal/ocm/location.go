// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Mapping is how the name of a component becomes a repository.
type Mapping string

// The mappings. An empty one means URLPath.
const (
	URLPath      Mapping = "urlPath"       // <base>/component-descriptors/<name>
	SHA256Digest Mapping = "sha256-digest" // <base>/<SHA-256 of name, in hex>, for registries that allow no deeper paths.
)

// buildMark stands for the + of a version in its tag.
const buildMark = ".build-"

var (
	// The forms are those of the OCI distribution specification, section "Pulling manifests".
	isPath = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	isTag  = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
)

// A Location is where a registry keeps components.
type Location struct {
	BaseURL string // host[:port][/path]; a scheme is tolerated and means nothing.
	SubPath string // A path below BaseURL, or empty.
	Mapping Mapping
}

// Location returns the effective repository context, which is the last one. It
// returns false if there is none, or if it is not a registry. No signature covers it.
func (d *Descriptor) Location() (Location, bool) {
	contexts := d.spec.RepositoryContexts
	if len(contexts) == 0 {
		return Location{}, false
	}
	last := contexts[len(contexts)-1]
	// OCM writes OCIRegistry, and a version behind it.
	if !strings.EqualFold(strings.TrimSuffix(last.GetType(), "/v1"), "ociRegistry") {
		return Location{}, false
	}
	text := func(key string) string {
		s, _ := last.Object[key].(string)
		return s
	}
	return Location{BaseURL: text("baseUrl"), SubPath: text("subPath"), Mapping: Mapping(text("componentNameMapping"))}, true
}

// Repository returns the repository of a component in two parts, as the sources
// of a Manifest have them: repo/name is the repository. Neither has a scheme.
func (l Location) Repository(component string) (repo, name string, err error) {
	base := l.BaseURL
	if _, bare, ok := strings.Cut(base, "://"); ok {
		base = bare
	}
	host, path, _ := strings.Cut(base, "/")
	// No repository has this sign, and a password may hold a slash.
	if strings.Contains(base, "@") {
		// The text is left out: it contains a secret.
		return "", "", errors.New("baseUrl contains credentials: put them into the pull secret of an entry in registries")
	}
	if host == "" {
		return "", "", errors.Errorf("baseUrl %.100q names no host", l.BaseURL)
	}
	parts := []string{host}
	for _, p := range []string{path, l.SubPath} {
		p = strings.Trim(p, "/")
		if p == "" {
			continue
		}
		if !isPath.MatchString(p) {
			return "", "", errors.Errorf("baseUrl %.100q with subPath %.100q: malformed path %.100q: want lower case letters, digits and ._-/", l.BaseURL, l.SubPath, p)
		}
		parts = append(parts, p)
	}
	repo = strings.Join(parts, "/")
	switch l.Mapping {
	case URLPath, "":
		if !isPath.MatchString(component) {
			return "", "", errors.Errorf("component name %.100q cannot be the path of a repository", component)
		}
		return repo + "/component-descriptors", component, nil
	case SHA256Digest:
		sum := sha256.Sum256([]byte(component))
		return repo, hex.EncodeToString(sum[:]), nil
	}
	return "", "", errors.Errorf("componentNameMapping %.100q is not known: want %s or %s", string(l.Mapping), URLPath, SHA256Digest)
}

// Tag returns the tag that a version has in a registry, where + is .build-, as
// OCM writes it. It fails on what cannot be a tag, and on versions that contain
// .build- themselves, because two versions would have one tag.
func Tag(version string) (string, error) {
	if strings.Contains(version, buildMark) {
		return "", errors.Errorf("version %.140q contains %s, which stands for + in tags", version, buildMark)
	}
	tag := strings.ReplaceAll(version, "+", buildMark)
	if !isTag.MatchString(tag) {
		return "", errors.Errorf("version %.140q cannot be a tag: want at most 128 letters, digits and ._-+", version)
	}
	return tag, nil
}
