// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// maxLayer bounds the layer with a descriptor, in bytes: a tar has headers and padding.
const maxLayer = ocm.MaxDescriptor + 64<<10

// readLayer decodes the descriptor in a layer.
func readLayer(mediaType string, data []byte) (*ocm.Descriptor, error) {
	switch mediaType {
	case CNUDIEJSON, OCMJSON:
		return ocm.Decode(data)
	case CNUDIEDescriptor, OCMDescriptor, legacyDescriptor:
		text, err := unpackDescriptor(data)
		if err != nil {
			return nil, errors.Wrap(err, "cannot read the tar archive of the component descriptor")
		}
		return ocm.Decode(text)
	}
	return nil, errors.Errorf("not a component: the layer of the descriptor has type %.100q, expected %q", mediaType, CNUDIEDescriptor)
}

// unpackDescriptor returns the only file in the tar of a descriptor.
func unpackDescriptor(data []byte) ([]byte, error) {
	var found []byte
	t := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := t.Next()
		if err == io.EOF { //nolint:errorlint // A wrapped EOF is a damaged archive.
			break
		}
		if err != nil {
			return nil, errors.New("not a tar archive, or the archive is damaged")
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(h.Name, "."), "/")
		if name != descriptorFile || h.Typeflag != tar.TypeReg {
			return nil, errors.Errorf("unexpected entry %.100q: the archive must contain only the file %s", h.Name, descriptorFile)
		}
		if found != nil {
			return nil, errors.Errorf("the archive contains %s twice", descriptorFile)
		}
		if found, err = readFile(t); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, errors.Errorf("the archive does not contain %s", descriptorFile)
	}
	return found, nil
}

// readFile reads a file of a tar within the limit. It ignores the size in the header: a sparse file is larger than the
// data that follows.
func readFile(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, ocm.MaxDescriptor+1))
	if err != nil {
		return nil, errors.New("the archive is truncated")
	}
	if len(data) > ocm.MaxDescriptor {
		return nil, errors.Errorf("the file is larger than the limit of %d bytes", ocm.MaxDescriptor)
	}
	return data, nil
}

// isDigest matches digests of the OCI distribution specification, limited to SHA-256.
var isDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// digestOfBlob returns the digest of data as registries write it, sha256:….
func digestOfBlob(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
