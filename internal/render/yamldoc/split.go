// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv2 "go.yaml.in/yaml/v2"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// A document is one document of a text, with the line of the text, from 1, in which it begins.
type document struct {
	data []byte
	line int
}

// split divides a stream of YAML documents at lines that begin with "---" or "...", which YAML allows nowhere else,
// and omits empty documents. A JSON document may be followed by others without a separator. Splitting before decoding
// ensures that content after a document is not ignored.
func split(data []byte) ([]document, error) {
	var out []document
	var cur []byte
	// number is the current line, begin the line in which cur begins.
	number, begin := 0, 0
	flush := func() error {
		doc := cur
		cur = nil
		if isBlank(doc) {
			return nil
		}
		parts, err := jsonDocuments(document{doc, begin})
		out = append(out, parts...)
		return err
	}

	for rest := data; len(rest) > 0; {
		number++
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]

		if !isMarker(line) {
			if len(cur) == 0 {
				begin = number
			}
			cur = data[len(data)-len(rest)-len(line)-len(cur) : len(data)-len(rest)]
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		if tail := line[3:]; line[0] == '-' && !isBlank(tail) {
			// The document begins in the line of its marker.
			begin = number
			cur = data[len(data)-len(rest)-len(tail) : len(data)-len(rest)]
		}
	}
	return out, flush()
}

// isMarker reports whether a line separates documents.
func isMarker(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || strings.IndexByte(" \t\r\n", line[3]) >= 0
}

// isBlank reports whether a document consists of comments, directives and blank lines.
func isBlank(doc []byte) bool {
	for isBlankLine(doc) {
		_, doc, _ = bytes.Cut(doc, []byte("\n"))
	}
	return len(doc) == 0
}

// isBlankLine reports whether doc begins with a line without content.
func isBlankLine(doc []byte) bool {
	line, _, _ := bytes.Cut(doc, []byte("\n"))
	text := bytes.TrimSpace(line)
	return len(doc) > 0 && (len(text) == 0 || text[0] == '#' || line[0] == '%')
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// jsonDocuments splits a document that is JSON; it returns any other as it is, with the final newline that a block
// scalar at its end keeps.
func jsonDocuments(whole document) ([]document, error) {
	doc := bytes.TrimSpace(whole.data)
	if doc[0] != '{' {
		return []document{whole}, nil
	}
	before, _, _ := bytes.Cut(whole.data, doc[:1])
	first := whole.line + bytes.Count(before, []byte("\n"))
	var out []document
	d := json.NewDecoder(bytes.NewReader(doc))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil && len(out) == 0 {
			// It is a YAML map in braces.
			return []document{{doc, first}}, nil
		}
		if err != nil {
			return nil, errors.Errorf("cannot read the JSON after object %d (line %d): %s", len(out), out[len(out)-1].line, input.Line(err.Error()))
		}
		before := doc[:int(d.InputOffset())-len(raw)]
		out = append(out, document{raw, first + bytes.Count(before, []byte("\n"))})
	}
}

// single refuses content after a map in braces, which the decoder would not even read. Maps without braces, the vast
// majority, end with their document.
func single(doc []byte) error {
	for isBlankLine(doc) {
		_, doc, _ = bytes.Cut(doc, []byte("\n"))
	}
	if len(doc) == 0 || isLetter(doc[0]) {
		return nil
	}
	if err := (yamlsize.Limits{Bytes: maxDocument}).Check(doc); err != nil {
		return err
	}
	d := yamlv2.NewDecoder(bytes.NewReader(doc))
	var skip struct{}
	if err := d.Decode(&skip); err != nil {
		return errors.New(input.Line(err.Error()))
	}
	if err := d.Decode(&skip); !errors.Is(err, io.EOF) {
		return errors.New("unexpected content after the object: separate documents with ---")
	}
	return nil
}
