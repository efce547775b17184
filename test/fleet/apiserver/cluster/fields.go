// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// metadataOf returns the metadata of an object, and adds it if it is missing.
func metadataOf(object map[string]any) map[string]any {
	m, ok := object["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
		object["metadata"] = m
	}
	return m
}

// textOf returns a field of the metadata of an object.
func textOf(object map[string]any, field string) string {
	m, _ := object["metadata"].(map[string]any)
	s, _ := m[field].(string)
	return s
}

func setVersion(object map[string]any, version uint64) {
	metadataOf(object)["resourceVersion"] = strconv.FormatUint(version, 10)
}

// restore sets fields of a map to their values in another one.
func restore(to, from map[string]any, fields ...string) {
	for _, f := range fields {
		if v, ok := from[f]; ok {
			to[f] = v
			continue
		}
		delete(to, f)
	}
}

// nested returns the value at a path, or nil.
func nested(object map[string]any, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	return v
}

// child returns the map in a field, and adds it if it is missing.
func child(m map[string]any, field string) map[string]any {
	c, ok := m[field].(map[string]any)
	if !ok {
		c = map[string]any{}
		m[field] = c
	}
	return c
}

func isDeleting(object map[string]any) bool { return textOf(object, "deletionTimestamp") != "" }

func hasFinalizers(object map[string]any) bool {
	f, _ := nested(object, "metadata", "finalizers").([]any)
	return len(f) > 0
}
