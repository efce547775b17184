// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

func buildResources(c Component) ([]any, error) {
	out, seen := []any{}, map[string]int{}
	for i := range c.Resources {
		r, path := c.Resources[i], fmt.Sprintf("component.resources[%d]", i)
		if r.Relation == "" {
			r.Relation = string(v2.LocalRelation)
		}
		if r.Version == "" {
			r.Version = c.Version
		}
		// Maps are printed in the order of their keys. The version is not part of the identity.
		id := fmt.Sprintf("%q %q", r.Name, r.ExtraIdentity)
		if first, ok := seen[id]; ok {
			return nil, errors.Errorf("%s has the same name and identity as component.resources[%d]: %.100q", path, first, r.Name)
		}
		seen[id] = i
		fields, err := buildResource(r, c.Version)
		if err != nil {
			return nil, errors.Wrapf(err, "%s (%.100q)", path, r.Name)
		}
		out = append(out, fields)
	}
	return out, nil
}

func buildResource(r Resource, componentVersion string) (map[string]any, error) {
	if !isVersion.MatchString(r.Version) {
		return nil, errors.Errorf("version: invalid value %.140q: must be a semantic version such as 1.2.3", r.Version)
	}
	if r.Relation == string(v2.LocalRelation) && r.Version != componentVersion {
		return nil, errors.Errorf("version: invalid value %.140q: must be the version of the component, %s, because the "+
			"resource is local", r.Version, componentVersion)
	}
	if err := checkText("type", r.Type); err != nil {
		return nil, err
	}
	if err := checkNewDigest(r); err != nil {
		return nil, err
	}
	access, err := accessTree(r.Access)
	if err != nil {
		return nil, errors.Wrap(err, "access")
	}
	fields := map[string]any{
		"name": r.Name, "version": r.Version, "type": r.Type, "relation": r.Relation, "access": access,
	}
	if len(r.ExtraIdentity) > 0 {
		fields["extraIdentity"] = maps.Clone(r.ExtraIdentity)
	}
	if r.Digest != nil {
		fields["digest"] = digestTree(*r.Digest)
	}
	return fields, nil
}

// checkNewDigest performs the checks of Verify, so that the component can be signed. Only content outside the component
// may have no digest.
func checkNewDigest(r Resource) error {
	if r.Access.Type == AccessNone && r.Digest != nil {
		return errors.Errorf("digest must not be set if the type of access is %s", AccessNone)
	}
	if r.Digest == nil && !r.Access.IsLocal() {
		return nil
	}
	_, err := signedDigest(r)
	return err
}

// accessTree returns the fields of an access. It is the inverse of accessOf.
func accessTree(a Access) (map[string]any, error) {
	if a.Fields != "" {
		tree, err := parseJSON([]byte(a.Fields))
		if err != nil {
			return nil, err
		}
		return tree, nil
	}
	needed, optional := map[string]string{}, map[string]string{}
	switch a.Type {
	case AccessLocalOCIBlob:
		needed["digest"], optional["mediaType"] = a.Digest, a.MediaType
	case AccessLocalBlob:
		needed["localReference"], optional["mediaType"] = a.Digest, a.MediaType
	case AccessOCIRegistry, AccessOCIArtifact:
		needed["imageReference"] = a.Reference
	case AccessRelativeOCI:
		needed["reference"] = a.Reference
	case AccessHelmChart:
		needed["helmChartRepoUrl"], needed["helmChartName"] = a.ChartURL, a.ChartName
		optional["helmChartVersion"] = a.ChartVersion
	case AccessNone:
	case "":
		return nil, errors.New("type is missing")
	default:
		return nil, errors.Errorf("unsupported type %.100q", a.Type)
	}
	return fieldsOf(a.Type, needed, optional)
}

func fieldsOf(accessType string, needed, optional map[string]string) (map[string]any, error) {
	tree := map[string]any{"type": accessType}
	for key, value := range optional {
		if value != "" {
			needed[key] = value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(needed)) {
		if err := checkLine(key, needed[key]); err != nil {
			return nil, err
		}
		tree[key] = needed[key]
	}
	return tree, nil
}

// buildSources returns the sources of a component. It writes the access type github, which component-spec supports, for
// github.com, and git, as OCM does, for other hosts.
func buildSources(c Component) ([]any, error) {
	out, seen := []any{}, map[string]int{}
	for i, s := range c.Sources {
		path := fmt.Sprintf("component.sources[%d]", i)
		if err := validateName(path, s.Name); err != nil {
			return nil, err
		}
		if first, ok := seen[s.Name]; ok {
			return nil, errors.Errorf("%s has the same name as component.sources[%d]: %q", path, first, s.Name)
		}
		seen[s.Name] = i
		if err := checkRepository(s.Repository); err != nil {
			return nil, errors.Wrap(err, path+".repository")
		}
		access := map[string]any{"type": "git", "repository": s.Repository}
		if host := hostOf(s.Repository); host == "github.com" {
			// The schema requires a ref, even an empty one.
			access = map[string]any{"type": v2.GitHubAccessType, "repoUrl": s.Repository, "ref": s.Ref}
		}
		for key, value := range map[string]string{"ref": s.Ref, "commit": s.Commit} {
			if value == "" {
				continue
			}
			if err := checkLine(path+"."+key, value); err != nil {
				return nil, err
			}
			access[key] = value
		}
		out = append(out, map[string]any{"name": s.Name, "version": c.Version, "type": "git", "access": access})
	}
	return out, nil
}

func hostOf(repository string) string {
	u, err := url.Parse(repository)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// checkRepository returns an error for a URL with credentials, without printing them.
func checkRepository(repository string) error {
	if err := checkLine("it", repository); err != nil {
		// The URL may contain a secret.
		return errors.New("must be a single line of UTF-8 with 1 to 2048 characters")
	}
	u, err := url.Parse(repository)
	if err != nil {
		// git@host:path is not a URL, and has no password.
		if strings.Contains(repository, "://") {
			return errors.New("must be a URL")
		}
		return nil
	}
	if _, ok := u.User.Password(); ok || u.User != nil && strings.HasPrefix(u.Scheme, "http") {
		return errors.New("must not contain credentials")
	}
	return nil
}
