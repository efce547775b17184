// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// ReplaceDescriptor returns the content to push for an existing artifact of a component with another descriptor: the manifest,
// the config blob, and the layer with the descriptor. It preserves all other fields of the manifest and the config:
// layers, their order and media types, and annotations. The error is an *ocm.InvalidError.
func ReplaceDescriptor(manifestData, configData []byte, d *ocm.Descriptor) (newManifest, newConfig, descriptor []byte, err error) {
	newManifest, newConfig, descriptor, err = replaceDescriptor(manifestData, configData, d)
	if err != nil {
		return nil, nil, nil, ocm.Invalid(errors.Wrapf(err, "cannot write component %s", d.ID()))
	}
	return newManifest, newConfig, descriptor, nil
}

func replaceDescriptor(manifestData, configData []byte, d *ocm.Descriptor) (newManifest, newConfig, descriptor []byte, err error) {
	m, err := readManifest(manifestData)
	if err != nil {
		return nil, nil, nil, err
	}
	old, err := descriptorLayer(m, configData)
	if err != nil {
		return nil, nil, nil, err
	}
	descriptor = d.JSON()
	if !slices.Contains([]string{CNUDIEJSON, OCMJSON}, old.MediaType) {
		if descriptor, err = packDescriptor(descriptor); err != nil {
			return nil, nil, nil, err
		}
	}
	layer := blobOf(old.MediaType, descriptor)

	config, manifest := object{}, object{}
	if json.Unmarshal(configData, &config) != nil || json.Unmarshal(manifestData, &manifest) != nil {
		return nil, nil, nil, errors.New("the manifest or the config is not a JSON object")
	}
	if err := config.rename("componentDescriptorLayer", layer); err != nil {
		return nil, nil, nil, err
	}
	if newConfig, err = json.Marshal(config); err != nil {
		return nil, nil, nil, err
	}
	if err := manifest.rename("config", blobOf(m.Config.MediaType, newConfig)); err != nil {
		return nil, nil, nil, err
	}
	if err := manifest.renameLayer(slices.Index(m.Layers, old), layer); err != nil {
		return nil, nil, nil, err
	}
	newManifest, err = json.Marshal(manifest)
	return newManifest, newConfig, descriptor, err
}

// An object is a JSON object that preserves the order of its fields, so that signing a module later gives the same
// result as signing it when it is created.
type object []field //nolint:recvcheck // What is read changes, and what is written does not.

type field struct {
	key   string
	value json.RawMessage
}

// UnmarshalJSON reads the fields in their order. It refuses duplicate fields, as two readers could interpret them
// differently.
func (o *object) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("must be an object")
	}
	seen := map[string]struct{}{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		f := field{}
		f.key, _ = t.(string)
		if err := d.Decode(&f.value); err != nil {
			return err
		}
		if _, ok := seen[f.key]; ok {
			return errors.Errorf("duplicate field %.100q", f.key)
		}
		seen[f.key] = struct{}{}
		*o = append(*o, f)
	}
	return nil
}

// MarshalJSON writes the fields in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(f.key)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (o object) at(key string) *json.RawMessage {
	for i := range o {
		if o[i].key == key {
			return &o[i].value
		}
	}
	return nil
}

// rename makes a field refer to another blob. It preserves other properties, such as annotations, except for an
// embedded copy of the content.
func (o object) rename(key string, to blob) error {
	value := o.at(key)
	if value == nil {
		return errors.Errorf("the manifest or the config has no field %s", key)
	}
	var err error
	*value, err = renamed(*value, to)
	return err
}

func (o object) renameLayer(i int, to blob) error {
	var layers []json.RawMessage
	value := o.at("layers")
	if value == nil || json.Unmarshal(*value, &layers) != nil || i >= len(layers) {
		return errors.New("the layers are malformed")
	}
	var err error
	if layers[i], err = renamed(layers[i], to); err != nil {
		return err
	}
	*value, err = json.Marshal(layers)
	return err
}

func renamed(old json.RawMessage, to blob) (json.RawMessage, error) {
	var in, out object
	if json.Unmarshal(old, &in) != nil {
		return nil, errors.New("the manifest is malformed")
	}
	for _, f := range []struct {
		key   string
		value any
	}{{"mediaType", to.MediaType}, {"digest", to.Digest}, {"size", to.Size}} {
		data, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		if value := in.at(f.key); value != nil {
			*value = data
		} else {
			in = append(in, field{key: f.key, value: data})
		}
	}
	for _, f := range in {
		if f.key != "data" {
			out = append(out, f)
		}
	}
	return json.Marshal(out)
}
