// SPDX-License-Identifier: Apache-2.0

package cosign

import (
	"context"
	"crypto"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

const (
	// tries bounds how often a signature is written again that another client has
	// overwritten.
	tries = 20

	// minSettle and maxSettle bound how long a signature is watched after it was
	// written.
	minSettle = 50 * time.Millisecond
	maxSettle = 5 * time.Second
)

// Tag is the tag that holds the signatures of a manifest: sha256-….sig.
func Tag(digest string) string { return strings.ReplaceAll(digest, ":", "-") + ".sig" }

// Sign the manifest of digest, which is in s, and write the signature beside it.
// Repository is the identity that the signature claims, host/path, or the name
// of the component where no registry is known yet. Signatures that are there
// stay; one by the same key is not made again, and false is returned. The key is
// RSA of at least 2048 bits, ECDSA of a curve of NIST, or Ed25519; the same RSA
// key makes the same signature.
//
// Stores have no way to change a tag only if no one else has. So the signature is
// looked for again once others who began at the same time must be done, and is
// written again, beside theirs, where it was lost.
func Sign(ctx context.Context, s store.Store, repository, digest string, signer crypto.Signer) (added bool, err error) {
	added, err = sign(ctx, s, repository, digest, signer)
	return added, errors.Wrapf(err, "cannot sign %s of %s as cosign does", digest, s)
}

func sign(ctx context.Context, s store.Store, repository, digest string, signer crypto.Signer) (bool, error) {
	if err := checkDigest(digest); err != nil {
		return false, err
	}
	v, err := newVerifier(signer.Public())
	if err != nil {
		return false, err
	}
	// What all versions of cosign verify; a signature that only some do is not a reason not to sign.
	w := &writer{store: s, digest: digest, verifier: v[:1]}
	if done, err := w.signed(ctx); done || err != nil {
		return false, err
	}
	if w.signature, err = newSignature(repository, digest, signer, w.verifier); err != nil {
		return false, err
	}
	if err := put(ctx, s, w.signature.content(), w.signature.payload); err != nil {
		return false, err
	}
	for range tries {
		took, err := w.write(ctx)
		if err != nil {
			return false, err
		}
		// Anyone who has read before that was written, writes within about that time.
		if err := sleep(ctx, settle(took)); err != nil {
			return false, err
		}
		if done, err := w.signed(ctx); done || err != nil {
			return done, err
		}
	}
	return false, errors.Errorf("others write the tag %s all the time", Tag(digest))
}

// settle returns how long to wait. It is never the same for two that begin at
// once, so that they do not overwrite each other again and again.
func settle(took time.Duration) time.Duration {
	d := min(max(4*took, minSettle), maxSettle)
	return d + rand.N(d) //nolint:gosec // No one gains from guessing it.
}

// A writer adds a signature to those of a manifest.
type writer struct {
	store     store.Store
	digest    string
	verifier  verifier
	signature *signature
}

// signed says whether there is a signature by the key.
func (w *writer) signed(ctx context.Context) (bool, error) {
	list, err := readList(ctx, w.store, w.digest)
	if err != nil {
		return false, err
	}
	reason, err := list.find(ctx, w.store, w.digest, w.verifier)
	return reason == "", err
}

// write the signature beside those that are there now, as fast as possible. It
// returns for how long others could not know of it.
func (w *writer) write(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	list, err := readList(ctx, w.store, w.digest)
	if err != nil {
		return 0, err
	}
	manifest, config, err := list.with(w.signature)
	if err != nil {
		return 0, err
	}
	if err := put(ctx, w.store, contentOf(configType, config), config); err != nil {
		return 0, err
	}
	if err := w.store.PutManifest(ctx, manifest, Tag(w.digest)); err != nil {
		return 0, err
	}
	return time.Since(begin), nil
}

// Verify that a signature of the manifest of digest is by the key. A
// *NotSignedError says that there is none that is. Signatures are bounded: there
// are at most 1000, and what one signs has at most 256 KiB.
func Verify(ctx context.Context, s store.Reader, digest string, key crypto.PublicKey) error {
	if err := checkDigest(digest); err != nil {
		return err
	}
	v, err := newVerifier(key)
	if err != nil {
		return err
	}
	list, err := readList(ctx, s, digest)
	if err != nil {
		return err
	}
	reason, err := list.find(ctx, s, digest, v)
	if err != nil {
		return err
	}
	if reason != "" {
		return &NotSignedError{Reason: fmt.Sprintf("manifest %s is not signed with cosign: %s", digest, reason)}
	}
	return nil
}

// A NotSignedError says that no signature of a manifest is by a key.
type NotSignedError struct{ Reason string }

// Error is one line.
func (e *NotSignedError) Error() string { return e.Reason }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
