// SPDX-License-Identifier: Apache-2.0

package build

import (
	"cmp"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/module/check"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
)

// subjectOf returns the parts in the form in which they are checked.
func subjectOf(parts []part, d *definition.Definition) (check.Subject, error) {
	s := check.Subject{Readiness: d.Readiness}
	remote := map[string]bool{}
	for i := range parts {
		p := &parts[i]
		switch p.place {
		case placeCRDs:
			s.CRDs = p.files
		case placeInstall:
			if p.files == nil {
				remote[p.resource.Name] = true
				continue
			}
			s.Installs = append(s.Installs, check.Install{Name: p.resource.Name, Chart: p.chart, Files: p.files})
		case placeConfig:
			var err error
			if s.Config, err = config.Read(p.files[0].Data); err != nil {
				return s, errors.Wrap(err, "config")
			}
		case placeCustomResource:
			u, err := customResource(p.layer.Data)
			if err != nil {
				return s, errors.Wrapf(err, "defaultCustomResource: %s", p.files[0].Name)
			}
			s.CustomResource, s.CustomResourceFile = u, p.files[0].Name
		case placeTemplate, placeOther:
		}
	}
	// Charts of a base that are stored elsewhere are not read, and neither are their config entries.
	s.Config = slices.DeleteFunc(s.Config, func(e config.Entry) bool { return remote[e.Name] })
	return s, nil
}

func customResource(data []byte) (*unstructured.Unstructured, error) {
	raw, err := module.CustomResource(data)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	return u, json.Unmarshal(raw.Raw, &u.Object)
}

// labelsOf returns the labels of a component, sorted: the labels of the base, overridden by those in the definition.
func labelsOf(base []ocm.Label, over map[string]string) []ocm.Label {
	out := slices.DeleteFunc(slices.Clone(base), func(l ocm.Label) bool {
		_, ok := over[l.Name]
		return ok
	})
	for name, value := range over {
		out = append(out, ocm.Label{Name: name, Value: value})
	}
	slices.SortFunc(out, func(a, b ocm.Label) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// sourcesOf returns the sources of a component: the sources of the base that the definition does not replace, and then
// those in the definition.
func sourcesOf(base []ocm.SourceRef, more []definition.Source) []ocm.SourceRef {
	out := slices.DeleteFunc(slices.Clone(base), func(s ocm.SourceRef) bool {
		return slices.ContainsFunc(more, func(m definition.Source) bool { return m.Name == s.Name })
	})
	for _, m := range more {
		out = append(out, ocm.SourceRef(m))
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
