// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"io"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// LayerFile is the name of the file in a layer that is a bare file.
const LayerFile = "layer.yaml"

// ReadLayer reads a layer of a module, which is an archive that Read accepts, or a bare text file, which it returns
// under the name layer.yaml. It fails on other content, such as a zip. The files may share memory with data.
func ReadLayer(data []byte, l Limits) ([]File, error) {
	if isArchive(data) {
		return Read(data, l)
	}
	if l = l.WithDefaults(); int64(len(data)) > l.Compressed {
		return nil, errors.Wrap(packedError("the layer", l), "cannot read layer")
	}
	if slices.Contains(data, 0) {
		return nil, errors.New("cannot read layer: not a tar archive, a tar.gz archive or text")
	}
	return []File{{Name: LayerFile, Data: data}}, nil
}

// isArchive reports whether data is an archive rather than text, even if the archive is damaged later on. Empty data
// counts as an archive.
func isArchive(data []byte) bool {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return true
	}
	// The magic of tar is at this offset. The oldest format has no magic, only a checksum.
	if len(data) >= 262 && bytes.Equal(data[257:262], []byte("ustar")) {
		return true
	}
	_, err := tar.NewReader(bytes.NewReader(data)).Next()
	return err == nil || err == io.EOF
}
