// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

const (
	// partCRDs names the layer of definitions in messages.
	partCRDs = "crds"
	// maxDefinition is what an API server takes in one request, in bytes. It bounds what the validation has to read.
	maxDefinition = 3 << 20
	kindCRD       = "CustomResourceDefinition"
)

// A definition of custom resources, which an API server would take.
type definition struct {
	*apiextensionsv1.CustomResourceDefinition

	// part of the module that it is of.
	part string
}

func (d *definition) namespaced() bool { return d.Spec.Scope == apiextensionsv1.NamespaceScoped }

func isDefinition(u *unstructured.Unstructured) bool {
	return u.GetKind() == kindCRD && u.GroupVersionKind().Group == apiextensionsv1.GroupName
}

// crds are the definitions of the layer that comes first.
func (c *checker) crds(ctx context.Context) error {
	own, n := map[key]bool{}, 0
	for _, f := range c.subject.CRDs {
		// As the engine, which looks at no other files.
		if ext := path.Ext(f.Name); ext != ".yaml" && ext != ".yml" && ext != ".json" {
			continue
		}
		objects, err := objectsOf([]oci.File{f})
		if err != nil {
			return errors.Wrap(err, partCRDs)
		}
		for _, u := range objects {
			if !isDefinition(u) {
				return errors.Errorf("%s: %s: %s %s is no %s", partCRDs, f.Name, u.GetKind(), u.GetName(), kindCRD)
			}
			if err := c.define(ctx, u, partCRDs, own); err != nil {
				return errors.Wrapf(err, "%s: %s", partCRDs, f.Name)
			}
		}
		n += len(objects)
	}
	if len(c.subject.CRDs) > 0 && n == 0 {
		return errors.Errorf("%s: there is no %s in it", partCRDs, kindCRD)
	}
	return nil
}

// define what a definition defines. Several charts may bring along the same one:
// as in Helm, and in the engine, the first one counts.
func (c *checker) define(ctx context.Context, u *unstructured.Unstructured, part string, own map[key]bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := kindCRD + " " + u.GetName()
	k := key{group: apiextensionsv1.GroupName, kind: kindCRD, name: u.GetName()}
	if own[k] {
		return errors.Errorf("%s is there twice", name)
	}
	own[k] = true
	crd, unknown, err := decodeDefinition(ctx, u)
	if err != nil {
		return errors.Wrap(err, name)
	}
	for _, field := range unknown {
		c.warn(fmt.Sprintf("%s: %s", name, field))
	}
	if first, ok := c.definitions[u.GetName()]; ok {
		if !equality.Semantic.DeepEqual(first.Spec, crd.Spec) {
			c.warn(fmt.Sprintf("%s of install %s differs from that of %s, which is the one that counts", name, part, title(first.part)))
		}
		return nil
	}
	if other := c.definitionOf(schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}); other != nil {
		return errors.Errorf("%s: spec.names.kind: %s is defined by %s too", name, crd.Spec.Names.Kind, other.Name)
	}
	c.definitions[u.GetName()] = &definition{CustomResourceDefinition: crd, part: part}
	return nil
}

func title(part string) string {
	if part == partCRDs {
		return part
	}
	return "install " + part
}

// definitionOf a kind, or nil.
func (c *checker) definitionOf(gk schema.GroupKind) *definition {
	for _, d := range c.definitions {
		if d.Spec.Group == gk.Group && d.Spec.Names.Kind == gk.Kind {
			return d
		}
	}
	return nil
}

// decodeDefinition returns a definition with its defaults, if an API server would
// take it, and what it would drop of it.
func decodeDefinition(ctx context.Context, u *unstructured.Unstructured) (out *apiextensionsv1.CustomResourceDefinition, unknown []string, err error) {
	defer func() {
		// Some of what follows is made for what an API server has looked at before.
		if p := recover(); p != nil {
			out, unknown, err = nil, nil, errors.Errorf("cannot be checked: %s", oneLine(fmt.Sprint(p)))
		}
	}()
	if v := u.GroupVersionKind().Version; v != "v1" {
		return nil, nil, errors.Errorf("apiVersion: no Kubernetes since 1.22 serves %s: use %s", u.GetAPIVersion(), apiextensionsv1.SchemeGroupVersion)
	}
	data, err := json.Marshal(u.Object)
	if err != nil {
		return nil, nil, errors.New(oneLine(err.Error()))
	}
	if len(data) > maxDefinition {
		return nil, nil, errors.Errorf("is larger than %d bytes, which no API server takes", maxDefinition)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	strict, err := kjson.UnmarshalStrict(data, crd)
	if typed := (*json.UnmarshalTypeError)(nil); errors.As(err, &typed) {
		return nil, nil, errors.Errorf("%s: must not be of type %s", oneLine(typed.Field), typed.Value)
	}
	if err != nil {
		return nil, nil, errors.New(oneLine(err.Error()))
	}
	for _, e := range strict {
		unknown = append(unknown, e.Error())
	}
	return crd, unknown, validateDefinition(ctx, crd)
}

// validateDefinition sets what is set by default, and says what an API server
// would refuse.
func validateDefinition(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	s := runtime.NewScheme()
	install.Install(s)
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	s.Default(crd)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := s.Convert(crd, internal, ctx); err != nil {
		return errors.New(oneLine(strings.TrimPrefix(err.Error(), "unable to convert ")))
	}
	return violations(validation.ValidateCustomResourceDefinition(ctx, internal))
}
