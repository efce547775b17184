// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/base64"

	"github.com/crossplane-contrib/provider-kyma/internal/compress"
)

// maxUnpacked bounds the size of an unpacked record, in bytes.
const maxUnpacked = 64 << 20

// pack compresses plain with gzip and encodes the result in base64.
func pack(plain []byte, level int) ([]byte, error) {
	b, err := compress.Gzip(plain, level)
	if err != nil {
		return nil, err
	}
	out := make([]byte, base64.StdEncoding.EncodedLen(len(b)))
	base64.StdEncoding.Encode(out, b)
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
	return compress.Gunzip(b, maxUnpacked)
}
