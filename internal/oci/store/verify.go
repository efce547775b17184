// SPDX-License-Identifier: Apache-2.0

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func digestSum(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// A digestError says that content is not what its name says.
type digestError struct{ want, got string }

func (e *digestError) Error() string {
	return "digest does not match: want " + e.want + ", got " + e.got
}

// A verifier reads content and fails where it has not the digest, and where it
// is longer or shorter than its size unless that is negative.
type verifier struct {
	io.Closer

	r    io.Reader
	want string
	size int64
	hash hash.Hash
	n    int64
	err  error
}

func verify(r io.ReadCloser, digest string, size int64) *verifier {
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
		v.err = errors.Errorf("%s is longer than %d bytes", v.want, v.size)
		return 0, v.err
	}
	// The last byte is held back where it is known which one that is: who gets less cannot take it for all.
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
		return errors.Errorf("%s is cut off: it has %d of %d bytes", v.want, v.n, v.size)
	}
	if got := digestSum(v.hash); got != v.want {
		return &digestError{want: v.want, got: got}
	}
	return nil
}
