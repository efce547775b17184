// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto"
	"regexp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

var isHex = regexp.MustCompile(`^[0-9a-f]+$`)

// A checker follows the digests of a signed component.
type checker struct {
	components map[string]*Descriptor
	done       map[string]struct{}
	digests    map[string]struct{}
}

// check adds the digests of a component whose descriptor has been verified, and of those that it references.
func (c *checker) check(d *Descriptor) error {
	if _, ok := c.done[d.ID()]; ok {
		return nil
	}
	c.done[d.ID()] = struct{}{}
	digests, err := signedDigests(d)
	if err != nil {
		return errors.Wrapf(err, "component %s", d.ID())
	}
	for _, digest := range digests {
		c.digests[digest] = struct{}{}
	}
	for _, ref := range d.References() {
		if err := c.follow(ref); err != nil {
			return errors.Wrapf(err, "reference %q of component %s", ref.Name, d.ID())
		}
	}
	return nil
}

func (c *checker) follow(ref Reference) error {
	if ref.Digest == nil {
		return errors.New("digest is missing")
	}
	// In this case, nothing of the other component is signed.
	if *ref.Digest == Excluded() {
		return nil
	}
	child, ok := c.components[ref.ID()]
	if !ok {
		return errors.Errorf("component %s is missing", ref.ID())
	}
	if _, _, err := checkHash(child, *ref.Digest); err != nil {
		return err
	}
	return c.check(child)
}

// signedDigests returns the digests, sha256:…, of those resources of a component that signatures cover.
func signedDigests(d *Descriptor) ([]string, error) {
	var out []string
	for _, r := range d.Resources() {
		digest, err := signedDigest(r)
		if err != nil {
			return nil, errors.Wrapf(err, "resource %q", r.Name)
		}
		if digest != "" {
			out = append(out, digest)
		}
	}
	return out, nil
}

// signedDigest returns the digest of a resource, or "" if it is excluded or not an SHA-256: content is pulled only by
// SHA-256.
func signedDigest(r Resource) (string, error) {
	if r.Access.Type == AccessNone || r.Digest != nil && *r.Digest == Excluded() {
		return "", nil
	}
	h, err := checkDigest(r.Digest)
	if err != nil || h != crypto.SHA256 {
		return "", err
	}
	digest := "sha256:" + r.Digest.Value
	// The digest of an artifact is the digest of its manifest, while OCM may store it as a blob that contains the
	// manifest.
	if r.Digest.NormalisationAlgorithm == NormalisationBlob && r.Access.IsLocal() && r.Access.Digest != digest {
		return "", errors.Errorf("access refers to blob %.100q, but %s is signed", r.Access.Digest, digest)
	}
	return digest, nil
}

// checkDigest checks the digest of a resource, and returns its hash function.
func checkDigest(d *Digest) (crypto.Hash, error) {
	if d == nil {
		return 0, errors.New("digest is missing")
	}
	h, err := hashFunction(d.HashAlgorithm)
	if err != nil {
		return 0, err
	}
	if n := d.NormalisationAlgorithm; n != NormalisationBlob && n != NormalisationArtifact {
		return 0, errors.Errorf("unknown normalisation algorithm %.100q: must be %s or %s", n, NormalisationBlob, NormalisationArtifact)
	}
	if len(d.Value) != 2*h.Size() || !isHex.MatchString(d.Value) {
		return 0, errors.Errorf("malformed digest %.140q: must be a %s in lowercase hexadecimal digits", d.Value, h)
	}
	return h, nil
}
