// SPDX-License-Identifier: Apache-2.0

package sbom

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Purpose is what an artifact is, in the terms of SPDX.
type Purpose string

// These are the purposes of the artifacts of a release.
const (
	Application Purpose = "APPLICATION"
	Container   Purpose = "CONTAINER"
	// Archive is a package without a program.
	Archive Purpose = "ARCHIVE"
	library Purpose = "LIBRARY"
)

// A Subject is the artifact that a document describes.
type Subject struct {
	// Name is the name of the artifact and its platform.
	Name string
	// SHA256 is the digest of the artifact in hexadecimal.
	SHA256  string
	Purpose Purpose
	// Info is the build information of the binary, if there is one. Program is the name of the binary in an image or a package. It is
	// empty if the artifact is the binary.
	Info    *debug.BuildInfo
	Program string
	// Others are modules of which the artifact contains other parts than code.
	Others []debug.Module
}

// An Origin says where and when the sources were made.
type Origin struct {
	// URL is the address of the repository without a slash at the end, and Version is the version of the release.
	URL, Version string
	// Commit is the full commit, and Time is its time.
	Commit string
	Time   time.Time
}

// builder collects the parts of a document.
type builder struct {
	document

	origin Origin
}

// Read returns the build information of a binary.
func Read(binary []byte) (*debug.BuildInfo, error) {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	return info, errors.Wrap(err, "cannot read the build information of a binary")
}

// Document returns the document for an artifact.
func Document(o Origin, s Subject) ([]byte, error) {
	b := &builder{origin: o, document: document{
		SPDXVersion: spdxVersion, DataLicense: dataLicense, ID: documentID, Name: s.Name,
		// It must be unique. The digest makes it so, and a random number would differ with each build.
		DocumentNamespace: o.URL + "/spdx/" + o.Version + "/" + s.Name + "-" + s.SHA256,
		CreationInfo: creationInfo{
			Created:  o.Time.UTC().Format(time.RFC3339),
			Creators: []string{"Tool: provider-kyma-release-" + o.Version},
		},
	}}
	root := b.own(s.Name, s.Purpose, s.SHA256)
	b.relate(documentID, describes, root)
	if s.Info != nil {
		b.modules(s, root)
	}
	for i := range s.Others {
		b.relate(root, contains, b.module(&s.Others[i]))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(b.document)
	return out.Bytes(), errors.Wrap(err, "cannot encode an SBOM")
}

// modules adds the modules of the binary of a subject.
func (b *builder) modules(s Subject, root string) {
	program := root
	if s.Program != "" {
		program = b.own(s.Program, Application, "")
		b.relate(root, contains, program)
	}
	version := strings.TrimPrefix(s.Info.GoVersion, "go")
	b.relate(program, dependsOn, b.add(&component{
		Name: "stdlib", VersionInfo: version, PrimaryPackagePurpose: string(library), LicenseDeclared: "BSD-3-Clause",
		ExternalRefs: purl("pkg:golang/stdlib@" + version),
	}))
	deps := slices.SortedFunc(slices.Values(s.Info.Deps), func(a, b *debug.Module) int { return strings.Compare(a.Path, b.Path) })
	for _, d := range deps {
		if d.Replace != nil {
			d = d.Replace
		}
		b.relate(program, dependsOn, b.module(d))
	}
}

// own adds an artifact of this repository, and returns its ID.
func (b *builder) own(name string, purpose Purpose, sha256 string) string {
	c := &component{
		Name: name, VersionInfo: b.origin.Version, PrimaryPackagePurpose: string(purpose), LicenseDeclared: "Apache-2.0",
		DownloadLocation: "git+" + b.origin.URL + "@" + b.origin.Commit,
	}
	if sha256 != "" {
		c.Checksums = []checksum{{Algorithm: "SHA256", Value: sha256}}
	}
	return b.add(c)
}

// module adds a Go module, and returns its ID.
func (b *builder) module(m *debug.Module) string {
	c := &component{
		Name: m.Path, VersionInfo: m.Version, PrimaryPackagePurpose: string(library),
		ExternalRefs: purl("pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")),
	}
	// The sum covers the files of the module, so it is not a checksum of the package, which is that of an archive.
	if m.Sum != "" {
		c.SourceInfo = "go.sum: " + m.Sum
	}
	return b.add(c)
}

func purl(locator string) []externalRef {
	return []externalRef{{Category: "PACKAGE-MANAGER", Type: "purl", Locator: locator}}
}

// unsafe matches what an ID cannot contain.
var unsafe = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// add adds a component with defaults, and returns its ID. The same component is added once.
func (b *builder) add(c *component) string {
	c.ID = "SPDXRef-" + unsafe.ReplaceAllString(c.Name+"-"+c.VersionInfo, "-")
	if slices.ContainsFunc(b.Packages, func(o component) bool { return o.ID == c.ID }) {
		return c.ID
	}
	c.LicenseConcluded, c.CopyrightText = noAssertion, noAssertion
	if c.LicenseDeclared == "" {
		c.LicenseDeclared = noAssertion
	}
	if c.DownloadLocation == "" {
		c.DownloadLocation = noAssertion
	}
	b.Packages = append(b.Packages, *c)
	return c.ID
}

func (b *builder) relate(from, kind, to string) {
	b.Relationships = append(b.Relationships, relationship{From: from, Type: kind, To: to})
}
