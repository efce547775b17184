// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

// mostBookmark is the maximum size of a bookmark that bookmarkVersion reads, in bytes. That of a Deployment has about 300.
const mostBookmark = 2 << 10

// These are the beginnings of bookmarks, in the format of protobuf after the length of the event.
//
//nolint:gochecknoglobals // They do not change.
var (
	jsonBookmark     = []byte(`{"type":"BOOKMARK",`)
	protobufBookmark = []byte("\n\x08BOOKMARK")
	protobufObject   = []byte("k8s\x00")
)

// bookmarkVersion returns the resource version if data is exactly one bookmark of a watch, in JSON or protobuf, and "" otherwise. It
// recognizes what API servers send: of other valid encodings, it returns "".
func bookmarkVersion(data []byte) string {
	if len(data) > mostBookmark || len(data) < prefix {
		return ""
	}
	read := func([]byte) string { return "" }
	switch {
	case bytes.HasPrefix(data, jsonBookmark) && bytes.IndexByte(data, '\n') == len(data)-1:
		read = jsonVersion
	case int(binary.BigEndian.Uint32(data)) == len(data)-prefix && bytes.HasPrefix(data[prefix:], protobufBookmark):
		read, data = protobufVersion, data[prefix:]
	}
	version, err := panics.Value("a bookmark", func() (string, error) { return read(data), nil })
	if err != nil {
		return ""
	}
	return version
}

// jsonVersion returns the resource version of a bookmark in JSON.
func jsonVersion(data []byte) string {
	e := struct {
		Type   watch.EventType `json:"type"`
		Object struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
			} `json:"metadata"`
		} `json:"object"`
	}{}
	if json.Unmarshal(data, &e) != nil || e.Type != watch.Bookmark {
		return ""
	}
	return e.Object.Metadata.ResourceVersion
}

// protobufVersion returns the resource version of a bookmark in protobuf, for a watch of metadata.
func protobufVersion(data []byte) string {
	e, u, m := metav1.WatchEvent{}, runtime.Unknown{}, metav1.PartialObjectMetadata{}
	if e.Unmarshal(data) != nil || e.Type != string(watch.Bookmark) || !bytes.HasPrefix(e.Object.Raw, protobufObject) {
		return ""
	}
	if u.Unmarshal(e.Object.Raw[len(protobufObject):]) != nil || u.Kind != "PartialObjectMetadata" || m.Unmarshal(u.Raw) != nil {
		return ""
	}
	return m.ResourceVersion
}
