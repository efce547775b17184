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
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxDocument bounds a document with its aliases written out, in bytes.
const maxDocument = 64 << 20

// Decode reads the one document of a text into a value, which stays as it is if
// the text has none, or null. Refused are keys that the value does not have,
// duplicate keys, and a second document. Errors are one line and name a line of
// the text as far as it is known; what has the wrong type is a
// *json.UnmarshalTypeError.
func Decode(data []byte, into any) error {
	docs, err := split(input.TrimBOM(data))
	if err != nil || len(docs) == 0 {
		return err
	}
	if len(docs) > 1 {
		return errors.Errorf("it has %d documents, and must have one", len(docs))
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

// A syntaxError is what the decoder of YAML says of a document. Its lines are those of the document.
type syntaxError struct{ text string }

func (e *syntaxError) Error() string { return e.text }

// decoderLine is how the decoder of YAML names a line. It has no other way to tell; and none for what is in the first one.
var decoderLine = regexp.MustCompile(`(^|yaml: | )line (\d+): `)

// placed is an error of a document of several, which begins in a line of a text: with the line of the text.
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
	return errors.Wrapf(err, "document %d, which begins in line %d", number, begin)
}

// jsonOf converts a document of YAML that has no key twice.
func jsonOf(doc []byte) ([]byte, error) { return convertWith(yaml.YAMLToJSONStrict, doc) }

// jsonOfChart converts any document of YAML.
func jsonOfChart(doc []byte) ([]byte, error) { return convertWith(yaml.YAMLToJSON, doc) }

func convertWith(toJSON func(doc []byte) ([]byte, error), doc []byte) ([]byte, error) {
	if err := (yamlsize.Limits{Bytes: maxDocument}).Check(doc); err != nil {
		return nil, err
	}
	j, err := toJSON(doc)
	if err != nil {
		return nil, &syntaxError{input.Line(strings.ReplaceAll(err.Error(), "error converting YAML to JSON: ", ""))}
	}
	return j, nil
}
