// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

const (
	// indexValues is the name of the index of Manifests by what they take values from, as kind/namespace/name.
	indexValues = "values"
	// kindSecret is the kind whose values are never shown.
	kindSecret = "Secret"
	// defaultKey of the data, which the API server sets too.
	defaultKey = "values.yaml"

	// maxValues bounds one document with its aliases written out, in bytes; maxSeparators bounds what it becomes in memory.
	maxValues     = 2 << 20
	maxSeparators = 250_000
	// parsedDocuments are kept.
	parsedDocuments = 1000
)

// Values are Secrets and ConfigMaps.
type Values interface {
	// Values are the data of one, and what tells this version of it from all others. Where nothing changed it costs no
	// request. The error for one that does not exist is a *config.MissingError.
	Values(ctx context.Context, kind, namespace, name string) (data map[string][]byte, id string, err error)
}

// A valuesReader reads what valuesFrom of an install names. Each version of a document is parsed once.
type valuesReader struct {
	from   Values
	parsed *lru.Cache // Kind, namespace, name and key to document.
}

// A document of values that was parsed, and the version of the object that it is from.
type document struct {
	id     string
	values map[string]any
	err    error
}

func newValuesReader(from Values) *valuesReader {
	return &valuesReader{from: from, parsed: lru.New(parsedDocuments)}
}

// valuesOf a Manifest are what its installs take values from, each as kind/namespace/name.
func valuesOf(o client.Object) []string {
	mr, ok := o.(*v1alpha1.Manifest)
	if !ok {
		return nil
	}
	var out []string
	for i := range mr.Spec.ForProvider.Installs {
		for _, r := range mr.Spec.ForProvider.Installs[i].ValuesFrom {
			if id := r.Kind + "/" + mr.Namespace + "/" + r.Name; !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// fill the values of a bundle in, below those that it has. What is wrong with those of one install becomes an error of that
// install, so that the others continue; the error that is returned is that the API server cannot be asked. Those of Secrets are
// returned, too, also where another one is wrong: no message may show them.
func (v *valuesReader) fill(ctx context.Context, namespace string, p *v1alpha1.ManifestParameters, bundle *manifest.Bundle) ([]any, error) {
	var hidden []any
	for i := range bundle.Installs {
		refs := p.Installs[i].ValuesFrom
		if len(refs) == 0 {
			continue
		}
		in := &bundle.Installs[i]
		values, err := v.merge(ctx, namespace, in, refs)
		wrong := (*valuesError)(nil)
		switch {
		case errors.As(err, &wrong):
			refuse(in, wrong)
		case err != nil:
			return nil, errors.Wrapf(err, "spec.forProvider.installs[%q]", in.Name)
		default:
			in.Values = render.MergeValues(values, in.Values)
		}
		hidden = append(hidden, v.secretsOf(ctx, namespace, refs)...)
	}
	return hidden, nil
}

// secretsOf are the values that some references take from Secrets, as far as they can be read.
func (v *valuesReader) secretsOf(ctx context.Context, namespace string, refs []v1alpha1.ValuesReference) []any {
	var out []any
	for i := range refs {
		if refs[i].Kind != kindSecret {
			continue
		}
		if values, err := v.read(ctx, namespace, &refs[i]); err == nil {
			out = append(out, values)
		}
	}
	return out
}

// allSecrets are those of all installs of a Manifest.
func (v *valuesReader) allSecrets(ctx context.Context, mr *v1alpha1.Manifest) []any {
	var out []any
	for i := range mr.Spec.ForProvider.Installs {
		out = append(out, v.secretsOf(ctx, mr.Namespace, mr.Spec.ForProvider.Installs[i].ValuesFrom)...)
	}
	return out
}

// refuse to install, until what is wrong is put right.
func refuse(in *manifest.Install, err error) {
	in.Digest += " without values: " + err.Error()
	in.Fetch = func(context.Context) (source.Content, error) { return source.Content{}, err }
}

// A valuesError says what is wrong with the values of an install. It names the object and its key, and shows nothing of what
// it holds.
type valuesError struct {
	err error
}

// Error is one line.
func (e *valuesError) Error() string { return e.err.Error() }

func wrong(format string, args ...any) error {
	return &valuesError{err: errors.Errorf(format, args...)}
}

// merge what an install takes values from, the later over the earlier.
func (v *valuesReader) merge(ctx context.Context, namespace string, in *manifest.Install, refs []v1alpha1.ValuesReference) (map[string]any, error) {
	if in.Form != manifest.FormChart {
		return nil, wrong("valuesFrom is for charts, and this install is none; take it out")
	}
	out := map[string]any{}
	for i := range refs {
		values, err := v.read(ctx, namespace, &refs[i])
		if bad := (*valuesError)(nil); errors.As(err, &bad) {
			return nil, wrong("valuesFrom[%d]: %s", i, bad)
		}
		if err != nil {
			return nil, errors.Wrapf(err, "valuesFrom[%d]", i)
		}
		out = render.MergeValues(out, values)
	}
	return out, nil
}

// read what one reference names. It must not be changed.
func (v *valuesReader) read(ctx context.Context, namespace string, ref *v1alpha1.ValuesReference) (map[string]any, error) {
	title := ref.Kind + " " + namespace + "/" + ref.Name
	data, id, err := v.from.Values(ctx, ref.Kind, namespace, ref.Name)
	if missing := (*config.MissingError)(nil); errors.As(err, &missing) {
		if ref.Optional {
			return map[string]any{}, nil
		}
		return nil, wrong("%s does not exist; create it with the key %q, or set optional", title, keyOf(ref))
	}
	if err != nil {
		return nil, err
	}
	text, ok := data[keyOf(ref)]
	switch {
	case !ok && ref.Optional:
		return map[string]any{}, nil
	case !ok:
		return nil, wrong("%s has no key %q; add it, or set optional", title, keyOf(ref))
	}
	var values map[string]any
	if ref.TargetPath != "" {
		values, err = placed(ref.TargetPath, text)
	} else {
		values, err = v.parse(title+" "+keyOf(ref), id, text)
	}
	if err != nil {
		return nil, wrong("%s: key %q: %s", title, keyOf(ref), err)
	}
	return values, nil
}

func keyOf(ref *v1alpha1.ValuesReference) string { return cmp.Or(ref.Key, defaultKey) }

// parse a document, unless this version of it was before.
func (v *valuesReader) parse(name, id string, text []byte) (map[string]any, error) {
	if have, ok := v.parsed.Get(name); ok {
		if d := have.(document); d.id == id { //nolint:forcetypeassert // Only documents are put in.
			return d.values, d.err
		}
	}
	d := document{id: id}
	d.values, d.err = parseValues(text)
	v.parsed.Add(name, d)
	return d.values, d.err
}

// lineOf is where a parser of YAML says that something is wrong. The rest of what it says may show a value.
var lineOf = regexp.MustCompile(`line \d+`)

// parseValues reads a document of YAML. No error shows what it holds.
func parseValues(text []byte) (map[string]any, error) {
	if err := (yamlsize.Limits{Bytes: maxValues, Values: maxSeparators}).Check(text); err != nil {
		return nil, err
	}
	j, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		if line := lineOf.FindString(err.Error()); line != "" {
			return nil, errors.Errorf("is not YAML, see %s", line)
		}
		return nil, errors.New("is not YAML, or has a key twice")
	}
	out := map[string]any{}
	if err := json.Unmarshal(j, &out); err != nil {
		return nil, errors.New("must be one map of YAML; to use it as a text, set targetPath")
	}
	return out, nil
}

// placed is a text as the value at a path.
func placed(path string, text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("is not text in UTF-8")
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

// split a path at its dots; one with a backslash before it is part of a name.
func split(path string) ([]string, error) {
	const dot = "\x00"
	names := strings.Split(strings.ReplaceAll(path, `\.`, dot), ".")
	for i, n := range names {
		if n == "" {
			return nil, errors.Errorf("targetPath %q has an empty name; it has the form a.b.c", path)
		}
		names[i] = strings.ReplaceAll(n, dot, ".")
	}
	return names, nil
}
