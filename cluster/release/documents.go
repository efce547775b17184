// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/crossplane-contrib/provider-kyma/cluster/images/image"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/krew"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/notes"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/provenance"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/registry"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/sbom"
)

// These are the names of files.
const (
	sumsFile       = "SHA256SUMS"
	digestsFile    = "digests.txt"
	notesFile      = "notes.md"
	provenanceFile = "provenance.intoto.json"
	krewFile       = krew.Name + ".yaml"
)

// A part is the image of an artifact for a platform.
type part struct {
	// name is the name of the SBOM, without its extension.
	name  string
	image v1.Image
	// info is the build information of the program, if there is one.
	info *debug.BuildInfo
}

// artifact adds an artifact that is pushed, and the SBOMs of its parts.
func (r *release) artifact(name string, all partial.Describable, parts ...part) error {
	digest, err := all.Digest()
	if err != nil {
		return errors.Wrapf(err, "cannot compute the digest of %s", name)
	}
	r.digests[name] = digest.String()
	a := registry.Artifact{Name: name, Manifest: all, Parts: map[v1.Hash][]registry.Document{}}
	for _, p := range parts {
		digest, err := p.image.Digest()
		if err != nil {
			return errors.Wrapf(err, "cannot compute the digest of %s", p.name)
		}
		if p.info != nil {
			r.digests[p.name] = digest.String()
		}
		s := sbom.Subject{Name: p.name, SHA256: digest.Hex, Purpose: sbom.Archive}
		if p.info != nil {
			roots, ok := image.Roots()
			if !ok {
				return errors.Errorf("this program does not know the version of its module %s: build it with go build or go run", image.RootsModule)
			}
			s.Purpose, s.Program, s.Info, s.Others = sbom.Container, "provider", p.info, []debug.Module{roots}
		}
		document, err := r.bill(s)
		if err != nil {
			return err
		}
		a.Documents = append(a.Documents, document)
		a.Parts[digest] = []registry.Document{document}
	}
	r.artifacts = append(r.artifacts, a)
	return nil
}

// bill writes the SBOM of a binary, image or package.
func (r *release) bill(s sbom.Subject) (registry.Document, error) {
	data, err := sbom.Document(sbom.Origin{URL: repositoryURL, Version: r.order.source.Version, Commit: r.commit.id, Time: r.commit.time}, s)
	if err != nil {
		return registry.Document{}, err
	}
	d := registry.Document{Name: s.Name + ".spdx.json", MediaType: sbom.MediaType, Data: data}
	return d, r.write(d.Name, data)
}

// describe writes what describes the whole release. The order matters: the provenance covers the files before it, and the sums cover
// all files.
func (r *release) describe() error {
	steps := []func() error{r.krew, r.notes, r.writeDigests, r.provenance, r.writeSums}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) krew() error {
	data, err := krew.Manifest(r.order.source.Version, repositoryURL, r.archives...)
	if err != nil {
		return err
	}
	return r.write(krewFile, data)
}

func (r *release) notes() error {
	changelog, err := os.ReadFile(filepath.Join(r.order.source.Root, "CHANGELOG.md"))
	if err != nil {
		return errors.Wrap(err, "cannot read the changelog")
	}
	text, err := notes.Of(string(changelog), r.order.source.Version, repositoryURL+"/blob/"+r.order.source.Version)
	if err != nil {
		return err
	}
	return r.write(notesFile, []byte(text))
}

// writeDigests writes and prints the digests.
func (r *release) writeDigests() error {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.digests)) {
		fmt.Fprintln(&out, name, r.digests[name])
	}
	r.sayf("%s", strings.TrimSpace(out.String()))
	return r.write(digestsFile, []byte(out.String()))
}

// provenance writes the provenance, and attaches it to all artifacts.
func (r *release) provenance() error {
	platforms := make([]string, 0, len(r.order.platforms))
	for _, p := range r.order.platforms {
		platforms = append(platforms, p.String())
	}
	subjects := maps.Clone(r.sums)
	for name, digest := range r.digests {
		subjects[name] = strings.TrimPrefix(digest, "sha256:")
	}
	data, err := provenance.Statement(provenance.Build{
		Repository: repositoryURL, Commit: r.commit.id, Modified: r.commit.modified,
		Type: guide + "#the-provenance", Builder: r.order.builder, Go: r.toolchain,
		Parameters: map[string]string{
			"version": r.order.source.Version, "platforms": strings.Join(platforms, ","), "baseURL": r.order.baseURL,
		},
		Subjects: subjects,
	})
	if err != nil {
		return err
	}
	d := registry.Document{Name: provenanceFile, MediaType: provenance.MediaType, Data: data}
	for i := range r.artifacts {
		a := &r.artifacts[i]
		a.Documents = append(a.Documents, d)
		for digest := range a.Parts {
			a.Parts[digest] = append(a.Parts[digest], d)
		}
	}
	return r.write(d.Name, data)
}

// writeSums writes the sums of all files, in the format of sha256sum.
func (r *release) writeSums() error {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		fmt.Fprintf(&out, "%s  %s\n", r.sums[name], name)
	}
	return r.write(sumsFile, []byte(out.String()))
}
