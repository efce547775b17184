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

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// A Set is all that one module wants in one cluster.
type Set struct {
	// Name of the inventory, a DNS subdomain. It identifies the set in the cluster and must never change.
	Name string

	// Owner is who the set belongs to, in words that help a person who finds it: Manifest team-a/web. The inventory keeps
	// it, and a set of the same name and another owner is refused unless it adopts; so it should not change. Without an
	// owner nothing is compared, as where only the name of a set is known that is to be removed.
	Owner string

	// Labels that each object gets in addition to those of the engine.
	Labels map[string]string

	// CRDs are custom resource definitions that come first and go last; nil for none.
	CRDs *source.Layer

	// Installs in the order in which they are applied.
	Installs []Install

	// Config says more of installs by name, in the form of Kyma's config layers; nil for none. It is one document of YAML
	// with a list configs of entries name, clientConfig and overrides, the last two in the grammar of helm --set:
	// clientConfig has fields of Helm's install action (Namespace, CreateNamespace, ReleaseName, SkipCRDs, DisableHooks,
	// Timeout, Atomic, Wait, TakeOwnership, Force and more), overrides has values below those of the install. An entry for
	// no install is an error of all installs, a wrong entry of its own.
	Config *source.Layer

	// Resource is the custom resource of the module; nil for none. It is created once, and later changed only if this
	// one changes: fields that its users set are theirs, and if they deleted it, it stays away. With nil one that was
	// created before is left alone, and no longer part of the set.
	Resource *unstructured.Unstructured

	// Readiness rules in addition to what kstatus knows.
	Readiness []Rule

	// Adopt takes over objects that exist already.
	Adopt bool

	// Transforms change each object after it was rendered and before it is applied, in this order.
	Transforms []Transform

	// Drift says what Apply does with objects that somebody else changed or deleted; by default it repairs them.
	Drift DriftPolicy

	// Recreate deletes an object and creates it anew where a field that cannot be changed would have to change. Without
	// it that is done for objects with the annotation AnnotationRecreate only, and is an error for all others.
	Recreate bool

	// ForceRemoval makes Remove delete the custom resources of the set's own kinds that others made. Without it they
	// block the removal.
	ForceRemoval bool

	// Retry is a token. A new one runs hooks that failed once more. It may be empty.
	Retry string

	// Test is a token. For each new one that is not empty Apply runs the test hooks of all charts once.
	Test string

	// RollingBack says that this set is what was good before: charts are rendered and hooks run as by helm rollback.
	RollingBack bool

	// Good describes this set to the caller. Once the set is Ready, Apply keeps it in the inventory instead of the one
	// before; Observe tells which is kept. With nil none is kept.
	Good []byte

	// Redact removes values that are secret from a text. Apply and Remove call it with the last output of a hook that
	// failed, before they shorten that and store it in the cluster. It must be safe for concurrent use. Nil removes nothing.
	Redact func(text string) string
}

// A DriftPolicy says what Apply does about objects that somebody else changed or deleted.
type DriftPolicy string

// The policies for drift.
const (
	// DriftRepair puts back what was changed or deleted.
	DriftRepair DriftPolicy = ""
	// DriftReport leaves it, and Observe says what differs, with its fields.
	DriftReport DriftPolicy = "Report"
	// DriftIgnore leaves it, and nothing is said about fields. An object that was deleted is said to be missing.
	DriftIgnore DriftPolicy = "Ignore"
)

// A Transform changes objects. It must be deterministic: what it makes of an object depends on the object and Digest only.
type Transform struct {
	// Digest identifies what the function does, and must not be empty. With another one all objects are applied again.
	Digest string

	// Func changes an object in place. It must not change its kind; a new name or namespace makes it another object.
	Func func(ctx context.Context, u *unstructured.Unstructured) error
}

// A Form says what the content of an install is.
type Form string

// The forms of content.
const (
	// FormChart is a Helm chart. It is rendered, and recorded as a Helm release.
	FormChart Form = ""
	// FormPlain is objects as they are: files .yaml, .yml and .json, of any number of documents; other files do not count.
	// Nothing is rendered, and there is no Helm release.
	FormPlain Form = "plain"
	// FormKustomize is a kustomization with all that it refers to. It is built without any access to the network, and
	// without plugins. There is no Helm release.
	FormKustomize Form = "kustomize"
)

// An Install is a Helm chart, plain objects or a kustomization, and how to install it.
type Install struct {
	source.Layer

	// Name of the install, which is that of the Helm release unless the config of the set has another one. It must be
	// unique in the set.
	Name string

	// Form of the content; by default a chart. It may change: the objects that both have stay.
	Form Form

	// Path of the folder of a kustomization in the content; by default its root.
	Path string

	// Namespace of the release, and of the objects that name none. It must not be empty.
	Namespace string

	// Values over those of the chart. There must be none for plain objects and for a kustomization.
	Values map[string]any
}

// A Rule says when the objects of a kind are ready.
type Rule struct {
	// CEL is an expression of type bool over the variable object.
	CEL string

	// Func decides instead of an expression; exactly one of the two is set. It is called once for each version of an
	// object. The message is for states other than Ready; an error makes the object Error.
	Func func(ctx context.Context, u *unstructured.Unstructured) (State, string, error)

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
	crds    *source.Layer
	install *Install
	// config of the set, for an install; nil for none.
	config   *source.Layer
	resource *unstructured.Unstructured
}

// parts of the set in the order in which they are applied, with their digests.
func (s *Set) parts() ([]part, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	out := s.outline()
	for i := range out {
		d, err := out[i].inputs(s)
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
	if s.Config != nil && s.Config.Digest == "" {
		return errors.New("config has no digest")
	}
	if err := s.validateFuncs(); err != nil {
		return err
	}
	seen := make(map[string]bool, len(s.Installs))
	for i := range s.Installs {
		in := &s.Installs[i]
		if in.Name == "" || strings.Contains(in.Name, ":") {
			return errors.Errorf("install %q at index %d: a name is needed, and no colon in it", in.Name, i)
		}
		if seen[in.Name] {
			return errors.Errorf("install %q is there twice", in.Name)
		}
		if err := in.validate(); err != nil {
			return errors.Wrapf(err, "install %q", in.Name)
		}
		seen[in.Name] = true
	}
	return nil
}

func (i *Install) validate() error {
	switch {
	case i.Digest == "":
		return errors.New("has no digest")
	case i.Namespace == "":
		return errors.New("has no namespace")
	case i.Form != FormChart && i.Form != FormPlain && i.Form != FormKustomize:
		return errors.Errorf("form %q is unknown", i.Form)
	case i.Path != "" && i.Form != FormKustomize:
		return errors.New("has a path, which is for a kustomization only")
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
		out = append(out, part{name: s.Installs[i].Name, install: &s.Installs[i], config: s.Config})
	}
	if s.Resource != nil {
		out = append(out, part{name: partResource, resource: s.Resource})
	}
	return out
}

// formatOfObjects is raised when the engine makes other objects of the same inputs, so that all are applied again.
const formatOfObjects = 1

// inputs of the part as a digest: equal inputs mean that nothing has to be done.
func (p *part) inputs(s *Set) (string, error) {
	in := map[string]any{"format": formatOfObjects, "labels": s.Labels}
	// What is at its default is left out, so that a digest of before stays the same.
	if len(s.Transforms) > 0 {
		in["transforms"] = s.transformDigests()
	}
	switch {
	case p.crds != nil:
		in["crds"] = p.crds.Digest
	case p.install != nil:
		in["source"], in["namespace"], in["values"] = p.install.Digest, p.install.Namespace, p.install.Values
		if p.install.Form != FormChart {
			in["form"] = p.install.Form
		}
		if dir := p.install.folder(); dir != "." {
			in["path"] = dir
		}
		if p.config != nil {
			in["config"] = p.config.Digest
		}
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
	case bookedTests:
		return "tests"
	}
	return name
}
