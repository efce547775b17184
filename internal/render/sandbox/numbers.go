// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	encodingjson "encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/json"
)

// A float is a float64 whose JSON is not that of an integer. JSON is read with the functions of Kubernetes, which make
// an int64 of 1 and a float64 of 1.0; templates can tell them apart.
type float float64

// MarshalJSON returns the number with a fraction or an exponent.
func (f float) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return nil, errors.New("a number is infinite or not a number, which JSON cannot express")
	}
	s := strconv.FormatFloat(float64(f), 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return []byte(s), nil
}

// exact returns values that keep the types of their numbers in JSON. It copies only what it must change.
func exact(in map[string]any) map[string]any {
	if !hasWhole(in) {
		return in
	}
	out, _ := exactValue(in).(map[string]any)
	return out
}

func exactValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = exactValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = exactValue(e)
		}
		return out
	case float64:
		return float(v)
	default:
		return v
	}
}

// hasWhole reports whether v has a float64 that encoding/json would write like an integer.
func hasWhole(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if hasWhole(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasWhole)
	case float64:
		return v == math.Trunc(v)
	}
	return false
}

// decodeMap decodes a JSON object. Numbers become int64 or float64.
func decodeMap(data []byte) (map[string]any, error) {
	var out map[string]any
	err := json.Unmarshal(data, &out)
	if err == nil && out == nil {
		err = errors.New("it is not an object")
	}
	return out, err
}

// decodeNumbers decodes JSON and leaves the numbers in values of type any as they are, for json.ConvertMapNumbers.
func decodeNumbers(data []byte, into any) error {
	d := encodingjson.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(into)
}
