// SPDX-License-Identifier: Apache-2.0

package check

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// podSpecs holds the path of the pod specification in objects of each kind.
var podSpecs = map[schema.GroupKind][]string{ //nolint:gochecknoglobals // A constant table.
	{Kind: "Pod"}:                        {"spec"},
	{Kind: "PodTemplate"}:                {"template", "spec"},
	{Kind: "ReplicationController"}:      {"spec", "template", "spec"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template", "spec"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template", "spec"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template", "spec"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template", "spec"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template", "spec"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template", "spec"},
}

var pinned = regexp.MustCompile(`@sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$`)

// warnOfImages adds a warning for each image of an object that has no digest.
func warnOfImages(u *unstructured.Unstructured, k key, w *warnings) {
	path, ok := podSpecs[u.GroupVersionKind().GroupKind()]
	if !ok {
		return
	}
	for _, image := range imagesOf(at(u.Object, path...)) {
		if pinned.MatchString(image) {
			continue
		}
		switch tag := tagOf(image); tag {
		case "":
			w.addf("image %s of %s has neither a tag nor a digest, so its content can change: pin it by digest", image, k)
		case "latest":
			w.addf("image %s of %s uses the tag latest, so its content can change: pin it by digest", image, k)
		default:
			w.addf("image %s of %s is not pinned by digest", image, k)
		}
	}
}

// imagesOf returns the images of a pod specification.
func imagesOf(spec map[string]any) []string {
	var out []string
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range maps(spec[list]) {
			if image, _ := c["image"].(string); image != "" {
				out = append(out, short(image, maxViolation))
			}
		}
	}
	for _, v := range maps(spec["volumes"]) {
		if image, _ := at(v, "image")["reference"].(string); image != "" {
			out = append(out, short(image, maxViolation))
		}
	}
	return out
}

// tagOf returns the tag of an image, which follows a colon after the last slash; "" if there is none.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return tag
}

// at returns the map at a path; nil if there is none.
func at(m map[string]any, path ...string) map[string]any {
	for _, p := range path {
		m, _ = m[p].(map[string]any)
	}
	return m
}

// maps returns the maps in a list. It ignores other elements, which the API server checks.
func maps(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
