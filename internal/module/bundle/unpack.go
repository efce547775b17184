// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"io/fs"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// DescriptorFile is the name of the file with the component descriptor in an unpacked module.
const DescriptorFile = "component-descriptor.json"

// maxUnpacked bounds an unpacked module: its size in bytes, and the number of its files.
var maxUnpacked = archive.Limits{Uncompressed: 1 << 30, Files: 50_000} //nolint:gochecknoglobals // Constant.

// Unpack calls write with each file of a module: its component descriptor; the files of each install, CRDs, config
// layer and default custom resource; and, unchanged, resources that are not installed. Names are clean, relative,
// separated by slashes and unique. If it returns no error, it has written all content that is local to the module.
func Unpack(ctx context.Context, b *Bundle, write func(name string, data []byte) error) error {
	if err := b.complete(); err != nil {
		return err
	}
	r := b.repositories()
	t, err := resolve(ctx, r)
	if err != nil {
		return err
	}
	u := &unpacker{from: puller{r}, write: write, limits: maxUnpacked, seen: map[string]bool{}}
	if err := u.put(DescriptorFile, b.Descriptor().JSON()); err != nil {
		return err
	}
	for i := range t.Status.Resources {
		res := &t.Status.Resources[i]
		if res.Source == nil {
			err = u.asIs(ctx, b.Components, res)
		} else {
			err = u.resource(ctx, res)
		}
		if err != nil {
			return errors.Wrapf(err, "resource %s", res.Name)
		}
	}
	return nil
}

// An unpacker writes the files of one module.
type unpacker struct {
	from   puller
	write  func(name string, data []byte) error
	limits archive.Limits // What remains.
	seen   map[string]bool
}

// resource writes the files of a resource that is installed.
func (u *unpacker) resource(ctx context.Context, r *v1alpha1.ModuleResource) error {
	content, to, err := contentOf(r)
	if err != nil {
		return err
	}
	a, err := content.Fetch(ctx, u.from, u.from.allowed)
	if err != nil {
		return err
	}
	files, err := content.Read(a.Data, archive.DefaultLimits())
	if err != nil {
		return err
	}
	if len(files) == 1 && (files[0].Name == archive.LayerFile || r.Use == v1alpha1.UseCustomResource) {
		return u.put(to+".yaml", files[0].Data)
	}
	strip := ""
	if strings.HasPrefix(to, chartsDir) {
		strip = rootOf(files)
	}
	for _, f := range files {
		if err := u.put(to+"/"+strings.TrimPrefix(f.Name, strip), f.Data); err != nil {
			return err
		}
	}
	return nil
}

const chartsDir = "charts/"

// contentOf returns the content of a resource, and the directory, or the file without its extension, to which it is
// unpacked.
func contentOf(r *v1alpha1.ModuleResource) (content source.Content, to string, err error) {
	switch r.Use {
	case v1alpha1.UseCRDs:
		return source.CRDs(source.ToLayer(r.Source)), "crds", nil
	case v1alpha1.UseConfig:
		return source.Config(source.ToLayer(r.Source)), "config", nil
	case v1alpha1.UseCustomResource:
		return source.Config(source.ToLayer(r.Source)), "default-cr", nil
	case v1alpha1.UseInstall, v1alpha1.UseNone:
	}
	src, err := source.New(*r.Source)
	if err != nil {
		return source.Content{}, "", err
	}
	if source.IsChart(*r.Source) {
		return src.Content(), chartsDir + r.Install, nil
	}
	return src.Content(), "manifests/" + r.Install, nil
}

// rootOf returns the directory that contains all files of a chart, with a trailing slash; "" if there is none.
func rootOf(files []archive.File) string {
	root, _, ok := strings.Cut(files[0].Name, "/")
	for _, f := range files {
		ok = ok && strings.HasPrefix(f.Name, root+"/")
	}
	if !ok {
		return ""
	}
	return root + "/"
}

// asIs writes the blob of a resource that is not installed. It writes no images, as they are not part of a module.
func (u *unpacker) asIs(ctx context.Context, components []*ocm.Descriptor, r *v1alpha1.ModuleResource) error {
	for i, d := range components {
		if i == 0 && r.Component != "" || i > 0 && r.Component != d.Name() {
			continue
		}
		for _, res := range d.Resources() {
			if res.Name != r.Name || res.Type != r.Type || !isLocal(res.Access.Type) {
				continue
			}
			data, err := u.from.repositories.Blob(ctx, u.from.of(d), res.Access.Digest)
			if err != nil {
				return err
			}
			to := "resources/"
			if r.Component != "" {
				to += r.Component + "/"
			}
			return u.put(to+r.Name, data)
		}
	}
	return nil
}

// put writes a file, after checking its name and the limits.
func (u *unpacker) put(name string, data []byte) error {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		return ocm.Invalid(errors.Errorf("%.300q is not a valid file name", name))
	}
	if u.seen[name] {
		return ocm.Invalid(errors.Errorf("two resources contain the same file %.300q", name))
	}
	u.seen[name] = true
	u.limits.Files--
	u.limits.Uncompressed -= int64(len(data))
	if u.limits.Files < 0 || u.limits.Uncompressed < 0 {
		return errors.Errorf("the module exceeds the limit of %d files or %d bytes", maxUnpacked.Files, maxUnpacked.Uncompressed)
	}
	return u.write(name, data)
}
