// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A group is an API group.
type group struct {
	name     string
	versions []*version
}

// A version is a version of an API group.
type version struct {
	name string
	// stale is true if the server of the group is unavailable.
	stale bool
	// kinds contains the names of the kinds. It is nil if they are not known.
	kinds map[string]bool
}

// A resource is a resource of a version. Its kind is in Kind, or in ResponseKind in the aggregated format.
type resource struct {
	Kind string `json:"kind"`

	ResponseKind kindName `json:"responseKind"`
	Subresources []struct {
		ResponseKind kindName `json:"responseKind"`
	} `json:"subresources"`
}

type kindName struct {
	Kind string `json:"kind"`
}

// A document is a discovery document. It is read resource by resource, and only the names of groups, versions and kinds are kept.
type document struct {
	*json.Decoder

	path  string
	tally *tally
}

func newDocument(path string, body io.Reader, t *tally) *document {
	return &document{Decoder: json.NewDecoder(counted{Reader: body, tally: t}), path: path, tally: t}
}

// groups reads a list of API groups, or of the versions of the core group.
func (d *document) groups() ([]group, error) {
	var all []group
	err := d.whole([]string{"APIGroupDiscoveryList", "APIGroupList", "APIVersions"}, func(field string) error {
		switch field {
		case "items", "groups":
			return d.list(func() error {
				g, err := d.group(field == "items")
				all = append(all, g)
				return err
			})
		case "versions":
			core := group{}
			err := d.list(func() error {
				v := &version{}
				core.versions = append(core.versions, v)
				if err := d.text(&v.name); err != nil {
					return err
				}
				return d.tally.add(Limits{Versions: 1})
			})
			all = append(all, core)
			return err
		}
		return d.skip()
	})
	return all, err
}

// resources reads a list of API resources, and returns the names of their kinds.
func (d *document) resources() (map[string]bool, error) {
	kinds := map[string]bool{}
	return kinds, d.whole([]string{"APIResourceList"}, func(field string) error {
		if field == "resources" {
			return d.list(func() error { return d.resource(kinds) })
		}
		return d.skip()
	})
}

// group reads an API group. In the aggregated format, it contains the kinds.
func (d *document) group(aggregated bool) (group, error) {
	g := group{}
	name := func(field string) error {
		if field == "name" {
			return d.text(&g.name)
		}
		return d.skip()
	}
	err := d.object(func(field string) error {
		switch field {
		case "metadata":
			return d.object(name)
		case "versions":
			return d.list(func() error {
				v, err := d.version(aggregated)
				g.versions = append(g.versions, v)
				return err
			})
		}
		return name(field)
	})
	if err != nil {
		return g, err
	}
	return g, d.tally.add(Limits{Groups: 1})
}

// version reads a version of a group. The order of its fields is arbitrary.
func (d *document) version(aggregated bool) (*version, error) {
	v, freshness := &version{}, ""
	if aggregated {
		v.kinds = map[string]bool{}
	}
	err := d.object(func(field string) error {
		switch {
		case field == "version":
			return d.text(&v.name)
		case field == "freshness":
			return d.text(&freshness)
		case field == "resources" && aggregated:
			return d.list(func() error { return d.resource(v.kinds) })
		}
		return d.skip()
	})
	if err != nil {
		return v, err
	}
	v.stale = freshness == "Stale"
	return v, d.tally.add(Limits{Versions: 1})
}

// resource reads a resource.
func (d *document) resource(kinds map[string]bool) error {
	r := resource{}
	if err := d.Decode(&r); err != nil {
		return err
	}
	for _, s := range r.Subresources {
		if err := d.add(kinds, s.ResponseKind.Kind); err != nil {
			return err
		}
	}
	if err := d.add(kinds, r.Kind); err != nil {
		return err
	}
	return d.add(kinds, r.ResponseKind.Kind)
}

// add adds the name of a kind. Most kinds have several resources.
func (d *document) add(kinds map[string]bool, name string) error {
	if name == "" || kinds[name] {
		return nil
	}
	kinds[name] = true
	return d.tally.add(Limits{Kinds: 1, Names: len(name)})
}

// whole reads the document to its end. The kind of the document must be one of some kinds.
func (d *document) whole(kinds []string, value func(field string) error) error {
	kind := ""
	err := d.object(func(field string) error {
		if field == "kind" {
			return d.text(&kind)
		}
		return value(field)
	})
	if err != nil {
		return d.explain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) || !slices.Contains(kinds, kind) {
		return d.malformed()
	}
	return nil
}

// object reads an object. It calls a function for each field, which must read the value.
func (d *document) object(value func(field string) error) error {
	return d.each('{', func() error {
		name, err := d.Token()
		if err != nil {
			return err
		}
		return value(name.(string)) //nolint:forcetypeassert // The decoder returns no other keys.
	})
}

// list reads a list. It calls a function for each item, which must read the item.
func (d *document) list(item func() error) error { return d.each('[', item) }

// each calls a function while an object or a list has more values. Null is an empty object or list.
func (d *document) each(begin json.Delim, item func() error) error {
	token, err := d.Token()
	if err != nil || token == nil {
		return err
	}
	if token != begin {
		return d.malformed()
	}
	for d.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func (d *document) text(s *string) error { return d.Decode(s) }

func (d *document) skip() error { return d.Decode(&skipped{}) }

// explain replaces the errors of the decoder.
func (d *document) explain(err error) error {
	var syntax *json.SyntaxError
	var value *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &value) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return d.malformed()
	}
	return err
}

func (d *document) malformed() error {
	return errors.Errorf("the response for %s is not a discovery document of a Kubernetes API server", d.path)
}

// skipped is a value of any type that is not kept.
type skipped struct{}

// UnmarshalJSON does nothing.
func (*skipped) UnmarshalJSON([]byte) error { return nil }
