// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Stream writes the events of a watch.
type Stream struct {
	Format

	Writer http.ResponseWriter
}

// Begin sends the headers.
func (s Stream) Begin() error {
	media := JSON
	if s.Protobuf {
		media = Protobuf + ";stream=watch"
	}
	s.Writer.Header().Set("Content-Type", media)
	s.Writer.WriteHeader(http.StatusOK)
	return s.Flush()
}

// Flush sends what was written.
func (s Stream) Flush() error { return http.NewResponseController(s.Writer).Flush() }

// Object writes an event with an object. Call Flush after the last one.
func (s Stream) Object(kind watch.EventType, i Item) error {
	b, err := s.Format.Object(i)
	if err != nil {
		return err
	}
	return s.write(kind, b)
}

// Error writes an event with an error.
func (s Stream) Error(err error) error {
	b, err := s.Status(StatusOf(err))
	if err != nil {
		return err
	}
	return s.write(watch.Error, b)
}

// write writes an encoded object: in JSON on a line, and in protobuf with its length before it.
func (s Stream) write(kind watch.EventType, object []byte) error {
	e := &metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object}}
	if !s.Protobuf {
		b, err := json.Marshal(e)
		if err != nil {
			return errors.Wrap(err, "cannot encode an event")
		}
		_, err = s.Writer.Write(append(b, '\n'))
		return errors.Wrap(err, "cannot write an event")
	}
	b, err := e.Marshal()
	if err != nil {
		return errors.Wrap(err, "cannot encode an event")
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	_, err = s.Writer.Write(append(frame, b...))
	return errors.Wrap(err, "cannot write an event")
}
