// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxUnpacked bounds the size of an unpacked record, in bytes.
const maxUnpacked = 64 << 20

// pack compresses plain with gzip and encodes the result in base64.
func pack(plain []byte, level int) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	out := make([]byte, base64.StdEncoding.EncodedLen(b.Len()))
	base64.StdEncoding.Encode(out, b.Bytes())
	return out, nil
}

// unpack reverses pack. It accepts uncompressed records, which Helm before 3 wrote.
func unpack(data []byte) ([]byte, error) {
	b := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(b, data)
	if err != nil {
		return nil, err
	}
	b = b[:n]
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b, 0x08}) {
		return b, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err != nil {
		return nil, err
	}
	if len(out) > maxUnpacked {
		return nil, errors.Errorf("it is larger than %d bytes unpacked", maxUnpacked)
	}
	return out, nil
}
