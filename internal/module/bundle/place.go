// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

const (
	// descriptors is the parent of the repositories of components under the mapping urlPath.
	descriptors = "component-descriptors"
	// ocmMark separates base and component in the notation of OCM.
	ocmMark = "//"
	scheme  = "oci://"
)

// A place is a parsed reference: a path, or a repository.
type place struct {
	path       string
	repository string
	// tag and digest are not both empty, except for a path.
	tag, digest string
	// version is the version that the component must have, or empty.
	version string
}

// locate parses the reference of a module.
func locate(reference string) (place, error) {
	if reference == "" {
		return place{}, errors.New("the reference of the module is empty")
	}
	if exists(reference) {
		return place{path: reference}, nil
	}
	if at, ok := inLayout(reference); ok {
		// Anything else would be a name that the author of the layout has chosen.
		if strings.HasPrefix(reference[len(at.path):], "@") && !oci.ValidDigest(at.digest) {
			return place{}, errors.Errorf("reference %.300q: the text after @ must be a digest, sha256: followed by 64 "+
				"lowercase hexadecimal digits", reference)
		}
		return at, nil
	}
	if isPath(reference) {
		return place{}, &store.NotFoundError{What: "file or directory " + reference, Store: "the local file system"}
	}
	if err := refuse(reference); err != nil {
		return place{}, err
	}
	if base, component, ok := splitOCM(reference); ok {
		return locateOCM(base, component)
	}
	r, err := oci.ParseReference(mapBuild(reference))
	if err != nil {
		return place{}, err
	}
	if r.Tag == "" && r.Digest == "" {
		return place{}, errors.Errorf("reference %.300q has neither a tag nor a digest: append the version, such as "+
			"%s:1.0.0, or @sha256:…", reference, r.Repository)
	}
	return place{repository: r.Repository, tag: r.Tag, digest: r.Digest}, nil
}

// Host returns the host[:port] of the registry of a reference; "" for a layout. It returns the error that Open would
// return for a malformed reference, without opening anything.
func Host(reference string) (string, error) {
	at, err := locate(reference)
	host, _, _ := strings.Cut(at.repository, "/")
	return host, err
}

// IsPath reports whether a reference, or a destination, is a path and not in a registry.
func IsPath(reference string) bool {
	if exists(reference) || isPath(reference) {
		return true
	}
	_, ok := inLayout(reference)
	return ok
}

// inLayout parses path:tag and path@digest if the path exists.
func inLayout(reference string) (place, bool) {
	if i := strings.LastIndex(reference, "@"); i > 0 && exists(reference[:i]) {
		return place{path: reference[:i], digest: reference[i+1:]}, true
	}
	// A tag contains no slash: a directory may be named like a host.
	if i := strings.LastIndex(reference, ":"); i > 0 && !strings.Contains(reference[i:], "/") && exists(reference[:i]) {
		tag := reference[i+1:]
		if t, err := ocm.Tag(tag); err == nil {
			tag = t
		}
		return place{path: reference[:i], tag: tag}, true
	}
	return place{}, false
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

// isPath reports whether a reference that does not exist on disk was meant as a path.
func isPath(reference string) bool {
	// It could contain a password, which ParseReference refuses.
	if strings.Contains(reference, "@") {
		return false
	}
	for _, prefix := range []string{"/", "./", "../", `.\`, `..\`} {
		if strings.HasPrefix(reference, prefix) {
			return true
		}
	}
	for _, suffix := range []string{".tar", ".tgz", ".tar.gz"} {
		if strings.HasSuffix(reference, suffix) {
			return true
		}
	}
	// A reference without a slash names no repository.
	return !strings.Contains(reference, "/")
}

// refuse returns an error for a reference with a scheme other than oci://, as its slashes do not separate base and
// component, and for one with credentials, which must not be printed.
func refuse(reference string) error {
	bare := strings.TrimPrefix(reference, scheme)
	_, digest, pinned := strings.Cut(bare, "@")
	if !strings.Contains(bare, "://") && (!pinned || oci.ValidDigest(digest)) {
		return nil
	}
	_, err := oci.ParseReference(reference)
	return err
}

// splitOCM splits base//component. It ignores the scheme oci://, and returns false for a reference with any other.
func splitOCM(reference string) (base, component string, ok bool) {
	reference = strings.TrimPrefix(reference, scheme)
	if strings.Contains(reference, "://") {
		return reference, "", false
	}
	return strings.Cut(reference, ocmMark)
}

// locateOCM returns the place of a component NAME:VERSION or NAME@digest below a base.
func locateOCM(base, component string) (place, error) {
	name, digest, _ := strings.Cut(component, "@")
	name, version, _ := strings.Cut(name, ":")
	l := ocm.Location{BaseURL: base, Mapping: ocm.URLPath}
	repo, last, err := l.Repository(name)
	if err != nil {
		return place{}, errors.Wrap(err, "malformed reference")
	}
	at := place{repository: repo + "/" + last, digest: digest, version: version}
	if version == "" && digest == "" {
		return place{}, errors.Errorf("reference %.300q has no version: append it, such as %s:1.0.0", base+ocmMark+component, name)
	}
	if version != "" {
		if at.tag, err = ocm.Tag(version); err != nil {
			return place{}, err
		}
	}
	// The repository and the digest are validated like in any other reference.
	r := oci.Reference{Repository: at.repository, Tag: at.tag, Digest: at.digest}
	_, err = oci.ParseReference(r.String())
	return at, err
}

// mapBuild replaces the + of a version in a reference by its form in tags.
func mapBuild(reference string) string {
	dir, last := path.Split(reference)
	name, digest, pinned := strings.Cut(last, "@")
	if !strings.Contains(name, ":") || !strings.Contains(name, "+") {
		return reference
	}
	repository, version, _ := strings.Cut(name, ":")
	tag, err := ocm.Tag(version)
	if err != nil {
		return reference
	}
	out := dir + repository + ":" + tag
	if pinned {
		out += "@" + digest
	}
	return out
}

// locationOf returns the location that maps a component to a repository.
func locationOf(repository, component string) (ocm.Location, error) {
	if base, ok := strings.CutSuffix(repository, "/"+descriptors+"/"+component); ok {
		return ocm.Location{BaseURL: base, Mapping: ocm.URLPath}, nil
	}
	if base, last := path.Split(repository); last == hexOf(component) {
		return ocm.Location{BaseURL: strings.TrimSuffix(base, "/"), Mapping: ocm.SHA256Digest}, nil
	}
	return ocm.Location{}, errors.Errorf("repository %q contains component %q, which must be in a repository that ends with %s/%s",
		repository, component, descriptors, component)
}

func hexOf(component string) string {
	sum := sha256.Sum256([]byte(component))
	return hex.EncodeToString(sum[:])
}
