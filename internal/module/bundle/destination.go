// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// Destination returns where a component is pushed: to is host[:port]/base, or the whole reference of the component,
// which must have its name and version. The mapping applies to a base; a whole reference implies its own.
func Destination(to string, mapping ocm.Mapping, d *ocm.Descriptor) (l ocm.Location, repository, tag string, err error) {
	if tag, err = ocm.Tag(d.Version()); err != nil {
		return l, "", "", err
	}
	if err := refuse(to); err != nil {
		return l, "", "", err
	}
	if name, _, ok := strings.Cut(strings.TrimPrefix(to, scheme), "://"); ok {
		return l, "", "", errors.Errorf("the destination must not have the scheme %.20s://: omit it; use --plain-http for registries without TLS", name)
	}
	base, component, ok := splitOCM(to)
	switch {
	case ok:
		l, err = destinationOCM(base, component, mapping, d)
	default:
		l, err = destination(strings.TrimRight(base, "/"), tag, mapping, d)
	}
	if err != nil {
		return ocm.Location{}, "", "", err
	}
	repo, name, err := l.Repository(d.Name())
	if err != nil {
		return ocm.Location{}, "", "", err
	}
	repository = repo + "/" + name
	r := oci.Reference{Repository: repository, Tag: tag}
	if _, err = oci.ParseReference(r.String()); err != nil {
		return ocm.Location{}, "", "", err
	}
	return l, repository, tag, nil
}

// destinationOCM returns the location for a destination in the notation of OCM.
func destinationOCM(base, component string, mapping ocm.Mapping, d *ocm.Descriptor) (ocm.Location, error) {
	name, version, tagged := strings.Cut(component, ":")
	switch {
	case strings.Contains(component, "@"):
		return ocm.Location{}, digestGiven(base + ocmMark + component)
	case name != d.Name():
		return ocm.Location{}, errors.Errorf("the destination is for component %.255q, but the component is %q", name, d.Name())
	case tagged && version != d.Version():
		return ocm.Location{}, errors.Errorf("the destination has version %.140q, but the version of the component is %q", version, d.Version())
	}
	return ocm.Location{BaseURL: base, Mapping: mapping}, nil
}

// destination returns the location for a base or a whole reference.
func destination(to, tag string, mapping ocm.Mapping, d *ocm.Descriptor) (ocm.Location, error) {
	if strings.Contains(to, "@") {
		return ocm.Location{}, digestGiven(to)
	}
	repository, given := to, ""
	// A colon before the last slash belongs to a port, and so does one if there is no slash.
	if dir, last := path.Split(mapBuild(to)); dir != "" && strings.Contains(last, ":") {
		var name string
		name, given, _ = strings.Cut(last, ":")
		repository = dir + name
	}
	l, err := locationOf(repository, d.Name())
	switch {
	case given != "" && err != nil:
		return ocm.Location{}, errors.Errorf("destination %.500q is not a repository of component %q: must end with %s/%s, or be only host/path",
			to, d.Name(), descriptors, d.Name())
	case given != "" && given != tag:
		return ocm.Location{}, errors.Errorf("the destination has tag %.140q, but the tag of this version is %q", given, tag)
	case err == nil:
		return l, nil
	case strings.Contains("/"+repository+"/", "/"+descriptors+"/"):
		return ocm.Location{}, errors.Errorf("destination %.500q is not a repository of component %q: must end with %s/%s, or be only host/path",
			to, d.Name(), descriptors, d.Name())
	}
	return ocm.Location{BaseURL: repository, Mapping: mapping}, nil
}

func digestGiven(to string) error {
	return errors.Errorf("destination %.500q must not contain a digest: omit it, because it is computed from the content", to)
}
