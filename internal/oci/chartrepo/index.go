// SPDX-License-Identifier: Apache-2.0

package chartrepo

import (
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// An index holds the entries of a chart repository by chart name. It keeps only the needed fields of
// https://helm.sh/docs/topics/chart_repository/.
type index map[string][]*indexEntry

type indexEntry struct {
	Version string   `json:"version"`
	URLs    []string `json:"urls"`
	Digest  string   `json:"digest"`
}

// maxSeparators bounds the separators of values in an index. An index of MaxIndex bytes written by helm has about as
// many; an index of nothing but commas would take gigabytes of memory to parse.
const maxSeparators = 1_500_000

func parseIndex(data []byte) (index, error) {
	var doc struct {
		Entries index `json:"entries"`
	}
	if err := (yamlsize.Limits{Bytes: 2 * MaxIndex, Values: maxSeparators}).Unmarshal(data, &doc); err != nil {
		return nil, errors.Errorf("malformed index.yaml: %s", oci.OneLine(err.Error()))
	}
	if doc.Entries == nil {
		return nil, errors.New("malformed index.yaml: entries is missing")
	}
	return doc.Entries, nil
}

// find returns the entry of name whose version is exactly version, or otherwise the newest one in the semantic
// version range version. An empty version matches any except pre-releases.
func (i index) find(name, version string) (*indexEntry, error) {
	entries, ok := i[name]
	if !ok {
		return nil, errors.Errorf("the repository has no chart %q", name)
	}
	for _, e := range entries {
		if e != nil && version != "" && e.Version == version {
			return e.check(name)
		}
	}
	if version == "" {
		version = "*"
	}
	want, err := semver.NewConstraint(version)
	if err != nil {
		return nil, errors.Errorf("the repository has no version %q of chart %q, and the version is not a valid range", version, name)
	}
	e := newest(entries, want)
	if e == nil {
		return nil, errors.Errorf("the repository has no version of chart %q that matches %q", name, version)
	}
	return e.check(name)
}

// newest returns the entry with the highest version that satisfies want, or nil.
func newest(entries []*indexEntry, want *semver.Constraints) (best *indexEntry) {
	var highest *semver.Version
	for _, e := range entries {
		if e == nil {
			continue
		}
		v, err := semver.NewVersion(e.Version)
		if err != nil || !want.Check(v) {
			continue
		}
		if highest == nil || v.GreaterThan(highest) {
			best, highest = e, v
		}
	}
	return best
}

// check returns a copy of the entry with a normalized digest, or an error if it cannot be pulled.
func (e *indexEntry) check(name string) (*indexEntry, error) {
	if len(e.URLs) == 0 || e.URLs[0] == "" {
		return nil, errors.Errorf("the repository has no URL for version %q of chart %q", e.Version, name)
	}
	c := *e
	if c.Digest == "" {
		return &c, nil
	}
	c.Digest = "sha256:" + strings.ToLower(strings.TrimPrefix(c.Digest, "sha256:"))
	if !oci.ValidDigest(c.Digest) {
		return nil, errors.Errorf("the repository has a malformed digest %q for version %q of chart %q", oci.OneLine(e.Digest), e.Version, name)
	}
	return &c, nil
}
