// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
	kjson "sigs.k8s.io/json"
)

// WithLocation returns a copy with an additional repository context, which becomes the effective one; or d itself if l
// is the effective one already. The base URL is written without a scheme, as component-spec and the former lifecycle
// manager require. Signatures stay valid. The error is an *InvalidError.
func (d *Descriptor) WithLocation(l Location) (*Descriptor, error) {
	located, err := d.withLocation(l)
	if err != nil {
		return nil, &InvalidError{err: errors.Wrapf(err, "cannot add a repository context to component %s", d.ID())}
	}
	return located, nil
}

func (d *Descriptor) withLocation(l Location) (*Descriptor, error) {
	l, err := l.bare(d.Name())
	if err != nil {
		return nil, err
	}
	if have, ok := d.Location(); ok && have == l {
		return d, nil
	}
	tree, err := parseJSON(d.raw)
	if err != nil {
		return nil, err
	}
	component, ok := tree["component"].(map[string]any)
	if !ok {
		return nil, errors.New("component is missing")
	}
	contexts, _ := component["repositoryContexts"].([]any)
	component["repositoryContexts"] = append(contexts, map[string]any{
		"type": v2.OCIRegistryType, "baseUrl": l.BaseURL, "componentNameMapping": string(l.Mapping),
	})
	data, err := encode(tree)
	if err != nil {
		return nil, err
	}
	return decode(data)
}

// bare returns the location without scheme and SubPath, which becomes part of BaseURL, and with the default mapping.
func (l Location) bare(component string) (Location, error) {
	if _, _, err := l.Repository(component); err != nil {
		return Location{}, err
	}
	base := l.BaseURL
	if _, rest, ok := strings.Cut(base, "://"); ok {
		base = rest
	}
	parts := []string{strings.TrimRight(base, "/")}
	if sub := strings.Trim(l.SubPath, "/"); sub != "" {
		parts = append(parts, sub)
	}
	bare := Location{BaseURL: strings.Join(parts, "/"), Mapping: l.Mapping}
	if bare.Mapping == "" {
		bare.Mapping = URLPath
	}
	return bare, nil
}

// with returns a copy with an additional signature, and all other fields unchanged.
func (d *Descriptor) with(s v2.Signature) (*Descriptor, error) {
	tree, err := parseJSON(d.raw)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	field, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	list, _ := tree["signatures"].([]any)
	tree["signatures"] = append(list, field)
	if data, err = encode(tree); err != nil {
		return nil, err
	}
	return Decode(data)
}

// Component returns the content of the descriptor as the input of New. Local resources have no version, so that they
// get the version of the new component. It omits repository contexts, signatures, the labels of resources and all
// sources that are not git repositories.
func (d *Descriptor) Component() Component {
	c := Component{
		Name: d.Name(), Version: d.Version(), Provider: string(d.spec.Provider),
		Resources: d.Resources(), References: d.References(),
	}
	for _, l := range d.spec.Labels {
		// Unlike the standard library, this package does not convert integers to floats.
		var value any
		if kjson.UnmarshalCaseSensitivePreserveInts(l.Value, &value) == nil {
			c.Labels = append(c.Labels, Label{Name: l.Name, Value: value})
		}
	}
	for i := range d.spec.Sources {
		if s, ok := sourceOf(&d.spec.Sources[i]); ok {
			c.Sources = append(c.Sources, s)
		}
	}
	for i := range c.Resources {
		r := &c.Resources[i]
		if r.Relation == string(v2.LocalRelation) {
			r.Version = ""
		}
		r.Access.Fields = foreignFields(d.spec.Resources[i].Access, r.Access.Type)
	}
	return c
}

// known reports whether accessTree writes a type of access without loss.
func known(accessType string) bool {
	return slices.Contains([]string{
		AccessLocalOCIBlob, AccessLocalBlob, AccessOCIRegistry, AccessOCIArtifact, AccessRelativeOCI, AccessHelmChart, AccessNone,
	}, accessType)
}

func foreignFields(u *v2.UnstructuredTypedObject, accessType string) string {
	if u == nil || known(accessType) {
		return ""
	}
	data, err := encode(u.Object)
	if err != nil {
		return ""
	}
	return string(data)
}

// sourceOf returns a source as Kyma, component-spec and OCM write it. It returns false for one without a repository.
func sourceOf(s *v2.Source) (SourceRef, bool) {
	if s.Access == nil {
		return SourceRef{}, false
	}
	text := func(keys ...string) string {
		for _, key := range keys {
			if t, ok := s.Access.Object[key].(string); ok && t != "" {
				return t
			}
		}
		return ""
	}
	ref := SourceRef{Name: s.Name, Repository: text("repository", "repoUrl"), Ref: text("ref"), Commit: text("commit")}
	return ref, ref.Repository != ""
}
