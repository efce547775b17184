// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"fmt"
	"maps"
	"regexp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

// DefaultProvider is the provider of a component that specifies none.
const DefaultProvider = "internal"

// isNewComponent is the pattern of OCM, which is stricter than the schema: a name that it does not match can be read,
// but not written.
var isNewComponent = regexp.MustCompile(`^[a-z][-a-z0-9]*([.][a-z][-a-z0-9]*)*[.][a-z]{2,}(/[a-z][-a-z0-9_]*([.][a-z][-a-z0-9_]*)*)+$`)

// A Label is a name with a JSON value of any type. No signature covers it.
type Label struct {
	Name  string
	Value any
}

// A SourceRef is a source from which a component was made. No signature covers it.
type SourceRef struct {
	Name       string
	Repository string // URL of a git repository, without credentials.
	Ref        string // Branch or tag, or empty.
	Commit     string // Commit hash, or empty.
}

// A Component is the input of New.
type Component struct {
	Name     string // Such as example.org/module/sample; the strict form of OCM.
	Version  string
	Provider string // Default "internal".
	Labels   []Label
	Sources  []SourceRef
	// Resources are in the order in which they are installed. Name, Type and Access are required; Version defaults to
	// the version of the component and Relation to "local".
	Resources  []Resource
	References []Reference
}

// New returns the descriptor of a component. It has no repository context, so that it is the same in all registries.
// The same component gives the same bytes. The error is an *InvalidError that names the field.
//
// It is stricter than Decode: the name and the version must be valid in a repository and a tag; a local resource must
// have the version of the component and, if it is a blob of the component itself, the digest of that blob; and no two
// resources may have the same name, unless their extra identities differ.
func New(c Component) (*Descriptor, error) {
	d, err := build(c)
	if err != nil {
		return nil, &InvalidError{err: errors.Wrap(err, "cannot create component descriptor")}
	}
	return d, nil
}

func build(c Component) (*Descriptor, error) {
	if err := checkName("component.name", c.Name); err != nil {
		return nil, err
	}
	if err := checkVersion("component.version", c.Version); err != nil {
		return nil, err
	}
	if c.Provider == "" {
		c.Provider = DefaultProvider
	}
	if err := checkLine("component.provider", c.Provider); err != nil {
		return nil, err
	}
	component := map[string]any{
		"name": c.Name, "version": c.Version, "provider": c.Provider, "repositoryContexts": []any{},
	}
	if err := buildLists(component, c); err != nil {
		return nil, err
	}
	data, err := encode(map[string]any{"meta": map[string]any{"schemaVersion": v2.SchemaVersion}, "component": component})
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	// decode checks the rules that apply to all descriptors.
	return decode(data)
}

// buildLists sets the lists of a component. All but the labels are required, even if they are empty.
func buildLists(component map[string]any, c Component) (err error) {
	if component["sources"], err = buildSources(c); err != nil {
		return err
	}
	if component["resources"], err = buildResources(c); err != nil {
		return err
	}
	if component["componentReferences"], err = buildReferences(c.References); err != nil {
		return err
	}
	labels, err := buildLabels(c.Labels)
	if len(labels) > 0 {
		component["labels"] = labels
	}
	return err
}

// checkName returns an error if a name is not valid for a component that is pushed.
func checkName(path, name string) error {
	if len(name) > maxText || !isNewComponent.MatchString(name) || !isPath.MatchString(name) {
		return errors.Errorf("%s: invalid value %.300q: must be a lowercase domain and path such as "+
			"example.org/module/name, with each part beginning with a letter, and at most %d characters", path, name, maxText)
	}
	return nil
}

// checkVersion returns an error if a version is not valid for a component that is pushed.
func checkVersion(path, version string) error {
	if _, err := Tag(version); err != nil {
		return errors.Wrap(err, path)
	}
	if !isVersion.MatchString(version) {
		return errors.Errorf("%s: invalid value %.140q: must be a semantic version such as 1.2.3", path, version)
	}
	return nil
}

// checkText checks a string that occurs in messages and statuses.
func checkText(path, text string) error {
	if err := checkLine(path, text); err != nil {
		return err
	}
	return validateLength(path, text)
}

func buildLabels(labels []Label) ([]any, error) {
	out, seen := []any{}, map[string]struct{}{}
	for i, l := range labels {
		path := fmt.Sprintf("component.labels[%d].name", i)
		if err := checkText(path, l.Name); err != nil {
			return nil, err
		}
		if _, ok := seen[l.Name]; ok {
			return nil, errors.Errorf("%s: duplicate value %.100q", path, l.Name)
		}
		seen[l.Name] = struct{}{}
		out = append(out, map[string]any{"name": l.Name, "value": l.Value})
	}
	return out, nil
}

func buildReferences(references []Reference) ([]any, error) {
	out, seen := []any{}, map[string]int{}
	for i := range references {
		r, path := &references[i], fmt.Sprintf("component.componentReferences[%d]", i)
		id := fmt.Sprintf("%q %q", r.Name, r.ExtraIdentity)
		if first, ok := seen[id]; ok {
			return nil, errors.Errorf("%s has the same name and identity as component.componentReferences[%d]: %.100q", path, first, r.Name)
		}
		seen[id] = i
		if err := checkReferenceDigest(r.Digest); err != nil {
			return nil, errors.Wrap(err, path)
		}
		fields := map[string]any{"name": r.Name, "componentName": r.Component, "version": r.Version}
		if r.Digest != nil {
			fields["digest"] = digestTree(*r.Digest)
		}
		if len(r.ExtraIdentity) > 0 {
			fields["extraIdentity"] = maps.Clone(r.ExtraIdentity)
		}
		out = append(out, fields)
	}
	return out, nil
}

// checkReferenceDigest checks the digest of another component, which may be absent until the component is signed.
func checkReferenceDigest(d *Digest) error {
	if d == nil || *d == Excluded() {
		return nil
	}
	h, err := hashFunction(d.HashAlgorithm)
	if err != nil {
		return err
	}
	if d.NormalisationAlgorithm != NormalisationJSON && d.NormalisationAlgorithm != normalisationJSON2 {
		return errors.Errorf("unknown normalisation algorithm %.100q: must be %s", d.NormalisationAlgorithm, NormalisationJSON)
	}
	if len(d.Value) != 2*h.Size() || !isHex.MatchString(d.Value) {
		return errors.Errorf("malformed digest %.140q: must be a %s in lowercase hexadecimal digits", d.Value, h)
	}
	return nil
}

func digestTree(d Digest) map[string]any {
	return map[string]any{
		"hashAlgorithm": d.HashAlgorithm, "normalisationAlgorithm": d.NormalisationAlgorithm, "value": d.Value,
	}
}
