// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/binary"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A kind is the kind of a frame. A frame is its kind, the length of its content as four bytes, and the content.
type kind byte

const (
	// The parent sends one request, followed by the contents of its files, and answers.
	kindRequest kind = 'q'
	kindAnswer  kind = 'a'

	// The child first sends ready, then any number of other frames, and finally an error, an excess or details.
	kindReady    kind = 'r'
	kindTemplate kind = 't' // The path of the template or file that it is reading.
	kindLookup   kind = 'l'
	kindCRD      kind = 'c'
	kindObject   kind = 'o'
	kindFile     kind = 'f'
	kindError    kind = 'e'
	kindExcess   kind = 'x'
	kindDetails  kind = 'd'
)

const frameHeader = 5

// maxFrame limits the length of frames from the parent, and the length of frames from the child that the parent can accept.
const maxFrame = 1 << 30

// writeFrame writes a frame in one call of Write.
func writeFrame(w io.Writer, k kind, content []byte) error {
	if len(content) > maxFrame {
		return errors.Errorf("message of %d bytes exceeds the limit of %d bytes", len(content), maxFrame)
	}
	out := make([]byte, frameHeader, frameHeader+len(content))
	out[0] = byte(k)
	binary.BigEndian.PutUint32(out[1:], uint32(len(content))) //nolint:gosec // Checked above.
	_, err := w.Write(append(out, content...))
	return err
}

// A tooLargeError reports that a frame is longer than the reader accepts.
type tooLargeError struct{ most int64 }

func (e *tooLargeError) Error() string { return "message exceeds the size limit" }

// readFrame reads a frame. It returns a *tooLargeError if the content is longer than most bytes.
func readFrame(r io.Reader, most int64) (kind, []byte, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[1:]))
	if n > most {
		return 0, nil, &tooLargeError{most: most}
	}
	content := make([]byte, n)
	_, err := io.ReadFull(r, content)
	return kind(head[0]), content, err
}
