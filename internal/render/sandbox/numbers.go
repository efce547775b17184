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

// A float is a float64 whose JSON never looks like an integer. JSON is decoded with the functions of Kubernetes, which convert
// 1 to an int64 and 1.0 to a float64, and templates can distinguish the two types.
type float float64

// MarshalJSON returns the number with a fraction or an exponent.
func (f float) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return nil, errors.New("a number is infinite or NaN, which JSON does not support")
	}
	s := strconv.FormatFloat(float64(f), 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return []byte(s), nil
}

// exact returns values whose numbers keep their types in JSON. It only copies the parts that it must change.
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

// hasWhole reports whether v contains a float64 that encoding/json would write like an integer.
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
		err = errors.New("must be an object")
	}
	return out, err
}

// decodeNumbers decodes JSON and does not convert the numbers in values of type any. Pass them to json.ConvertMapNumbers.
func decodeNumbers(data []byte, into any) error {
	d := encodingjson.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(into)
}
