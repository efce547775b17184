// SPDX-License-Identifier: Apache-2.0

package image

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// Name is the name of the image of the provider, and of its package.
	Name = "provider-kyma"
	// Program is the package of the program in the image.
	Program    = "./cmd/provider"
	binaryPath = "usr/local/bin/provider"
	// user is the ID of the user that many images call nonroot. It is a number because Kubernetes cannot verify by a name
	// that a user is not root.
	user = "65532"
)

// New builds the image of the provider for one platform.
func New(binary []byte, version string, p Platform) (v1.Image, error) {
	system, err := layer(
		entry{path: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n")},
		entry{path: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		entry{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: roots()},
		// The provider keeps its cache here, and Crossplane may run it as any user.
		entry{path: "tmp/", mode: 0o1777},
	)
	if err != nil {
		return nil, err
	}
	program, err := layer(entry{path: binaryPath, mode: 0o755, data: binary})
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made, err := mutate.AppendLayers(base, system, program)
	if err != nil {
		return nil, errors.Wrap(err, "cannot assemble the layers")
	}
	file, err := made.ConfigFile()
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the configuration of the image")
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = p.OS, p.Arch
	file.Config = v1.Config{
		User:       user + ":" + user,
		Entrypoint: []string{"/" + binaryPath},
		WorkingDir: "/",
		// Without HOME, libraries would look for it in the root directory.
		Env: []string{"PATH=/usr/local/bin", "HOME=/tmp", "TMPDIR=/tmp"},
		// Most container runtimes then keep the directory writable when the root file system is read-only.
		Volumes:      map[string]struct{}{"/tmp": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    Name,
			"org.opencontainers.image.version":  version,
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.source":   "https://github.com/crossplane-contrib/provider-kyma",
		},
	}
	made, err = mutate.ConfigFile(made, file)
	return made, errors.Wrap(err, "cannot configure the image")
}

// Index returns an image index from which a registry selects the image of a platform.
func Index(made []v1.Image, platforms []Platform) v1.ImageIndex {
	out := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, p := range platforms {
		out = mutate.AppendManifests(out, mutate.IndexAddendum{
			Add:        made[i],
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.OS, Architecture: p.Arch}},
		})
	}
	return out
}
