// SPDX-License-Identifier: Apache-2.0

package build

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/module/check"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// typeImage is the type of a resource that lists an image.
const typeImage = "ociImage"

// maxImageName is the maximum number of bytes of an image name in the name of its resource.
const maxImageName = 100

var (
	pinnedImage = regexp.MustCompile(`@sha256:([0-9a-f]{64})$`)
	notInName   = regexp.MustCompile(`[^a-z0-9]+`)
)

// imagesOf returns the images that the objects and hooks of a module run, sorted.
func imagesOf(r *check.Result) ([]string, error) {
	var all []*unstructured.Unstructured
	for _, objects := range r.Objects {
		all = append(all, objects...)
	}
	for _, hook := range r.Hooks {
		objects, err := yamldoc.Objects([]byte(hook))
		if err != nil {
			return nil, errors.Wrap(err, "listImages: cannot read a hook of a chart")
		}
		all = append(all, objects...)
	}
	return bundle.Images(all), nil
}

// withImages returns the parts with one more for each image. It replaces parts that list an image and have the same
// name.
func withImages(parts []part, images []string) []part {
	out, added := slices.Clone(parts), map[string]bool{}
	for _, image := range images {
		r := imageResource(image)
		at := func() int {
			return slices.IndexFunc(out, func(p part) bool { return p.resource.Name == r.Name })
		}
		i := at()
		for name, n := r.Name, 2; added[r.Name] || i >= 0 && out[i].resource.Type != typeImage; n++ {
			r.Name = name + "-" + strconv.Itoa(n)
			i = at()
		}
		added[r.Name] = true
		p := part{place: placeOther, resource: r}
		if i < 0 {
			out = append(out, p)
		} else {
			out[i] = p
		}
	}
	return out
}

// imageResource returns the resource that lists an image. A signature covers the image only if it has a digest. The
// version is the tag if a resource can have it, and otherwise the version of the component.
func imageResource(image string) ocm.Resource {
	repository, _, _ := strings.Cut(image, "@")
	name, tag, _ := strings.Cut(repository[strings.LastIndex(repository, "/")+1:], ":")
	digest := ocm.Excluded()
	if m := pinnedImage.FindStringSubmatch(image); m != nil {
		digest = ocm.Digest{HashAlgorithm: ocm.HashSHA256, NormalisationAlgorithm: ocm.NormalisationArtifact, Value: m[1]}
	}
	r := ocm.Resource{
		Name: "image-" + strings.Trim(notInName.ReplaceAllString(name[:min(len(name), maxImageName)], "-"), "-"),
		Type: typeImage, Relation: "external",
		Access: ocm.Access{Type: ocm.AccessOCIArtifact, Reference: image},
		Digest: &digest,
	}
	r.Name = strings.TrimSuffix(r.Name, "-")
	if definition.CheckVersion(tag) == nil {
		r.Version = tag
	}
	return r
}
