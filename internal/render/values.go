// SPDX-License-Identifier: Apache-2.0

package render

// MergeValues returns base with over on top, as Helm merges values files. It merges maps and replaces other values;
// null is kept, and removes the value of the chart. It changes neither, and the result shares nothing with them.
func MergeValues(base, over map[string]any) map[string]any {
	out := make(map[string]any, len(base)+len(over))
	for k, v := range base {
		out[k] = cloneValue(v)
	}
	for k, v := range over {
		b, isMap := out[k].(map[string]any)
		o, overMap := v.(map[string]any)
		if isMap && overMap {
			out[k] = MergeValues(b, o)
			continue
		}
		out[k] = cloneValue(v)
	}
	return out
}

// cloneValue returns a value with copies of its maps and lists, which Helm may change.
func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return MergeValues(v, nil)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cloneValue(v[i])
		}
		return out
	default:
		return v
	}
}

// likeFile copies values with the types that Helm reads from a values file: all numbers are float64, which templates
// can distinguish from integers.
func likeFile(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for k, v := range in {
		out[k] = likeFileValue(v)
	}
	return out
}

func likeFileValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return likeFile(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = likeFileValue(v[i])
		}
		return out
	case int64:
		return float64(v)
	case int:
		return float64(v)
	default:
		return v
	}
}
