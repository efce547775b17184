// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

const (
	// skeleton is the name of the resource on which templates are based.
	skeleton = "moduletemplate"
	// maxSkeleton bounds the skeleton, in bytes.
	maxSkeleton = 256 << 10

	defaultChannel = "regular"
)

// Template returns the ModuleTemplate of a module for a channel; the default is the channel of the module, or else
// regular. If inline is true, it contains the descriptor with its location; otherwise it refers to the component in a
// registry.
func Template(ctx context.Context, b *Bundle, channel string, inline bool) (*v1alpha1.ModuleTemplate, error) {
	if b.Location == (ocm.Location{}) {
		return nil, errors.New("a ModuleTemplate must refer to a registry, but the module is in a local layout: specify " +
			"the registry that you will push it to")
	}
	if err := checkTag(ctx, b); err != nil && !inline {
		return nil, err
	}
	return templateOf(ctx, b.repositories(), channel, inline)
}

// templateOf returns the ModuleTemplate of a module at its location, or at the one that represents the layout.
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
		return nil, errors.New("a Manifest must refer to a registry, but the module is in a local layout: specify the registry that you will push it to")
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

// checkTag checks that the tag of the version of a module refers to this module, as a ModuleTemplate refers to the
// component by version.
func checkTag(ctx context.Context, b *Bundle) error {
	tag, err := ocm.Tag(b.Descriptor().Version())
	if err != nil || b.layout != nil || b.Tag == tag {
		return err
	}
	_, digest, err := b.Store.Manifest(ctx, tag)
	if err == nil && digest != b.Digest {
		err = errors.Errorf("the tag refers to %s instead of %s: push the module with its version as the tag, or write "+
			"the descriptor inline", digest, b.Digest)
	}
	return errors.Wrapf(err, "cannot use tag %q in a ModuleTemplate", tag)
}

// skeletonOf returns the template that the module contains; an empty one if there is none.
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

// readSkeleton reads the fields of its template that a module may set: labels, module name, channel and readiness. A module may not set
// annotations, because some of them are decisions of the user, such as that a version may be lower than the previous one. It ignores
// templates of Kyma's lifecycle manager, which modules contain under the same name.
func readSkeleton(layer []byte) (*v1alpha1.ModuleTemplate, error) {
	files, err := archive.ReadLayer(layer, archive.Limits{Uncompressed: maxSkeleton, Files: 8})
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, errors.Errorf("expected one file, found %d", len(files))
	}
	data := files[0].Data
	converted, err := yamlsize.Limits{Bytes: maxSkeleton}.JSON(data)
	if yamlsize.Exceeds(err) {
		return nil, err
	}
	if err != nil {
		return nil, errors.New("invalid YAML")
	}
	read := &v1alpha1.ModuleTemplate{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(converted, read); err != nil {
		return nil, errors.New("not a ModuleTemplate")
	}
	out := &v1alpha1.ModuleTemplate{}
	if read.APIVersion != "" && read.APIVersion != v1alpha1.SchemeGroupVersion.String() {
		return out, nil
	}
	out.Labels = read.Labels
	out.Spec.ModuleName, out.Spec.Channel, out.Spec.Readiness = read.Spec.ModuleName, read.Spec.Channel, read.Spec.Readiness
	return out, nil
}

func isLocal(access string) bool {
	return access == ocm.AccessLocalOCIBlob || access == ocm.AccessLocalBlob
}

// resolve returns the template that kymactl module template writes, with a status as the controller would set it. All
// components must be there.
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

// parameters returns the template of a module, and the parameters of the Manifest that installs it. All components must
// be there.
func parameters(ctx context.Context, r *repositories) (*v1alpha1.ModuleTemplate, *v1alpha1.ManifestParameters, error) {
	t, err := resolve(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	p, err := module.Parameters(t, &v1alpha1.Module{Name: t.Status.ModuleName})
	p.Component = &v1alpha1.ComponentDigest{Component: *t.Spec.Component, Digest: t.Status.Digest}
	return t, &p, err
}
