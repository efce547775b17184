// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

const (
	// maxAttachments bounds the direct and indirect attachments of one artifact.
	maxAttachments = 1000

	// attachmentTries bounds how often an attachment is compared again, because another client has moved its tag.
	attachmentTries = 20
)

// attachmentSuffixes returns the suffixes of cosign's tags for signatures, attestations and bills of materials.
func attachmentSuffixes() []string { return []string{".sig", ".att", ".sbom"} }

// A lister lists the manifests that refer to a manifest. Registries and layouts are listers.
type lister interface {
	Referrers(ctx context.Context, subject string) ([]v1.Descriptor, error)
}

// planAttachments adds the attachments of an artifact, of its parts, and of the attachments themselves.
func (c *copier) planAttachments(ctx context.Context, data []byte, digest string) error {
	m, err := ParseManifest(data)
	if err != nil {
		return errors.Wrapf(err, "cannot copy %s", digest)
	}
	subjects := []string{digest}
	for _, d := range m.Manifests {
		subjects = append(subjects, string(d.Digest))
	}
	asked := map[string]bool{}
	for len(subjects) > 0 {
		subject := subjects[0]
		subjects = subjects[1:]
		if asked[subject] {
			continue
		}
		asked[subject] = true
		found, err := c.planReferrers(ctx, subject)
		if err != nil {
			return err
		}
		if subjects = append(subjects, found...); len(subjects)+len(asked) > maxAttachments {
			return tooMany(digest)
		}
		if err := c.planTags(ctx, subject); err != nil {
			return err
		}
	}
	return nil
}

func tooMany(subject string) error {
	return errors.Errorf("cannot copy %s: more than %d artifacts refer to it", subject, maxAttachments)
}

// planReferrers adds the manifests that refer to subject, and returns their digests.
func (c *copier) planReferrers(ctx context.Context, subject string) ([]string, error) {
	l, ok := c.from.(lister)
	if !ok {
		return nil, nil
	}
	list, err := l.Referrers(ctx, subject)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range list {
		if c.seen[string(d.Digest)] {
			continue
		}
		if c.listed++; c.listed > maxAttachments {
			return nil, tooMany(subject)
		}
		data, digest, err := c.from.Manifest(ctx, string(d.Digest))
		var missing *NotFoundError
		if errors.As(err, &missing) {
			continue // A list may be older than its entries.
		}
		if err != nil {
			return nil, err
		}
		m, err := ParseManifest(data)
		if err != nil || m.AttachedTo() != subject || c.seen[digest] {
			continue
		}
		if err := c.planned(ctx, todo{data: data, digest: digest}); err != nil {
			return nil, err
		}
		out = append(out, digest)
	}
	return out, nil
}

// planTags adds cosign's attachments of subject.
func (c *copier) planTags(ctx context.Context, subject string) error {
	for _, suffix := range attachmentSuffixes() {
		tag := FallbackTag(subject) + suffix
		data, digest, err := c.from.Manifest(ctx, tag)
		var missing *NotFoundError
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return err
		}
		m := todo{data: data, digest: digest, tag: tag}
		write, err := c.adds(ctx, m)
		if err != nil {
			return err
		}
		if !write {
			continue
		}
		if err := c.planned(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// adds reports whether the destination lacks something that an attachment contains. It fails like resolve.
func (c *copier) adds(ctx context.Context, m todo) (bool, error) {
	r, err := c.resolve(ctx, m)
	return r.data != nil, err
}

// A resolved attachment is what its tag must contain so that nothing is lost.
type resolved struct {
	had  string // The digest that the tag has in the destination, or "".
	data []byte // The manifest to write; nil for none.
	// config is the config of a manifest that was merged, or nil.
	config []byte
}

// resolve compares an attachment with the one that the destination has under its tag. What has all layers of the other one stays or
// replaces it. If each has a layer that the other one lacks, resolve merges them with CopyOptions.Overwrite, and fails with an
// *ExistsError without it, or if they cannot be merged. So no signature is lost, whatever the options.
func (c *copier) resolve(ctx context.Context, m todo) (resolved, error) {
	data, have, err := c.to.Manifest(ctx, m.tag)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return resolved{data: m.data}, nil
	}
	if err != nil || have == m.digest {
		return resolved{had: have}, err
	}
	r := resolved{had: have}
	ours, err := ParseManifest(m.data)
	if err != nil {
		return r, errors.Wrapf(err, "cannot copy %s", m.digest)
	}
	// What cannot be parsed is not covered by anything.
	theirs, err := ParseManifest(data)
	switch {
	case err == nil && covers(theirs, ours):
		return r, nil
	case err == nil && covers(ours, theirs):
		r.data = m.data
		return r, nil
	case err != nil || ours.IsIndex() || theirs.IsIndex():
		return r, c.conflict(m, have, notMerged)
	}
	return c.merge(m, have, data)
}

// merge merges an attachment with the one that the destination has.
func (c *copier) merge(m todo, have string, theirs []byte) (resolved, error) {
	switch {
	case isBill(m.tag) && c.options.Overwrite:
		return resolved{had: have, data: m.data}, nil
	case !isList(m.tag) || c.options.Merge == nil:
		return resolved{}, c.conflict(m, have, notMerged)
	case !c.options.Overwrite:
		return resolved{}, c.conflict(m, have, "each contains signatures that the other lacks: use --overwrite to keep those of both")
	}
	data, config, err := c.options.Merge(theirs, m.data)
	if err == nil && len(data) > MaxManifest {
		err = &TooLargeError{Limit: MaxManifest}
	}
	return resolved{had: have, data: data, config: config}, errors.Wrapf(err, "cannot merge tag %s of the source with that of %s", m.tag, c.to)
}

// notMerged is what the user can do about attachments that cannot be merged.
const notMerged = "the tags of the source and the destination have different content: if you do not need that of the destination, delete the tag there, " +
	"or use another destination"

func (c *copier) conflict(m todo, have, fix string) error {
	return &ExistsError{Store: c.to.String(), Tag: m.tag, Have: have, Want: m.digest, Fix: fix}
}

// isList reports whether the layers under an attachment tag are independent of each other, as with signatures and attestations.
func isList(tag string) bool { return strings.HasSuffix(tag, ".sig") || strings.HasSuffix(tag, ".att") }

// isBill reports whether a tag has a bill of materials, which --overwrite replaces.
func isBill(tag string) bool { return strings.HasSuffix(tag, ".sbom") }

// errMoved reports that a tag was moved between a read and a write.
var errMoved = errors.New("the tag was moved")

// putAttachment writes an attachment under its tag. Clients may have added signatures to the tag since it was planned, so it resolves
// the attachment again.
func (c *copier) putAttachment(ctx context.Context, m todo) error {
	for range attachmentTries {
		r, err := c.resolve(ctx, m)
		if err != nil {
			return err
		}
		if r.data == nil {
			c.progress.wrote(m, true)
			return nil
		}
		err = c.replace(ctx, m.tag, r)
		if errors.Is(err, errMoved) {
			continue
		}
		if err == nil {
			c.progress.wrote(m, false)
		}
		return err
	}
	return errors.Errorf("other clients keep changing tag %s in %s: try again", m.tag, c.to)
}

// replace writes a resolved attachment. It returns errMoved if the tag no longer has the content that was resolved.
func (c *copier) replace(ctx context.Context, tag string, r resolved) error {
	if r.config != nil {
		config := Content{MediaType: v1.MediaTypeImageConfig, Digest: oci.DigestOf(r.config), Size: int64(len(r.config))}
		open := func(offset int64) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(r.config[offset:])), nil
		}
		if err := c.to.PutBlob(ctx, config, open); err != nil {
			return err
		}
	}
	unmoved := func(have string) error {
		if have != r.had {
			return errMoved
		}
		return nil
	}
	if s, ok := c.to.(swapper); ok {
		return s.Swap(ctx, r.data, tag, unmoved)
	}
	have, err := c.tagged(ctx, todo{tag: tag})
	if err == nil {
		err = unmoved(have)
	}
	if err != nil {
		return err
	}
	return c.to.PutManifest(ctx, r.data, tag)
}

// covers reports whether a has all layers of b, with all of their annotations.
func covers(a, b *Manifest) bool {
	if a.IsIndex() || b.IsIndex() {
		return false
	}
	return subset(b.attached(), a.attached())
}

// attached returns what an attachment attaches.
func (m *Manifest) attached() []v1.Descriptor { return slices.Concat(m.Layers, m.Blobs) }

func subset(some, all []v1.Descriptor) bool {
	for _, s := range some {
		found := false
		for _, d := range all {
			found = found || sameLayer(s, d)
		}
		if !found {
			return false
		}
	}
	return true
}

// sameLayer reports whether two layers are equal, including their annotations, which hold signatures.
func sameLayer(a, b v1.Descriptor) bool {
	if a.Digest != b.Digest || len(a.Annotations) != len(b.Annotations) {
		return false
	}
	for k, v := range a.Annotations {
		if b.Annotations[k] != v {
			return false
		}
	}
	return true
}
