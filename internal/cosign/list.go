// SPDX-License-Identifier: Apache-2.0

package cosign

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// Media types and the annotation that cosign writes.
const (
	manifestType  = "application/vnd.oci.image.manifest.v1+json"
	configType    = "application/vnd.oci.image.config.v1+json"
	signatureType = "application/vnd.dev.cosign.simplesigning.v1+json"
	annotation    = "dev.cosignproject.cosign/signature"
)

const (
	// maxSignatures bounds the number of signatures of a manifest, as in cosign.
	maxSignatures = 1000
	// maxPayload bounds one payload, in bytes, and maxPayloads all payloads together.
	maxPayload  = 256 << 10
	maxPayloads = 64 << 20
)

// A list is the manifest that contains the signatures of another one.
type list struct {
	// digest is that of the manifest, or empty if there is none yet.
	digest string
	// fields holds all fields of the manifest, so that none is lost.
	fields map[string]json.RawMessage
	// layers holds the decoded layers, and raw the same layers as they were read.
	layers []layer
	raw    []json.RawMessage
}

type layer struct {
	MediaType   string            `json:"mediaType"`
	Size        int64             `json:"size"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// readList returns the signatures of a manifest; an empty list if there is no such tag.
func readList(ctx context.Context, s store.Reader, digest string) (*list, error) {
	l := &list{fields: map[string]json.RawMessage{}}
	data, have, err := s.Manifest(ctx, Tag(digest))
	var missing *store.NotFoundError
	if errors.As(err, &missing) {
		return l, nil
	}
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the cosign signatures")
	}
	if err := l.decode(data); err != nil {
		return nil, errors.Wrapf(err, "tag %s does not contain cosign signatures", Tag(digest))
	}
	l.digest = have
	return l, nil
}

func (l *list) decode(data []byte) error {
	if json.Unmarshal(data, &l.fields) != nil || l.fields == nil {
		return errors.New("not valid JSON")
	}
	if _, ok := l.fields["manifests"]; ok {
		return errors.New("the manifest is an index")
	}
	layers, ok := l.fields["layers"]
	if !ok {
		return errors.New("the manifest has no layers")
	}
	if json.Unmarshal(layers, &l.raw) != nil || json.Unmarshal(layers, &l.layers) != nil {
		return errors.New("the layers are malformed")
	}
	if len(l.layers) > maxSignatures {
		return errors.Errorf("the manifest has more than %d layers", maxSignatures)
	}
	return nil
}

// find searches for a signature by the key of the manifest with the given digest. It returns "" if there is one, and
// otherwise the reason why there is none.
func (l *list) find(ctx context.Context, s store.Reader, digest string, v verifier) (reason string, err error) {
	if len(l.layers) == 0 {
		return "no signature found under tag " + Tag(digest), nil
	}
	reason = "no signature matches the key"
	payloads := map[string][]byte{}
	left := maxPayloads
	for i := range l.layers {
		value, ok := l.layers[i].signature()
		if !ok {
			continue
		}
		data, ok := payloads[l.layers[i].Digest]
		if !ok {
			if data, err = l.layers[i].payload(ctx, s); err != nil {
				return "", err
			}
			if left -= len(data); left < 0 {
				return "", errors.Errorf("the total size of the signed payloads exceeds the limit of %d bytes", maxPayloads)
			}
			payloads[l.layers[i].Digest] = data
		}
		if data == nil || !v.verify(data, value) {
			continue
		}
		if claims(data) == digest {
			return "", nil
		}
		reason = "the signature with this key is for different content"
	}
	return reason, nil
}

// signature returns the signature in a layer. It returns false if the layer contains none.
func (l *layer) signature() ([]byte, bool) {
	text, ok := l.Annotations[annotation]
	if !ok || l.MediaType != signatureType || !isDigest.MatchString(l.Digest) || l.Size > maxPayload {
		return nil, false
	}
	value, err := base64.StdEncoding.DecodeString(text)
	return value, err == nil
}

// payload returns the signed payload, or nil if it is missing or damaged: other signatures may be intact.
func (l *layer) payload(ctx context.Context, s store.Reader) ([]byte, error) {
	data, err := store.ReadBlob(ctx, s, l.Digest, maxPayload)
	var missing *store.NotFoundError
	if errors.As(err, &missing) || store.IsDamaged(err) {
		return nil, nil
	}
	return data, errors.Wrap(err, "cannot read the signed payload")
}

// Merge returns a manifest with the signatures, or attestations, of two manifests that belong to the same one, and its config. It keeps
// all other fields of the first one.
func Merge(first, second []byte) (manifest, config []byte, err error) {
	l, other := &list{}, &list{}
	if err := l.decode(first); err != nil {
		return nil, nil, err
	}
	if err := other.decode(second); err != nil {
		return nil, nil, err
	}
	for i, added := range other.layers {
		same := func(have layer) bool {
			return have.Digest == added.Digest && maps.Equal(have.Annotations, added.Annotations)
		}
		if slices.ContainsFunc(l.layers, same) {
			continue
		}
		if err := l.add(added, other.raw[i]); err != nil {
			return nil, nil, err
		}
	}
	return l.encode()
}

// with returns the manifest with an additional signature, and its config. It preserves all other fields.
func (l *list) with(s *signature) (manifest, config []byte, err error) {
	added := s.layer()
	raw, err := json.Marshal(added)
	if err != nil {
		return nil, nil, err
	}
	more := &list{fields: l.fields, layers: slices.Clone(l.layers), raw: slices.Clone(l.raw)}
	if err := more.add(added, raw); err != nil {
		return nil, nil, err
	}
	return more.encode()
}

func (l *list) add(decoded layer, raw json.RawMessage) error {
	if len(l.layers) >= maxSignatures {
		return errors.Errorf("the manifest already has %d signatures, which is the maximum", len(l.layers))
	}
	l.layers, l.raw = append(l.layers, decoded), append(l.raw, raw)
	return nil
}

// encode returns the manifest and its config.
func (l *list) encode() (manifest, config []byte, err error) {
	if config, err = newConfig(l.layers); err != nil {
		return nil, nil, err
	}
	fields := map[string]any{}
	for key, value := range l.fields {
		fields[key] = value
	}
	fields["schemaVersion"] = 2
	fields["mediaType"] = manifestType
	fields["layers"] = l.raw
	c := contentOf(configType, config)
	fields["config"] = layer{MediaType: c.MediaType, Size: c.Size, Digest: c.Digest}
	manifest, err = json.Marshal(fields)
	return manifest, config, err
}

// newConfig returns the otherwise empty config of an image with those layers, as cosign writes it.
func newConfig(layers []layer) ([]byte, error) {
	const never = "0001-01-01T00:00:00Z"
	type history struct {
		Created string `json:"created"`
	}
	type rootfs struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	c := struct {
		Architecture string    `json:"architecture"`
		Created      string    `json:"created"`
		History      []history `json:"history"`
		OS           string    `json:"os"`
		RootFS       rootfs    `json:"rootfs"`
		Config       struct{}  `json:"config"`
	}{Created: never, RootFS: rootfs{Type: "layers"}}
	for i := range layers {
		c.History = append(c.History, history{Created: never})
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, layers[i].Digest)
	}
	return json.Marshal(c)
}

func (s *signature) content() store.Content { return contentOf(signatureType, s.payload) }

func (s *signature) layer() layer {
	c := s.content()
	return layer{MediaType: c.MediaType, Size: c.Size, Digest: c.Digest, Annotations: map[string]string{annotation: s.base64}}
}

func contentOf(mediaType string, data []byte) store.Content {
	sum := sha256.Sum256(data)
	return store.Content{MediaType: mediaType, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(data))}
}

// put writes a blob unless the store has it already.
func put(ctx context.Context, s store.Writer, c store.Content, data []byte) error {
	if ok, err := s.Has(ctx, c.Digest); ok || err != nil {
		return err
	}
	return s.PutBlob(ctx, c, func(offset int64) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data[offset:])), nil
	})
}
