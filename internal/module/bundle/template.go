// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

const (
	// skeleton is the resource that templates start from.
	skeleton = "moduletemplate"
	// maxSkeleton bounds it, in bytes.
	maxSkeleton = 256 << 10

	defaultChannel = "regular"
)

// Template returns the ModuleTemplate of a module for a channel; empty means
// that of the module, or else regular. Inline puts the descriptor into it, with
// its location; otherwise it refers to the component, which needs a registry.
func Template(ctx context.Context, b *Bundle, channel string, inline bool) (*v1alpha1.ModuleTemplate, error) {
	if b.Location == (ocm.Location{}) {
		return nil, errors.New("a ModuleTemplate says in which registry the module is, and a layout is in none: say where it will be")
	}
	if err := checkTag(ctx, b); err != nil && !inline {
		return nil, err
	}
	return templateOf(ctx, b.repositories(), channel, inline)
}

// templateOf a module, with the location that it has, or that which stands for the layout.
func templateOf(ctx context.Context, r *repositories, channel string, inline bool) (*v1alpha1.ModuleTemplate, error) {
	t, err := skeletonOf(ctx, r)
	if err != nil {
		return nil, errors.Wrapf(err, "resource %s", skeleton)
	}
	switch {
	case channel != "":
		t.Spec.Channel = channel
	case t.Spec.Channel == "":
		t.Spec.Channel = defaultChannel
	}
	d, l := r.own(), r.location
	name := module.NameOf(t)
	if name == "" {
		name = path.Base(d.Name())
	}
	t.Name = name + "-" + t.Spec.Channel
	t.Spec.Target = v1alpha1.ModuleTargetRemote
	if inline {
		if d, err = d.WithLocation(l); err != nil {
			return nil, err
		}
		t.Spec.Descriptor = &runtime.RawExtension{Raw: d.JSON()}
		return t, nil
	}
	t.Spec.Component = &v1alpha1.Component{
		Repository: l.BaseURL, Name: d.Name(), Version: d.Version(), NameMapping: v1alpha1.NameMapping(l.Mapping),
	}
	if t.Spec.Component.NameMapping == "" {
		t.Spec.Component.NameMapping = v1alpha1.NameMappingURLPath
	}
	return t, nil
}

// Manifest returns the Manifest that installs a module with its default values, without a ProviderConfig. It refers to the
// component and to all layers by their digests.
func Manifest(ctx context.Context, b *Bundle) (*v1alpha1.Manifest, error) {
	if b.Location == (ocm.Location{}) {
		return nil, errors.New("a Manifest says in which registry the module is, and a layout is in none: say where it will be")
	}
	if err := b.complete(); err != nil {
		return nil, err
	}
	t, p, err := parameters(ctx, b.repositories())
	if err != nil {
		return nil, err
	}
	return &v1alpha1.Manifest{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.ManifestKind},
		ObjectMeta: metav1.ObjectMeta{Name: t.Status.ModuleName, Labels: map[string]string{v1alpha1.LabelModuleName: t.Status.ModuleName}},
		Spec:       v1alpha1.ManifestSpec{ForProvider: *p},
	}, nil
}

// checkTag checks that the version of a module leads to it, as those who read the template ask for the version.
func checkTag(ctx context.Context, b *Bundle) error {
	tag, err := ocm.Tag(b.Descriptor().Version())
	if err != nil || b.layout != nil || b.Tag == tag {
		return err
	}
	_, digest, err := b.Store.Manifest(ctx, tag)
	if err == nil && digest != b.Digest {
		err = errors.Errorf("it is %s, and not %s: push the module under its version, or put its descriptor inline", digest, b.Digest)
	}
	return errors.Wrapf(err, "tag %q, which a ModuleTemplate leads to", tag)
}

// skeletonOf the template, as the module brings it along; empty if it does not.
func skeletonOf(ctx context.Context, r *repositories) (*v1alpha1.ModuleTemplate, error) {
	t := &v1alpha1.ModuleTemplate{}
	for _, res := range r.own().Resources() {
		if res.Name != skeleton || !isLocal(res.Access.Type) {
			continue
		}
		layer, err := r.stored.Blob(ctx, "", res.Access.Digest)
		if err != nil {
			return nil, err
		}
		if t, err = readSkeleton(layer); err != nil {
			return nil, err
		}
	}
	t.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.ModuleTemplateKind}
	return t, nil
}

// readSkeleton takes what a module may say of its template. Templates of the original, which modules bring along under
// the same name, say nothing that fits.
func readSkeleton(layer []byte) (*v1alpha1.ModuleTemplate, error) {
	files, err := archive.ReadLayer(layer, archive.Limits{Uncompressed: maxSkeleton, Files: 8})
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, errors.Errorf("it holds %d files: want one", len(files))
	}
	data := files[0].Data
	if err := (yamlsize.Limits{Bytes: maxSkeleton}).Check(data); err != nil {
		return nil, err
	}
	converted, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, errors.New("it is not YAML")
	}
	read := &v1alpha1.ModuleTemplate{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(converted, read); err != nil {
		return nil, errors.New("it is not a ModuleTemplate")
	}
	out := &v1alpha1.ModuleTemplate{}
	if read.APIVersion != "" && read.APIVersion != v1alpha1.SchemeGroupVersion.String() {
		return out, nil
	}
	out.Labels, out.Annotations = read.Labels, read.Annotations
	out.Spec.ModuleName, out.Spec.Channel, out.Spec.Readiness = read.Spec.ModuleName, read.Spec.Channel, read.Spec.Readiness
	return out, nil
}

func isLocal(access string) bool {
	return access == ocm.AccessLocalOCIBlob || access == ocm.AccessLocalBlob
}

// resolve says what a module would install: the template that module template writes, with a status as the controller would
// set it. All components must be there.
func resolve(ctx context.Context, r *repositories) (*v1alpha1.ModuleTemplate, error) {
	t, err := templateOf(ctx, r, "", false)
	if err != nil {
		return nil, err
	}
	res, err := module.NewResolver(puller{r}, archive.DefaultLimits()).Resolve(ctx, r.regs, t)
	if err != nil {
		return nil, err
	}
	t.Status.ModuleName, t.Status.Version, t.Status.Digest = res.ModuleName, res.Version, res.Digest
	t.Status.Resources, t.Status.Data = res.Resources, res.Data
	return t, nil
}

// parameters of the Manifest that installs a module, all of whose components must be there, and its template.
func parameters(ctx context.Context, r *repositories) (*v1alpha1.ModuleTemplate, *v1alpha1.ManifestParameters, error) {
	t, err := resolve(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	p, err := module.Parameters(t, &v1alpha1.Module{Name: t.Status.ModuleName})
	p.Component = &v1alpha1.ComponentDigest{Component: *t.Spec.Component, Digest: t.Status.Digest}
	return t, &p, err
}
