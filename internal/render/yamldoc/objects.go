// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// maxListDepth bounds the nesting of lists.
const maxListDepth = 4

// Objects reads the objects in documents of YAML or JSON. It skips empty documents. It replaces lists (v1 List, and
// every kind with items whose name ends in List) with their items, in order. It refuses documents that are not one
// object with apiVersion, kind and metadata.name, duplicate keys, generateName, and aliases that expand a document
// too much. Errors are one line. They name the document by its number, from 1, if there is more than one, the line of
// data, or if that is unknown the first line of the document, and the object if it is known.
func Objects(data []byte) ([]*unstructured.Unstructured, error) {
	return objects(data, jsonOf)
}

// Files reads the objects of each file in the same way as Objects. Errors contain the name of the file.
func Files(files []input.File) ([][]*unstructured.Unstructured, error) {
	out := make([][]*unstructured.Unstructured, len(files))
	for i, f := range files {
		var err error
		if out[i], err = Objects(f.Data); err != nil {
			return nil, errors.Wrap(err, f.Name)
		}
	}
	return out, nil
}

// ChartObjects reads documents as Objects does, but uses the last value of a duplicate key, like Helm: some charts
// depend on it.
func ChartObjects(data []byte) ([]*unstructured.Unstructured, error) {
	return objects(data, jsonOfChart)
}

func objects(data []byte, convert func(doc []byte) ([]byte, error)) ([]*unstructured.Unstructured, error) {
	docs, err := split(input.TrimBOM(data))
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for i, d := range docs {
		objs, err := objectsOf(d.data, convert)
		if err != nil {
			return nil, placed(err, i+1, len(docs), d.line)
		}
		out = append(out, objs...)
	}
	return out, nil
}

func objectsOf(doc []byte, convert func(doc []byte) ([]byte, error)) ([]*unstructured.Unstructured, error) {
	j, err := convert(doc)
	if err != nil {
		return nil, err
	}
	if isNull(j) {
		return nil, nil
	}
	if j[0] != '{' {
		return nil, errors.New("not an object: must be a map with apiVersion, kind and metadata.name")
	}
	if err := single(doc); err != nil {
		return nil, err
	}
	content := map[string]any{}
	if err := json.Unmarshal(j, &content); err != nil {
		return nil, errors.New(input.Line(err.Error()))
	}
	return flatten(nil, content, 0)
}

// flatten appends the object, or the items of the list, to out.
func flatten(out []*unstructured.Unstructured, content map[string]any, depth int) ([]*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: content}
	items, ok := content["items"].([]any)
	if !ok || !strings.HasSuffix(u.GetKind(), "List") {
		return append(out, u), check(u)
	}
	if depth == maxListDepth {
		return nil, errors.Errorf("lists are nested more than %d levels deep", maxListDepth)
	}
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, errors.Errorf("%s: items[%d] must be an object", u.GetKind(), i)
		}
		var err error
		if out, err = flatten(out, m, depth+1); err != nil {
			return nil, errors.Wrapf(err, "%s: items[%d]", u.GetKind(), i)
		}
	}
	return out, nil
}

// check returns an error if u does not have the fields that applying it requires: apiVersion, kind and a name.
func check(u *unstructured.Unstructured) error {
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _ := u.Object[field].(string); s == "" {
			return errors.Errorf("%s is missing or not a string", field)
		}
	}
	meta, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return errors.Errorf("%s: metadata is missing or not an object", u.GetKind())
	}
	if name, _ := meta["name"].(string); name != "" {
		return checkMetadata(u, meta)
	}
	if _, ok := meta["generateName"]; ok {
		return errors.Errorf("%s: metadata.generateName is not supported; set metadata.name", u.GetKind())
	}
	return errors.Errorf("%s: metadata.name is missing or not a string", u.GetKind())
}

// checkMetadata refuses fields that accessors of unstructured objects would silently ignore. A label or annotation
// without a value is empty, as in the API server.
func checkMetadata(u *unstructured.Unstructured, meta map[string]any) error {
	if ns, ok := meta["namespace"]; ok && ns != nil {
		if _, ok := ns.(string); !ok {
			return errors.Errorf("%s %q: metadata.namespace must be a string", u.GetKind(), u.GetName())
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		if meta[field] == nil {
			delete(meta, field)
			continue
		}
		m, ok := meta[field].(map[string]any)
		if !ok {
			return errors.Errorf("%s %q: metadata.%s must be an object", u.GetKind(), u.GetName(), field)
		}
		for k, v := range m {
			if v == nil {
				m[k] = ""
				continue
			}
			if _, ok := v.(string); !ok {
				return errors.Errorf("%s %q: metadata.%s[%s] must be a string; enclose it in quotes", u.GetKind(), u.GetName(), field, k)
			}
		}
	}
	return nil
}
