// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

const (
	// maxIndex bounds index.json, in bytes, and maxListed its number of entries.
	maxIndex  = 8 << 20
	maxListed = 10_000

	// containerdName is the annotation in which docker and containerd store the whole reference.
	containerdName = "io.containerd.image.name"
)

// attachmentTag matches the tag of an attachment of a digest: from cosign, or a list of referrers.
var attachmentTag = regexp.MustCompile(`^sha256-[0-9a-f]{64}(\.[a-z0-9]+)?$`)

func isAttachment(tag string) bool { return attachmentTag.MatchString(tag) }

// An index is the content of index.json.
type index struct{ v1.Index }

// parseIndex parses index.json. All digests and sizes in the result are valid.
func parseIndex(data []byte) (*index, error) {
	i := &index{}
	if err := json.Unmarshal(data, &i.Index); err != nil {
		return nil, errors.New("index.json is not valid JSON, or is not an image index")
	}
	if i.SchemaVersion != 2 {
		return nil, errors.Errorf("index.json has schemaVersion %d, expected 2", i.SchemaVersion)
	}
	if len(i.Manifests) > maxListed {
		return nil, errors.Errorf("index.json lists more than %d manifests", maxListed)
	}
	for _, d := range i.Manifests {
		if err := store.CheckDescriptor(d); err != nil {
			return nil, errors.Wrap(err, "index.json")
		}
		if d.Size > store.MaxManifest {
			return nil, errors.Errorf("index.json: manifest %s is too large (%d bytes)", d.Digest, d.Size)
		}
	}
	i.sort()
	return i, nil
}

func newIndex() *index {
	return &index{v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, Manifests: []v1.Descriptor{}}}
}

// encode returns the index as JSON, with the same bytes for the same content.
func (i *index) encode() ([]byte, error) {
	i.sort()
	if i.Manifests == nil {
		i.Manifests = []v1.Descriptor{}
	}
	return json.Marshal(i.Index)
}

// differs reports whether two indexes are encoded differently.
func (i *index) differs(other *index) (bool, error) {
	a, err := i.encode()
	if err != nil {
		return false, err
	}
	b, err := other.encode()
	return !bytes.Equal(a, b), err
}

// sort puts tagged entries first, ordered by tag.
func (i *index) sort() {
	slices.SortStableFunc(i.Manifests, func(a, b v1.Descriptor) int {
		x, y := tagOf(a), tagOf(b)
		if (x == "") != (y == "") {
			return cmp.Compare(y, x)
		}
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Digest, b.Digest))
	})
}

// tagOf returns the tag of an entry, or "". Tools write either the tag or the whole reference.
func tagOf(d v1.Descriptor) string {
	for _, key := range []string{v1.AnnotationRefName, containerdName} {
		name := d.Annotations[key]
		if oci.ValidTag(name) {
			return name
		}
		if ref, err := oci.ParseReference(name); err == nil && ref.Tag != "" {
			return ref.Tag
		}
	}
	return ""
}

// find returns the digest of a tag, or "". name is the tag, or the annotation that a tool wrote for it.
func (i *index) find(name string) (string, error) {
	found := ""
	if name == "" {
		return "", nil
	}
	for _, d := range i.Manifests {
		if tagOf(d) != name && d.Annotations[v1.AnnotationRefName] != name {
			continue
		}
		if found != "" && found != string(d.Digest) {
			return "", errors.Errorf("tag %.200q refers to several manifests: use a digest", name)
		}
		found = string(d.Digest)
	}
	return found, nil
}

func (i *index) tags() []string {
	out := []string{}
	for _, d := range i.Manifests {
		if t := tagOf(d); t != "" {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// put adds a manifest under a tag unless that is empty, and replaces the entry that had the tag. It returns false if
// the entry already existed.
func (i *index) put(d v1.Descriptor, tag string) bool {
	listed := slices.ContainsFunc(i.Manifests, func(e v1.Descriptor) bool {
		return e.Digest == d.Digest && (tag == "" || tagOf(e) == tag)
	})
	// Other tools may have used a tag twice, which find has already refused.
	if listed {
		return false
	}
	if tag != "" {
		d.Annotations = map[string]string{v1.AnnotationRefName: tag}
	}
	i.Manifests = slices.DeleteFunc(i.Manifests, func(e v1.Descriptor) bool {
		return tag != "" && tagOf(e) == tag || e.Digest == d.Digest && tagOf(e) == ""
	})
	i.Manifests = append(i.Manifests, d)
	return true
}
