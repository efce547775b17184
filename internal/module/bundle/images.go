// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Images returns the images that containers among the objects run, sorted and without duplicates. It finds containers
// in every field containers, initContainers or ephemeralContainers that is a list of objects.
func Images(objects []*unstructured.Unstructured) []string {
	var out []string
	for _, u := range objects {
		out = images(out, u.Object)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func images(out []string, v any) []string {
	switch t := v.(type) {
	case []any:
		for _, item := range t {
			out = images(out, item)
		}
	case map[string]any:
		for k, field := range t {
			if k == "containers" || k == "initContainers" || k == "ephemeralContainers" {
				out = containerImages(out, field)
			}
			out = images(out, field)
		}
	}
	return out
}

func containerImages(out []string, field any) []string {
	list, _ := field.([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		if image, _ := m["image"].(string); image != "" {
			out = append(out, image)
		}
	}
	return out
}
