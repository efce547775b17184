// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxDocument bounds a document with its aliases expanded, in bytes.
const maxDocument = 64 << 20

// Decode decodes the single document of a text into a value, which it does not change if the text has no document, or
// null. It refuses unknown keys, duplicate keys, and a second document. Errors are one line and include the line of
// the text if it is known; a wrong type results in a *json.UnmarshalTypeError.
func Decode(data []byte, into any) error {
	docs, err := split(input.TrimBOM(data))
	if err != nil || len(docs) == 0 {
		return err
	}
	if len(docs) > 1 {
		return errors.Errorf("must contain exactly one document, found %d", len(docs))
	}
	j, err := jsonOf(docs[0].data)
	if err != nil {
		return placed(err, 1, 1, docs[0].line)
	}
	if isNull(j) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(j))
	d.DisallowUnknownFields()
	err = d.Decode(into)
	if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) {
		return te
	}
	if err != nil {
		return errors.New(input.Line(strings.TrimPrefix(err.Error(), "json: ")))
	}
	return single(docs[0].data)
}

func isNull(j []byte) bool { return bytes.Equal(bytes.TrimSpace(j), []byte("null")) }

// A syntaxError is an error of the YAML decoder. Its line numbers are relative to the document.
type syntaxError struct{ text string }

func (e *syntaxError) Error() string { return e.text }

// decoderLine matches a line number in an error of the YAML decoder, which has no other way to report lines. An error
// in the first line has none.
var decoderLine = regexp.MustCompile(`(^|yaml: | )line (\d+): `)

// placed adds the line within the whole text to an error in one of its documents. The parameter number is the number of
// the document, of is the number of documents, and begin is the first line of the document.
func placed(err error, number, of, begin int) error {
	syntax := (*syntaxError)(nil)
	if errors.As(err, &syntax) && decoderLine.MatchString(syntax.text) {
		err = errors.New(decoderLine.ReplaceAllStringFunc(syntax.text, func(s string) string {
			m := decoderLine.FindStringSubmatch(s)
			n, _ := strconv.Atoi(m[2])
			return fmt.Sprintf("%sline %d: ", m[1], begin-1+n)
		}))
		if of == 1 {
			return err
		}
		return errors.Wrapf(err, "document %d", number)
	}
	if of == 1 && syntax == nil {
		return err
	}
	return errors.Wrapf(err, "document %d (line %d)", number, begin)
}

// jsonOf converts a YAML document to JSON and fails on duplicate keys.
func jsonOf(doc []byte) ([]byte, error) { return convertWith(yamlsize.Limits.JSON, doc) }

// jsonOfChart converts a YAML document to JSON and accepts duplicate keys.
func jsonOfChart(doc []byte) ([]byte, error) { return convertWith(yamlsize.Limits.LooseJSON, doc) }

func convertWith(toJSON func(l yamlsize.Limits, doc []byte) ([]byte, error), doc []byte) ([]byte, error) {
	j, err := toJSON(yamlsize.Limits{Bytes: maxDocument}, doc)
	if yamlsize.Exceeds(err) {
		return nil, err
	}
	if err != nil {
		return nil, &syntaxError{input.Line(strings.ReplaceAll(err.Error(), "error converting YAML to JSON: ", ""))}
	}
	return j, nil
}
