// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// maxAttachments bounds the direct and indirect attachments of one artifact.
const maxAttachments = 1000

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

// adds reports whether an attachment contains more than the one that the destination has under its tag. It fails if
// each contains something that the other lacks, so that no signature is lost.
func (c *copier) adds(ctx context.Context, m todo) (bool, error) {
	data, have, err := c.to.Manifest(ctx, m.tag)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return true, nil
	}
	if err != nil || have == m.digest {
		return false, err
	}
	if c.options.Overwrite {
		return true, nil
	}
	ours, err := ParseManifest(m.data)
	if err != nil {
		return false, errors.Wrapf(err, "cannot copy %s", m.digest)
	}
	theirs, err := ParseManifest(data)
	switch {
	case err == nil && covers(theirs, ours):
		return false, nil
	case err == nil && covers(ours, theirs):
		return true, nil
	}
	return false, &ExistsError{Store: c.to.String(), Tag: m.tag, Have: have, Want: m.digest}
}

// covers reports whether a has all layers of b, with all of their annotations.
func covers(a, b *Manifest) bool {
	if a.IsIndex() || b.IsIndex() {
		return false
	}
	return subset(b.Layers, a.Layers)
}

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
