// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Set is all that one module wants in one cluster.
type Set struct {
	// Name of the inventory, a DNS subdomain. It identifies the set in the cluster and must never change.
	Name string

	// Owner is who the set belongs to, in words that help a person who finds it: Manifest team-a/web.
	Owner string

	// Labels that each object gets in addition to those of the engine.
	Labels map[string]string

	// CRDs are custom resource definitions that come first and go last; nil for none.
	CRDs *Layer

	// Installs in the order in which they are applied.
	Installs []Install

	// Resource is the custom resource of the module; nil for none. It is created once, and later changed only if this
	// one changes: fields that its users set are theirs, and if they deleted it, it stays away. With nil one that was
	// created before is left alone, and no longer part of the set.
	Resource *unstructured.Unstructured

	// Readiness rules in addition to what kstatus knows.
	Readiness []Rule

	// Adopt takes over objects that exist already.
	Adopt bool
}

// A Layer is content that is fetched when it is needed.
type Layer struct {
	// Digest identifies the content, and must not be empty. While it and the rest of the set are unchanged, nothing is
	// fetched.
	Digest string

	// Fetch the content. It must fail for whoever may not have it: what it returns for one set is shared with all sets
	// that fetch the same.
	Fetch func(ctx context.Context) (Content, error)
}

// Content that was fetched.
type Content struct {
	// Digest of the content itself. Equal digests mean equal files.
	Digest string

	// Files unpacks the content. It is not called where the content is known by its digest.
	Files func() ([]File, error)
}

// A File of a Layer.
type File struct {
	// Name is a path with slashes, relative to the root of the layer.
	Name string
	Data []byte
}

// An Install is a Helm chart and how to install it.
type Install struct {
	Layer

	// Name of the install, which is that of the Helm release. It must be unique in the set.
	Name string

	// Namespace of the release, and of the objects that name none. It must not be empty.
	Namespace string

	// Values over those of the chart.
	Values map[string]any
}

// A Rule says when the objects of a kind are ready.
type Rule struct {
	// CEL is an expression of type bool over the variable object.
	CEL string

	// For is the kind; the zero value means the custom resource of the set.
	For schema.GroupKind
}

// ID of the ApplySet, as KEP-3659 derives it from the parent.
func (s *Set) id(namespace string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Name, namespace, "Secret", ""}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// Names of the parts of a set that are no installs. A colon cannot stand in the name of an install.
const (
	partCRDs     = "crds:"
	partResource = "resource:"
)

// A part is a piece of a set that is rendered, applied and pruned on its own, so that a failure of one leaves the others
// alone.
type part struct {
	name   string
	digest string
	// crds, install, resource: exactly one is set.
	crds     *Layer
	install  *Install
	resource *unstructured.Unstructured
}

// parts of the set in the order in which they are applied, with their digests.
func (s *Set) parts() ([]part, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	out := s.outline()
	for i := range out {
		d, err := out[i].inputs(s.Labels)
		if err != nil {
			return nil, err
		}
		out[i].digest = d
	}
	return out, nil
}

// validate what would make two parts the same, or one part mean two things.
func (s *Set) validate() error {
	if s.CRDs != nil && s.CRDs.Digest == "" {
		return errors.New("crds have no digest")
	}
	seen := make(map[string]bool, len(s.Installs))
	for i := range s.Installs {
		in := &s.Installs[i]
		switch {
		case in.Name == "" || strings.Contains(in.Name, ":"):
			return errors.Errorf("install %q at index %d: a name is needed, and no colon in it", in.Name, i)
		case seen[in.Name]:
			return errors.Errorf("install %q is there twice", in.Name)
		case in.Digest == "":
			return errors.Errorf("install %q has no digest", in.Name)
		case in.Namespace == "":
			return errors.Errorf("install %q has no namespace", in.Name)
		}
		seen[in.Name] = true
	}
	return nil
}

// outline are the parts without digests, which is enough to remove a set whose sources cannot be resolved any more.
func (s *Set) outline() []part {
	var out []part
	if s.CRDs != nil {
		out = append(out, part{name: partCRDs, crds: s.CRDs})
	}
	for i := range s.Installs {
		out = append(out, part{name: s.Installs[i].Name, install: &s.Installs[i]})
	}
	if s.Resource != nil {
		out = append(out, part{name: partResource, resource: s.Resource})
	}
	return out
}

// formatOfObjects is raised when the engine makes other objects of the same inputs, so that all are applied again.
const formatOfObjects = 1

// inputs of the part as a digest: equal inputs mean that nothing has to be done.
func (p *part) inputs(labels map[string]string) (string, error) {
	in := map[string]any{"format": formatOfObjects, "labels": labels}
	switch {
	case p.crds != nil:
		in["crds"] = p.crds.Digest
	case p.install != nil:
		in["source"], in["namespace"], in["values"] = p.install.Digest, p.install.Namespace, p.install.Values
	case p.resource != nil:
		in["resource"] = p.resource.Object
	}
	b, err := json.Marshal(in)
	if err != nil {
		return "", errors.Wrapf(err, "install %q: cannot encode values", p.name)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}

// title of the part in messages.
func (p *part) title() string {
	return title(p.name)
}

func title(name string) string {
	switch name {
	case partCRDs:
		return "crds"
	case partResource:
		return "resource"
	}
	return name
}
