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

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

const (
	// partCRDs names the layer of CRDs in messages.
	partCRDs = "crds"
	// maxCRD is the maximum size of a request to an API server, in bytes. It bounds the work of the validation.
	maxCRD  = 3 << 20
	kindCRD = "CustomResourceDefinition"
)

// A crd is a CRD that an API server would accept.
type crd struct {
	*apiextensionsv1.CustomResourceDefinition

	// part is the part of the module that contains it.
	part string
}

func (d *crd) namespaced() bool { return d.Spec.Scope == apiextensionsv1.NamespaceScoped }

func isCRD(u *unstructured.Unstructured) bool {
	return u.GetKind() == kindCRD && u.GroupVersionKind().Group == apiextensionsv1.GroupName
}

// A crdSet holds the CRDs of a module by their names.
type crdSet map[string]*crd

// readCRDs reads the layer of CRDs.
func readCRDs(ctx context.Context, files []archive.File, w *warnings) (crdSet, error) {
	out, own, n := crdSet{}, keys{}, 0
	for _, f := range files {
		// The engine reads no other files either.
		if ext := path.Ext(f.Name); ext != ".yaml" && ext != ".yml" && ext != ".json" {
			continue
		}
		objects, err := objectsOf([]archive.File{f})
		if err != nil {
			return nil, errors.Wrap(err, partCRDs)
		}
		for _, u := range objects {
			if !isCRD(u) {
				return nil, errors.Errorf("%s: %s: %s %s is not a %s", partCRDs, f.Name, u.GetKind(), u.GetName(), kindCRD)
			}
			if err := out.add(ctx, u, partCRDs, own, w); err != nil {
				return nil, errors.Wrapf(err, "%s: %s", partCRDs, f.Name)
			}
		}
		n += len(objects)
	}
	if len(files) > 0 && n == 0 {
		return nil, errors.Errorf("%s contains no %s", partCRDs, kindCRD)
	}
	return out, nil
}

// add adds a CRD of a part; own are the objects of the part so far. If several charts contain the same CRD, the first
// one applies, as in Helm and in the engine.
func (s crdSet) add(ctx context.Context, u *unstructured.Unstructured, part string, own keys, w *warnings) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := own.add(key{group: apiextensionsv1.GroupName, kind: kindCRD, name: u.GetName()}); err != nil {
		return err
	}
	name := kindCRD + " " + u.GetName()
	decoded, unknown, err := decodeCRD(ctx, u)
	if err != nil {
		return errors.Wrap(err, name)
	}
	for _, field := range unknown {
		w.addf("%s: %s", name, field)
	}
	if first, ok := s[u.GetName()]; ok {
		if !equality.Semantic.DeepEqual(first.Spec, decoded.Spec) {
			w.addf("%s in install %s differs from the one in %s, which takes precedence", name, part, title(first.part))
		}
		return nil
	}
	if other := s.find(schema.GroupKind{Group: decoded.Spec.Group, Kind: decoded.Spec.Names.Kind}); other != nil {
		return errors.Errorf("%s: spec.names.kind: %s is also defined by %s", name, decoded.Spec.Names.Kind, other.Name)
	}
	s[u.GetName()] = &crd{CustomResourceDefinition: decoded, part: part}
	return nil
}

func title(part string) string {
	if part == partCRDs {
		return part
	}
	return "install " + part
}

// find returns the CRD of a kind, or nil.
func (s crdSet) find(gk schema.GroupKind) *crd {
	for _, d := range s {
		if d.Spec.Group == gk.Group && d.Spec.Names.Kind == gk.Kind {
			return d
		}
	}
	return nil
}

// decodeCRD returns a CRD with its defaults, and the fields that an API server would drop. It returns an error if an
// API server would refuse the CRD.
func decodeCRD(ctx context.Context, u *unstructured.Unstructured) (out *apiextensionsv1.CustomResourceDefinition, unknown []string, err error) {
	defer func() {
		// Some functions below rely on checks that an API server performs before.
		if p := recover(); p != nil {
			out, unknown, err = nil, nil, errors.Errorf("cannot be checked: %s", oneLine(fmt.Sprint(p)))
		}
	}()
	if v := u.GroupVersionKind().Version; v != "v1" {
		return nil, nil, errors.Errorf("apiVersion: Kubernetes 1.22 and later do not serve %s; use %s", u.GetAPIVersion(), apiextensionsv1.SchemeGroupVersion)
	}
	data, err := json.Marshal(u.Object)
	if err != nil {
		return nil, nil, errors.New(oneLine(err.Error()))
	}
	if len(data) > maxCRD {
		return nil, nil, errors.Errorf("exceeds the size limit of API servers (%d bytes)", maxCRD)
	}
	decoded := &apiextensionsv1.CustomResourceDefinition{}
	strict, err := kjson.UnmarshalStrict(data, decoded)
	if typed := (*json.UnmarshalTypeError)(nil); errors.As(err, &typed) {
		return nil, nil, errors.Errorf("%s: must not be of type %s", oneLine(typed.Field), typed.Value)
	}
	if err != nil {
		return nil, nil, errors.New(oneLine(err.Error()))
	}
	for _, e := range strict {
		unknown = append(unknown, e.Error())
	}
	return decoded, unknown, validateCRD(ctx, decoded)
}

// validateCRD sets the defaults of a CRD, and returns an error if an API server would refuse it.
func validateCRD(ctx context.Context, decoded *apiextensionsv1.CustomResourceDefinition) error {
	s := runtime.NewScheme()
	install.Install(s)
	decoded.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	s.Default(decoded)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := s.Convert(decoded, internal, ctx); err != nil {
		return errors.New(oneLine(strings.TrimPrefix(err.Error(), "unable to convert ")))
	}
	return violations(validation.ValidateCustomResourceDefinition(ctx, internal))
}
