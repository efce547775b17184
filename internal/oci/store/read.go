// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// defaultRead bounds what ReadBlob returns by default, in bytes.
const defaultRead = 64 << 20

// ReadBlob returns a verified blob of at most limit bytes (0: 64 MiB).
func ReadBlob(ctx context.Context, from Reader, digest string, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = defaultRead
	}
	r, err := from.Blob(ctx, digest, 0)
	if err != nil {
		return nil, err
	}
	data, err := ReadAll(r, limit)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read blob %s", digest)
	}
	if got := oci.DigestOf(data); got != digest {
		return nil, errors.Wrap(&DigestError{Want: digest, Got: got}, "cannot read blob")
	}
	return data, nil
}

// A verifier reads content and fails if it does not match the digest, or if it is longer or shorter than its size
// unless that is negative.
type verifier struct {
	io.Closer

	r    io.Reader
	want string
	size int64
	hash hash.Hash
	n    int64
	err  error
}

// Verify returns a reader of r that fails if the content does not match digest, or if it is longer or shorter than
// size unless that is negative.
func Verify(r io.ReadCloser, digest string, size int64) io.ReadCloser {
	return &verifier{Closer: r, r: r, want: digest, size: size, hash: sha256.New()}
}

func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.r.Read(p)
	v.n += int64(n)
	_, _ = v.hash.Write(p[:n])
	if v.size >= 0 && v.n > v.size {
		v.err = errors.Errorf("%s is larger than the expected %d bytes", v.want, v.size)
		return 0, v.err
	}
	// If the size is known, the last byte is held back until it is verified, so that a failed read never looks
	// complete.
	if v.size >= 0 && v.n == v.size && n > 0 || err == io.EOF {
		if wrong := v.check(); wrong != nil {
			v.err = wrong
			return 0, wrong
		}
	}
	if err != nil {
		v.err = err
	}
	return n, err
}

func (v *verifier) check() error {
	if v.size >= 0 && v.n < v.size {
		return errors.Errorf("%s is truncated: got %d of %d bytes", v.want, v.n, v.size)
	}
	if got := "sha256:" + hex.EncodeToString(v.hash.Sum(nil)); got != v.want {
		return &DigestError{Want: v.want, Got: got}
	}
	return nil
}

// CheckBlob returns an error if the digest is malformed or the offset is negative.
func CheckBlob(digest string, offset int64) error {
	if !oci.ValidDigest(digest) {
		return errors.Errorf("malformed digest %.80q: must be sha256: followed by 64 hexadecimal digits", digest)
	}
	if offset < 0 {
		return errors.Errorf("cannot read %s at offset %d", digest, offset)
	}
	return nil
}

// ReadAll reads at most limit bytes from r and closes it. It returns a *TooLargeError if there are more, and
// allocates memory only as data arrives.
func ReadAll(r io.ReadCloser, limit int64) ([]byte, error) {
	defer r.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, &TooLargeError{Limit: limit}
	}
	return b.Bytes(), nil
}
