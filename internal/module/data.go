// SPDX-License-Identifier: Apache-2.0

package module

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxData bounds a default custom resource, which goes into the status, in bytes.
const maxData = 256 << 10

// customResource fetches a default custom resource from its layer.
func (r *Resolver) customResource(ctx context.Context, reg artifact.Registry, s *v1alpha1.Source) (*runtime.RawExtension, error) {
	layer, err := reg.Blob(ctx, s.Repo+"/"+s.Name, s.Ref)
	if err != nil {
		return nil, errors.Wrapf(err, "resource %s", resourceDefaultCR)
	}
	raw, err := decodeCustomResource(layer, r.limits.In(ctx))
	return raw, classify(err, "resource "+resourceDefaultCR)
}

// CustomResource reads a default custom resource from a layer, which is a bare file or an archive of one file. The
// error is one line.
func CustomResource(layer []byte) (*runtime.RawExtension, error) {
	return decodeCustomResource(layer, archive.DefaultLimits())
}

func decodeCustomResource(layer []byte, l archive.Limits) (*runtime.RawExtension, error) {
	l.File = maxData
	files, err := archive.ReadLayer(layer, l)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, errors.Errorf("expected one file with the default custom resource, found %d files", len(files))
	}
	if len(files[0].Data) > maxData {
		return nil, errors.Errorf("content is larger than the limit of %d bytes", maxData)
	}
	object, err := oneObject(files[0].Data)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(object)
	return &runtime.RawExtension{Raw: b}, errors.Wrap(err, "cannot be encoded")
}

// oneObject returns the only object of YAML or JSON. Unlike objects that are installed, it needs no name.
func oneObject(data []byte) (map[string]any, error) {
	var found map[string]any
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Wrap(err, "invalid YAML")
		}
		object, err := decodeObject(document)
		if err != nil {
			return nil, err
		}
		switch {
		case len(object) == 0:
		case found != nil:
			return nil, errors.New("expected only the default custom resource, found more than one object")
		default:
			found = object
		}
	}
	if found == nil {
		return nil, errors.New("no object found")
	}
	for _, field := range []string{"apiVersion", "kind"} {
		if s, _ := found[field].(string); s == "" {
			return nil, errors.Errorf("the object has no %s", field)
		}
	}
	return found, nil
}

// decodeObject decodes one document. It preserves numbers as they are written.
func decodeObject(document []byte) (map[string]any, error) {
	b, err := yamlsize.Limits{Bytes: maxData}.JSON(document)
	if yamlsize.Exceeds(err) {
		return nil, err
	}
	if err != nil {
		return nil, errors.Errorf("invalid YAML: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return nil, errors.New("must be an object")
	}
	return object, nil
}
