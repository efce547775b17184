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
	// tries bounds how often a signature that another client has overwritten is written again.
	tries = 20

	// minWait and maxWait bound the wait before a written signature is checked.
	minWait = 50 * time.Millisecond
	maxWait = 5 * time.Second
)

// Tag returns the tag of the signatures of a manifest: sha256-….sig.
func Tag(digest string) string { return strings.ReplaceAll(digest, ":", "-") + ".sig" }

// Sign signs the manifest with the given digest, which must be in s, and stores the signature next to it. The repository
// is the identity that the signature claims, host/path, or the name of the component if no registry is known yet. Sign
// preserves existing signatures; if one is by the same key, it adds none and returns false. The key must be RSA of 2048
// to 16384 bits, ECDSA with a NIST curve, or Ed25519; the same RSA key gives the same signature.
//
// Registries cannot update a tag conditionally. So Sign reads the signature again when concurrent clients should have
// finished, and writes it again, next to theirs, if it was lost.
func Sign(ctx context.Context, s store.Store, repository, digest string, signer crypto.Signer) (added bool, err error) {
	added, err = sign(ctx, s, repository, digest, signer)
	return added, errors.Wrapf(err, "cannot create a cosign signature of %s in %s", digest, s)
}

func sign(ctx context.Context, s store.Store, repository, digest string, signer crypto.Signer) (bool, error) {
	if err := checkDigest(digest); err != nil {
		return false, err
	}
	v, err := newVerifier(signer.Public())
	if err != nil {
		return false, err
	}
	// Only what all versions of cosign verify counts; a signature that only some verify is not a reason not to sign.
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
		// A client that read the tag before this write completes its own write within about that time.
		if err := sleep(ctx, waitTime(took)); err != nil {
			return false, err
		}
		if done, err := w.signed(ctx); done || err != nil {
			return done, err
		}
	}
	return false, errors.Errorf("other clients keep changing tag %s; try again", Tag(digest))
}

// waitTime returns the time to wait. It is random, so that two clients that begin at the same time do not overwrite each
// other repeatedly.
func waitTime(took time.Duration) time.Duration {
	d := min(max(4*took, minWait), maxWait)
	return d + rand.N(d) //nolint:gosec // No one gains from guessing it.
}

// A writer adds a signature to the existing ones of a manifest.
type writer struct {
	store     store.Store
	digest    string
	verifier  verifier
	signature *signature
}

// signed reports whether there is a signature by the key.
func (w *writer) signed(ctx context.Context) (bool, error) {
	list, err := readList(ctx, w.store, w.digest)
	if err != nil {
		return false, err
	}
	reason, err := list.find(ctx, w.store, w.digest, w.verifier)
	return reason == "", err
}

// write writes the signature next to the current ones, as fast as possible. It returns the duration in which other
// clients could not see it.
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
	err = w.replace(ctx, list.digest, manifest)
	return time.Since(begin), err
}

// A swapper is a store that can lock a tag while writing it. An image layout is one.
type swapper interface {
	// Swap is PutManifest, but first calls may with the digest that the tag has now, "" for none, and fails with its error.
	Swap(ctx context.Context, data []byte, tag string, may func(have string) error) error
}

// errMoved reports that another client has changed the signatures.
var errMoved = errors.New("the tag was moved")

// replace replaces the signatures, whose manifest has a digest. If the store can find out that they have another one now, it changes nothing.
func (w *writer) replace(ctx context.Context, digest string, manifest []byte) error {
	s, ok := w.store.(swapper)
	if !ok {
		return w.store.PutManifest(ctx, manifest, Tag(w.digest))
	}
	err := s.Swap(ctx, manifest, Tag(w.digest), func(have string) error {
		if have != digest {
			return errMoved
		}
		return nil
	})
	if errors.Is(err, errMoved) {
		return nil
	}
	return err
}

// Verify verifies that the key has signed the manifest with the given digest. The error is a *NotSignedError if no
// signature is by the key. Signatures are bounded: there are at most 1000, and each payload has at most 256 KiB.
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

// A NotSignedError reports that no signature of a manifest is by a key.
type NotSignedError struct{ Reason string }

// Error returns the message, which is one line.
func (e *NotSignedError) Error() string { return e.Reason }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
