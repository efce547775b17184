// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// documents splits a stream of YAML documents at lines that begin with "---" or
// "...", which YAML allows nowhere else, and leaves out empty ones. A document
// of JSON may be followed by more without a separator. Splitting here, and not
// while decoding, is what keeps content after a document from being ignored.
func documents(data []byte) ([][]byte, error) {
	var out [][]byte
	var cur []byte
	flush := func() error {
		doc := cur
		cur = nil
		if isBlank(doc) {
			return nil
		}
		parts, err := jsonDocuments(doc)
		out = append(out, parts...)
		return err
	}

	for rest := data; len(rest) > 0; {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]

		if !isMarker(line) {
			cur = data[len(data)-len(rest)-len(line)-len(cur) : len(data)-len(rest)]
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		if tail := line[3:]; line[0] == '-' && !isBlank(tail) {
			// The document begins in the line of its marker.
			cur = data[len(data)-len(rest)-len(tail) : len(data)-len(rest)]
		}
	}
	return out, flush()
}

// isMarker is true for the lines between documents.
func isMarker(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0
}

// isBlank is true for a document of comments, directives and blank lines.
func isBlank(doc []byte) bool {
	for len(doc) > 0 {
		line, rest, _ := bytes.Cut(doc, []byte("\n"))
		doc = rest
		directive := len(line) > 0 && line[0] == '%'
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !directive {
			return false
		}
	}
	return true
}

// jsonDocuments splits a document that is JSON; any other is returned as it is.
func jsonDocuments(doc []byte) ([][]byte, error) {
	if doc = bytes.TrimSpace(doc); doc[0] != '{' {
		return [][]byte{doc}, nil
	}
	var out [][]byte
	d := json.NewDecoder(bytes.NewReader(doc))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil && len(out) == 0 {
			// A map of YAML in braces.
			return [][]byte{doc}, nil
		}
		if err != nil {
			return nil, errors.Errorf("cannot read the JSON after object %d: %s", len(out), oneLine(err.Error()))
		}
		out = append(out, raw)
	}
}
