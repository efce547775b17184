// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// The sizes of parts of a response in memory, in bytes. TestEstimate compares them with the results of decoders.
const (
	// perByte is for the content itself, which clients copy.
	perByte = 4
	// perValue is for a value of JSON, and perObject for an object in addition: a map, or a struct of the API.
	perValue, perObject = 48, 320
	// perItem is for an item of a list in protobuf, and perField for a field of its metadata.
	perItem, perField = 320, 192
)

// isProtobuf reports whether a content type is the binary format of Kubernetes.
func isProtobuf(contentType string) bool {
	return strings.HasPrefix(contentType, "application/vnd.kubernetes.protobuf")
}

// Estimate returns the estimated size of a decoded response in memory, in bytes. It takes time proportional to the
// length of the content, and does not decode it.
func Estimate(contentType string, content []byte) int64 {
	size := int64(len(content)) * perByte
	if isProtobuf(contentType) {
		return size + protobuf(content)
	}
	for _, sign := range []string{",", ":", "["} {
		size += int64(bytes.Count(content, []byte(sign))) * perValue
	}
	return size + int64(bytes.Count(content, []byte("{")))*perObject
}

// magic is the beginning of a message, and of the messages in it that have a type.
const magic = "k8s\x00"

// These are the numbers of fields: of runtime.Unknown, of a list, of its items, and of an event of a watch.
const (
	fieldRaw      = 2
	fieldItems    = 2
	fieldMetadata = 1
	fieldObject   = 2
)

// protobuf returns the size of the objects of a message: a list, an object, or an event of a watch. Only metadata is requested
// in this format.
func protobuf(content []byte) int64 {
	if message, ok := bytes.CutPrefix(content, []byte(magic)); ok {
		return unknown(message)
	}
	size := int64(0)
	fields(content, func(number uint64, extension []byte) {
		if number != fieldObject {
			return
		}
		fields(extension, func(_ uint64, object []byte) {
			if message, ok := bytes.CutPrefix(object, []byte(magic)); ok {
				size += unknown(message)
			}
		})
	})
	return size
}

// unknown returns the size of the objects of a runtime.Unknown.
func unknown(message []byte) int64 {
	size := int64(0)
	fields(message, func(number uint64, value []byte) {
		if number == fieldRaw {
			size += objects(value)
		}
	})
	return size
}

// objects returns the size of a list or an object. Both have their metadata in field 1.
func objects(message []byte) int64 {
	size := int64(0)
	fields(message, func(number uint64, value []byte) {
		size += perField
		switch number {
		case fieldMetadata:
			fields(value, func(uint64, []byte) { size += perField })
		case fieldItems:
			size += perItem
			fields(value, func(number uint64, metadata []byte) {
				size += perField
				if number == fieldMetadata {
					fields(metadata, func(uint64, []byte) { size += perField })
				}
			})
		}
	})
	return size
}

// Wire types of protobuf.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// fields calls a function for each field of a message up to the first one that is not valid.
func fields(message []byte, f func(number uint64, value []byte)) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return
		}
		message = message[n:]
		size, ok := length(tag&7, &message)
		if !ok || size > uint64(len(message)) {
			return
		}
		f(tag>>3, message[:size])
		message = message[size:]
	}
}

// length returns the length of a value. It removes the length of a text or a message from the front.
func length(wire uint64, message *[]byte) (uint64, bool) {
	switch wire {
	case wireVarint:
		_, n := binary.Uvarint(*message)
		return uint64(max(n, 0)), n > 0
	case wire64:
		return 8, true
	case wire32:
		return 4, true
	case wireBytes:
		size, n := binary.Uvarint(*message)
		if n <= 0 {
			return 0, false
		}
		*message = (*message)[n:]
		return size, true
	}
	return 0, false
}
