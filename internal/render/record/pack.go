// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/base64"

	"github.com/crossplane-contrib/provider-kyma/internal/compress"
)

const (
	// maxUnpacked bounds the size of an unpacked record, in bytes.
	maxUnpacked = 64 << 20
	// maxItems bounds the items of a record, in the sense of yamlsize.CheckItems. A hook has 208 bytes. Most memory per item, up to 700
	// bytes, takes a map with 13 members in the values, so the items take at most 35 MiB. The record of a chart with 90 templates and
	// 700 lists and objects in its values has 900 items. Manifests are texts, which have no items.
	maxItems = 50_000
)

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
