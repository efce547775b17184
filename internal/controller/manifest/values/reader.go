// SPDX-License-Identifier: Apache-2.0

package values

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// These are the kinds of objects that contain values. The values of a Secret are never shown.
const (
	KindSecret    = "Secret"
	KindConfigMap = "ConfigMap"
)

const (
	// indexField is the name of the index of Manifests by the objects that they take values from, each as kind/namespace/name.
	indexField = "values"
	// defaultKey is the default key of a document in the data of an object. The API server sets it too.
	defaultKey = "values.yaml"

	// maxBytes is the maximum size of a document with expanded aliases. maxSeparators limits its size in memory.
	maxBytes      = 2 << 20
	maxSeparators = 250_000
	// maxCached is the maximum size of the parsed documents in the cache, in bytes.
	maxCached = 64 << 20
)

// A Source reads Secrets and ConfigMaps.
type Source interface {
	// Values returns the data of an object, and an ID of its version. It sends no request if the object did not change. If
	// the object does not exist, the error is a *config.MissingError.
	Values(ctx context.Context, kind, namespace, name string) (data map[string][]byte, id string, err error)
}

// A Reader reads the values that valuesFrom of an install names. It parses each version of a document once.
type Reader struct {
	from   Source
	parsed *bytelru.Cache[string, document] // Kind, namespace, name and key to document.
}

// A document is parsed from one version of an object.
type document struct {
	id     string
	values map[string]any
	err    error
}

// NewReader returns a Reader of values from a Source.
func NewReader(from Source) *Reader {
	return &Reader{from: from, parsed: bytelru.New[string, document]("values", bytelru.Scaled(maxCached))}
}

// Index adds the index of Manifests by the objects that they take values from.
func Index(ctx context.Context, i client.FieldIndexer) error {
	return errors.Wrap(i.IndexField(ctx, &v1alpha1.Manifest{}, indexField, referencesOf), "cannot index Manifests")
}

// UsersOf returns the index fields that select the Manifests that take values from an object.
func UsersOf(kind string, o client.Object) client.MatchingFields {
	return client.MatchingFields{indexField: indexKey(kind, o.GetNamespace(), o.GetName())}
}

func indexKey(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

// referencesOf returns the objects that a Manifest takes values from, as keys of the index.
func referencesOf(o client.Object) []string {
	mr, ok := o.(*v1alpha1.Manifest)
	if !ok {
		return nil
	}
	var out []string
	for i := range mr.Spec.ForProvider.Installs {
		for _, r := range mr.Spec.ForProvider.Installs[i].ValuesFrom {
			if id := indexKey(r.Kind, mr.Namespace, r.Name); !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// Fill merges the values that the parameters name below the values of the installs of a bundle. Invalid values become an
// error of their install, and the other installs continue. If Fill returns an error, the API server did not answer. Fill also
// returns the values that come from Secrets, even if other values of the install are invalid: no message may show them.
func (v *Reader) Fill(ctx context.Context, namespace string, p *v1alpha1.ManifestParameters, bundle *manifest.Bundle) ([]any, error) {
	var hidden []any
	for i := range bundle.Installs {
		refs := p.Installs[i].ValuesFrom
		if len(refs) == 0 {
			continue
		}
		in := &bundle.Installs[i]
		in.Shared = false
		values, err := v.merge(ctx, namespace, in, refs)
		bad := (*invalidError)(nil)
		switch {
		case errors.As(err, &bad):
			refuse(in, bad)
		case err != nil:
			return nil, errors.Wrapf(err, "spec.forProvider.installs[%q]", in.Name)
		default:
			in.Values = render.MergeValues(values, in.Values)
		}
		hidden = append(hidden, v.secretsOf(ctx, namespace, refs)...)
	}
	return hidden, nil
}

// secretsOf returns the values that references take from Secrets, as far as they can be read.
func (v *Reader) secretsOf(ctx context.Context, namespace string, refs []v1alpha1.ValuesReference) []any {
	var out []any
	for i := range refs {
		if refs[i].Kind != KindSecret {
			continue
		}
		if values, err := v.read(ctx, namespace, &refs[i]); err == nil {
			out = append(out, values)
		}
	}
	return out
}

// Secrets returns the values that all installs of a Manifest take from Secrets, as far as they can be read.
func (v *Reader) Secrets(ctx context.Context, mr *v1alpha1.Manifest) []any {
	var out []any
	for i := range mr.Spec.ForProvider.Installs {
		out = append(out, v.secretsOf(ctx, mr.Namespace, mr.Spec.ForProvider.Installs[i].ValuesFrom)...)
	}
	return out
}

// refuse makes an install fail with an error. The digest then differs from that of the install with values, so that it
// is not up to date. The digest does not depend on the error, whose text may change.
func refuse(in *manifest.Install, err error) {
	in.Digest += " without values"
	in.Fetch = func(context.Context) (source.Content, error) { return source.Content{}, err }
}

// An invalidError describes invalid values of an install. It names the object and its key, and does not contain their content.
type invalidError struct {
	err error
}

// Error returns the message in one line.
func (e *invalidError) Error() string { return e.err.Error() }

func invalid(format string, args ...any) error {
	return &invalidError{err: errors.Errorf(format, args...)}
}

// merge merges the values that the references of an install name. Later references override earlier ones.
func (v *Reader) merge(ctx context.Context, namespace string, in *manifest.Install, refs []v1alpha1.ValuesReference) (map[string]any, error) {
	if in.Form != manifest.FormChart {
		return nil, invalid("valuesFrom is only supported for charts, but this install is not a chart; remove valuesFrom")
	}
	out := map[string]any{}
	for i := range refs {
		values, err := v.read(ctx, namespace, &refs[i])
		if bad := (*invalidError)(nil); errors.As(err, &bad) {
			return nil, invalid("valuesFrom[%d]: %s", i, bad)
		}
		if err != nil {
			return nil, errors.Wrapf(err, "valuesFrom[%d]", i)
		}
		out = render.MergeValues(out, values)
	}
	return out, nil
}

// read returns the values that one reference names. The caller must not change them.
func (v *Reader) read(ctx context.Context, namespace string, ref *v1alpha1.ValuesReference) (map[string]any, error) {
	title := ref.Kind + " " + namespace + "/" + ref.Name
	key := title + " " + keyOf(ref)
	data, id, err := v.from.Values(ctx, ref.Kind, namespace, ref.Name)
	if missing := (*config.MissingError)(nil); errors.As(err, &missing) {
		v.parsed.Remove(key)
		if ref.Optional {
			return map[string]any{}, nil
		}
		return nil, invalid("%s does not exist; create it with the key %q, or set optional: true", title, keyOf(ref))
	}
	if err != nil {
		return nil, err
	}
	text, ok := data[keyOf(ref)]
	if !ok {
		v.parsed.Remove(key)
	}
	switch {
	case !ok && ref.Optional:
		return map[string]any{}, nil
	case !ok:
		return nil, invalid("%s has no key %q; add the key, or set optional: true", title, keyOf(ref))
	}
	var values map[string]any
	if ref.TargetPath != "" {
		values, err = placeAt(ref.TargetPath, text)
	} else {
		values, err = v.parseOnce(key, id, text)
	}
	if err != nil {
		return nil, invalid("%s: key %q: %s", title, keyOf(ref), err)
	}
	return values, nil
}

func keyOf(ref *v1alpha1.ValuesReference) string { return cmp.Or(ref.Key, defaultKey) }

// parseOnce parses a document, unless this version of it is cached.
func (v *Reader) parseOnce(name, id string, text []byte) (map[string]any, error) {
	if d, ok := v.parsed.Get(name); ok && d.id == id {
		return d.values, d.err
	}
	d := document{id: id}
	d.values, d.err = parse(text)
	v.parsed.Add(name, d)
	return d.values, d.err
}

// lineOf matches the line number in an error of the YAML parser. The rest of the error may show a value.
var lineOf = regexp.MustCompile(`line \d+`)

// parse returns the values of a YAML document. Its errors do not contain the content.
func parse(text []byte) (map[string]any, error) {
	j, err := yamlsize.Limits{Bytes: maxBytes, Values: maxSeparators}.JSON(text)
	if yamlsize.Exceeds(err) {
		return nil, err
	}
	if err != nil {
		if line := lineOf.FindString(err.Error()); line != "" {
			return nil, errors.Errorf("invalid YAML in %s", line)
		}
		return nil, errors.New("invalid YAML or duplicate key")
	}
	out := map[string]any{}
	if err := json.Unmarshal(j, &out); err != nil {
		return nil, errors.New("must be a YAML map; to use the value as text, set targetPath")
	}
	return out, nil
}

// placeAt returns values that contain a text at a path.
func placeAt(path string, text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("must be UTF-8 text")
	}
	names, err := split(path)
	if err != nil {
		return nil, err
	}
	var value any = string(text)
	for _, name := range slices.Backward(names) {
		value = map[string]any{name: value}
	}
	return value.(map[string]any), nil //nolint:forcetypeassert // There is at least one name.
}

// split splits a path at its dots. A dot after a backslash is part of a name.
func split(path string) ([]string, error) {
	const dot = "\x00"
	names := strings.Split(strings.ReplaceAll(path, `\.`, dot), ".")
	for i, n := range names {
		if n == "" {
			return nil, errors.Errorf("targetPath %q has an empty element; use the form a.b.c", path)
		}
		names[i] = strings.ReplaceAll(n, dot, ".")
	}
	return names, nil
}
