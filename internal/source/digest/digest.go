// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"strings"
)

// A Use is the purpose of a blob. It is part of the digest, because the same blob results in other objects for another use.
type Use string

// These are the uses of blobs.
const (
	Chart         Use = "oci-ref"
	Plain         Use = "raw"
	Kustomization Use = "kustomize"
	CRDs          Use = "crds"
	Config        Use = "config"
)

// OfBlob returns the identity of a blob in a registry, by its digest.
func OfBlob(use Use, ref string) string {
	return string(use) + " " + ref
}

// OfText returns the identity of an inline text in a spec, by the digest of the text.
func OfText(use Use, ref string) string {
	return string(use) + " inline " + ref
}

// OfChart returns the identity of a chart in a registry or chart repository, by its version, which can be empty.
func OfChart(url, name, version string) string {
	return strings.Join([]string{"helm-chart", url, name, version}, " ")
}

// OfArtifact returns the identity of an artifact, by its reference, which has a tag or a digest.
func OfArtifact(reference string) string {
	return "oci " + reference
}

// OfFiles returns the identity of files, by their names and contents in the given order.
func OfFiles(files iter.Seq2[string, []byte]) string {
	h := sha256.New()
	write := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	for name, data := range files {
		write([]byte(name))
		write(data)
	}
	return "files " + hex.EncodeToString(h.Sum(nil))
}
