// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// A normalizer replaces what differs between two servers by names, in the order in which it appears in the responses to a scenario: equal
// values get equal names.
type normalizer struct {
	ns       string
	saved    map[string]any
	versions []string
	uids     []string
}

func newNormalizer(ns string) *normalizer { return &normalizer{ns: ns, saved: map[string]any{}} }

var (
	uidPattern  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	oldPattern  = regexp.MustCompile(`too old resource version: \d+ \(\d+\)`)
	varPattern  = regexp.MustCompile(`\$(\w+)\.(\w+)`)
	longVersion = regexp.MustCompile(`\b\d{3,}\b`)
)

// save stores the metadata of a response under a name.
func (n *normalizer) save(name string, body any) {
	m, _ := body.(map[string]any)
	fields, _ := m["metadata"].(map[string]any)
	n.saved[name] = maps.Clone(fields)
}

// expand replaces the variables in a text.
func (n *normalizer) expand(s string) string {
	s = strings.ReplaceAll(s, "$NS", n.ns)
	return varPattern.ReplaceAllStringFunc(s, func(v string) string {
		parts := varPattern.FindStringSubmatch(v)
		known := map[string][]string{"RV": n.versions, "UID": n.uids}[parts[1]]
		if i, err := strconv.Atoi(parts[2]); err == nil && i < len(known) {
			return known[i]
		}
		m, _ := n.saved[parts[1]].(map[string]any)
		field := map[string]string{"rv": "resourceVersion"}[parts[2]]
		if field == "" {
			field = parts[2]
		}
		value, ok := m[field]
		if !ok {
			return v
		}
		if parts[2] == "managedFields" {
			b, _ := json.Marshal(value)
			return string(b)
		}
		return fmt.Sprint(value)
	})
}

// normalize returns a response in a form that is equal for both servers.
func (n *normalizer) normalize(a answer, c call) any {
	media, _, _ := strings.Cut(a.media, ";")
	raw, _ := a.body.(map[string]any)
	for _, path := range c.ignore {
		unstructured.RemoveNestedField(raw, strings.Split(path, ".")...)
	}
	out := map[string]any{"code": a.code, "media": media, "body": n.value(a.body, "")}
	body, _ := out["body"].(map[string]any)
	if c.fuzzy && a.code >= http.StatusBadRequest {
		out["body"] = map[string]any{"reason": body["reason"]}
	}
	if events, ok := out["body"].([]any); ok {
		out["body"] = slices.DeleteFunc(events, isPlainBookmark)
	}
	return out
}

// isPlainBookmark reports whether an event is a bookmark that only depends on time.
func isPlainBookmark(e any) bool {
	m, _ := e.(map[string]any)
	_, initial, _ := unstructured.NestedFieldNoCopy(m, "object", "metadata", "annotations")
	return m["type"] == any("BOOKMARK") && !initial
}

func (n *normalizer) value(v any, field string) any {
	switch v := v.(type) {
	case map[string]any:
		return n.object(v)
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, n.value(item, ""))
		}
		if field == "managedFields" {
			slices.SortFunc(out, func(a, b any) int { return cmp.Compare(entryKey(a), entryKey(b)) })
		}
		if field == "causes" {
			slices.SortFunc(out, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return out
	case string:
		return n.text(v, field)
	}
	return v
}

// entryKey orders entries of managedFields, whose order depends on times.
func entryKey(e any) string {
	m, _ := e.(map[string]any)
	return fmt.Sprint(m["manager"], m["operation"], m["subresource"])
}

func (n *normalizer) object(m map[string]any) any {
	_, isList := m["items"]
	kind, _ := m["type"].(string)
	out := map[string]any{}
	// The fields are visited in a fixed order, so that names are given in the same order.
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if k == "metadata" && isList {
			list, _ := m[k].(map[string]any)
			if _, ok := list["resourceVersion"]; ok {
				list["resourceVersion"] = "LIST"
			}
		}
		if k == "object" && kind == "BOOKMARK" {
			o, _ := m[k].(map[string]any)
			annotations, _, _ := unstructured.NestedFieldNoCopy(o, "metadata", "annotations")
			out[k] = map[string]any{"kind": o["kind"], "apiVersion": o["apiVersion"], "metadata": map[string]any{"annotations": annotations}}
			if annotations == nil {
				out[k] = map[string]any{}
			}
			continue
		}
		out[k] = n.value(m[k], k)
	}
	return out
}

func (n *normalizer) text(s, field string) any {
	switch field {
	case "resourceVersion":
		if s == "LIST" || s == "" {
			return s
		}
		return name("RV", &n.versions, s)
	case "continue":
		return map[bool]string{true: "CONTINUE"}[s != ""]
	case "storageVersionHash":
		return ""
	}
	s = uidPattern.ReplaceAllStringFunc(s, func(u string) string { return name("UID", &n.uids, u) })
	s = timePattern.ReplaceAllString(s, "TIME")
	s = oldPattern.ReplaceAllString(s, "too old resource version: OLD")
	if field == "message" || field == "reason" {
		s = longVersion.ReplaceAllStringFunc(s, func(v string) string {
			if slices.Contains(n.versions, v) {
				return name("RV", &n.versions, v)
			}
			return v
		})
	}
	return s
}

// name returns the name of a value.
func name(prefix string, known *[]string, value string) string {
	i := slices.Index(*known, value)
	if i < 0 {
		*known = append(*known, value)
		i = len(*known) - 1
	}
	return fmt.Sprintf("%s-%d", prefix, i)
}

// protoScheme returns the types of responses in protobuf.
func protoScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	_ = metav1.AddMetaToScheme(s)
	return s
}

// decodeProto decodes a response in protobuf into the form that JSON would have.
func decodeProto(b []byte) (any, error) {
	s := protoScheme()
	o, gvk, err := protobuf.NewSerializer(s, s).Decode(b, nil, nil)
	if err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(*gvk)
	j, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var out any
	err = json.Unmarshal(j, &out)
	return out, err
}

// decodeFrames decodes the events of a watch in protobuf.
func decodeFrames(b []byte) (any, error) {
	var events []any
	r := bytes.NewReader(b)
	for r.Len() > 0 {
		var size uint32
		if err := binary.Read(r, binary.BigEndian, &size); err != nil {
			return nil, err
		}
		frame := make([]byte, size)
		if _, err := r.Read(frame); err != nil {
			return nil, err
		}
		e := &metav1.WatchEvent{}
		if err := e.Unmarshal(frame); err != nil {
			return nil, err
		}
		o, err := decodeProto(e.Object.Raw)
		if err != nil {
			return nil, err
		}
		events = append(events, map[string]any{"type": e.Type, "object": o})
	}
	return events, nil
}
