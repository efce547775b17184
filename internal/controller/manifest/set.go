// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A Puller gets charts and layers from registries and chart repositories.
type Puller interface {
	Blob(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)
	Layer(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)
	ChartByDigest(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)
	Chart(ctx context.Context, regs oci.Registries, url, chartName, version string) (oci.Artifact, error)
	RepoChart(ctx context.Context, regs oci.Registries, url, chartName, version string) (oci.Artifact, error)
}

// labels of the original that a Manifest hands on to what it installs.
var labels = []string{ //nolint:gochecknoglobals // Constant.
	v1alpha1.LabelKymaName,
	v1alpha1.LabelModuleName,
	v1alpha1.LabelChannel,
	v1alpha1.LabelControllerName,
}

// maxName is the longest name of a Secret.
const maxName = 253

// externalName of a Manifest: the name of its inventory in the target cluster.
func externalName(mr *v1alpha1.Manifest) string {
	if n := meta.GetExternalName(mr); n != "" {
		return n
	}
	n := mr.Namespace + "." + mr.Name
	if len(n) <= maxName {
		return n
	}
	sum := sha256.Sum256([]byte(n))
	suffix := "." + hex.EncodeToString(sum[:8])
	return strings.TrimRight(n[:maxName-len(suffix)], ".-") + suffix
}

// owner of a set, as people who find its inventory read it.
func owner(mr *v1alpha1.Manifest) string {
	return v1alpha1.ManifestKind + " " + mr.Namespace + "/" + mr.Name
}

// asked says whether an annotation of a Manifest asks for something.
func asked(mr *v1alpha1.Manifest, annotation string) bool {
	return mr.Annotations[annotation] == "true"
}

// content makes sets of Manifests, and gets what they install.
type content struct {
	puller Puller
	limits oci.Limits
	regs   func(ctx context.Context) (oci.Registries, error)
}

// setOf a Manifest.
func (s *content) setOf(mr *v1alpha1.Manifest) (*engine.Set, error) {
	p := &mr.Spec.ForProvider
	out := &engine.Set{
		Name:   externalName(mr),
		Owner:  owner(mr),
		Labels: map[string]string{},
		Adopt:  p.Adopt,
		Drift:  driftPolicy(p.Drift),

		Recreate:     asked(mr, v1alpha1.AnnotationRecreate),
		ForceRemoval: asked(mr, v1alpha1.AnnotationForceRemoval),
		Retry:        retryToken(mr),
		Test:         cut(mr.Annotations[v1alpha1.AnnotationTest]),
	}
	for _, l := range labels {
		if v, ok := mr.Labels[l]; ok {
			out.Labels[l] = v
		}
	}
	for i := range p.Installs {
		in, err := s.installOf(&p.Installs[i])
		if err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.installs[%q]", p.Installs[i].Name)
		}
		out.Installs = append(out.Installs, in)
	}
	if p.CRDs != nil {
		out.CRDs = s.layer("crds", *p.CRDs, s.pullBlob, oci.ReadArchive)
	}
	if p.Config != nil {
		out.Config = s.layer("config", *p.Config, s.pullBlob, readConfig)
	}
	var err error
	if p.Resource != nil && p.CustomResourcePolicy != v1alpha1.CustomResourcePolicyIgnore {
		if out.Resource, err = resourceOf(p.Resource); err != nil {
			return nil, errors.Wrap(err, "spec.forProvider.resource")
		}
	}
	out.Readiness, err = rulesOf(p.Readiness)
	return out, err
}

func (s *content) installOf(in *v1alpha1.Install) (engine.Install, error) {
	out := engine.Install{Name: in.Name, Namespace: in.Namespace}
	if in.Values != nil {
		if err := json.Unmarshal(in.Values.Raw, &out.Values); err != nil {
			return out, errors.Wrap(err, "values must be an object")
		}
	}
	src := in.Source
	switch src.Type {
	case v1alpha1.SourceTypeOCIRef:
		out.Digest = "oci-ref " + src.Ref
		out.Fetch = s.fetch(oci.ReadArchive, func(ctx context.Context, regs oci.Registries) (oci.Artifact, error) {
			b, err := s.puller.ChartByDigest(ctx, regs, src.Repo+"/"+src.Name, src.Ref)
			return oci.Artifact{Data: b, Digest: src.Ref}, err
		})
	case v1alpha1.SourceTypeHelmChart:
		out.Digest = strings.Join([]string{"helm-chart", src.URL, src.ChartName, src.Version}, " ")
		out.Fetch = s.fetch(oci.ReadArchive, func(ctx context.Context, regs oci.Registries) (oci.Artifact, error) {
			if strings.HasPrefix(src.URL, "oci://") {
				return s.puller.Chart(ctx, regs, src.URL, src.ChartName, src.Version)
			}
			return s.puller.RepoChart(ctx, regs, src.URL, src.ChartName, src.Version)
		})
	case v1alpha1.SourceTypeRaw:
		out.Form = engine.FormPlain
		out.Layer = s.raw(src)
	case v1alpha1.SourceTypeKustomize:
		out.Form, out.Path = engine.FormKustomize, src.Path
		out.Layer = *s.layer("kustomize", layerOf(src), s.pullLayer, oci.ReadArchive)
	default:
		return out, errors.Errorf("source type %q is unknown", src.Type)
	}
	return out, nil
}

// raw objects: inline, or a layer.
func (s *content) raw(src v1alpha1.Source) engine.Layer {
	if src.Inline == "" {
		return *s.layer("raw", layerOf(src), s.pullLayer, oci.ReadLayer)
	}
	sum := sha256.Sum256([]byte(src.Inline))
	digest := "sha256:" + hex.EncodeToString(sum[:])
	files := []engine.File{{Name: "inline.yaml", Data: []byte(src.Inline)}}
	return engine.Layer{
		Digest: "raw inline " + digest,
		Fetch: func(context.Context) (engine.Content, error) {
			return engine.Content{Digest: digest, Files: func() ([]engine.File, error) { return files, nil }}, nil
		},
	}
}

// A pullFunc pulls bytes, and a readFunc reads the files in them.
type (
	pullFunc func(ctx context.Context, regs oci.Registries) (oci.Artifact, error)
	readFunc func(data []byte, l oci.Limits) ([]oci.File, error)
)

// fetch content, whose files are read when they are asked for.
func (s *content) fetch(read readFunc, pull pullFunc) func(ctx context.Context) (engine.Content, error) {
	return func(ctx context.Context) (engine.Content, error) {
		regs, err := s.regs(ctx)
		if err != nil {
			return engine.Content{}, err
		}
		a, err := pull(ctx, regs)
		if err != nil {
			return engine.Content{}, err
		}
		return engine.Content{Digest: a.Digest, Files: func() ([]engine.File, error) { return s.files(read, a.Data) }}, nil
	}
}

func (s *content) files(read readFunc, b []byte) ([]engine.File, error) {
	files, err := read(b, s.limits)
	if err != nil {
		return nil, err
	}
	out := make([]engine.File, len(files))
	for i, f := range files {
		out[i] = engine.File(f)
	}
	return out, nil
}

// readConfig reads a layer that may be empty.
func readConfig(data []byte, l oci.Limits) ([]oci.File, error) {
	if len(data) == 0 {
		return nil, nil
	}
	return oci.ReadLayer(data, l)
}

// layerOf a source by digest.
func layerOf(src v1alpha1.Source) v1alpha1.LayerSource {
	return v1alpha1.LayerSource{Repo: src.Repo, Name: src.Name, Ref: src.Ref}
}

// A layerFunc pulls what a repository has under a digest.
type layerFunc func(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)

// pullBlob and pullLayer are called once there is a puller; where something is removed, there is none.
func (s *content) pullBlob(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error) {
	return s.puller.Blob(ctx, regs, repo, digest)
}

func (s *content) pullLayer(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error) {
	return s.puller.Layer(ctx, regs, repo, digest)
}

// layer of an artifact. What it is used for is part of its digest.
func (s *content) layer(use string, src v1alpha1.LayerSource, pull layerFunc, read readFunc) *engine.Layer {
	return &engine.Layer{
		Digest: use + " " + src.Ref,
		Fetch: s.fetch(read, func(ctx context.Context, regs oci.Registries) (oci.Artifact, error) {
			b, err := pull(ctx, regs, src.Repo+"/"+src.Name, src.Ref)
			return oci.Artifact{Data: b, Digest: src.Ref}, err
		}),
	}
}

func resourceOf(raw *runtime.RawExtension) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw.Raw); err != nil {
		return nil, errors.Wrap(err, "is no object")
	}
	if u.GetName() == "" {
		return nil, errors.New("metadata.name is missing")
	}
	return u, nil
}

func rulesOf(in []v1alpha1.ReadinessRule) ([]engine.Rule, error) {
	out := make([]engine.Rule, 0, len(in))
	for i := range in {
		r := engine.Rule{CEL: in[i].CEL}
		if f := in[i].For; f != nil {
			gv, err := schema.ParseGroupVersion(f.APIVersion)
			if err != nil {
				return nil, errors.Wrapf(err, "spec.forProvider.readiness[%d].for.apiVersion", i)
			}
			r.For = gv.WithKind(f.Kind).GroupKind()
		}
		out = append(out, r)
	}
	return out, nil
}
