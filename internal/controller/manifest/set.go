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
	ChartByDigest(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)
	Chart(ctx context.Context, regs oci.Registries, url, chartName, version string) (oci.Artifact, error)
	RepoChart(ctx context.Context, regs oci.Registries, url, chartName, version string) (oci.Artifact, error)
}

// labels of the original that a Manifest hands on to what it installs.
var labels = []string{ //nolint:gochecknoglobals // Constant.
	"operator.kyma-project.io/kyma-name",
	"operator.kyma-project.io/module-name",
	"operator.kyma-project.io/channel",
	"operator.kyma-project.io/controller-name",
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
	}
	for _, l := range labels {
		if v, ok := mr.Labels[l]; ok {
			out.Labels[l] = v
		}
	}
	if p.Config != nil {
		return nil, errors.New("spec.forProvider.config is not supported by this version of the provider; use values of the installs")
	}
	for i := range p.Installs {
		in, err := s.installOf(&p.Installs[i])
		if err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.installs[%q]", p.Installs[i].Name)
		}
		out.Installs = append(out.Installs, in)
	}
	if p.CRDs != nil {
		out.CRDs = s.definitions(p.CRDs)
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
		out.Fetch = s.fetch(func(ctx context.Context, regs oci.Registries) (oci.Artifact, error) {
			b, err := s.puller.ChartByDigest(ctx, regs, src.Repo+"/"+src.Name, src.Ref)
			return oci.Artifact{Data: b, Digest: src.Ref}, err
		})
	case v1alpha1.SourceTypeHelmChart:
		out.Digest = strings.Join([]string{"helm-chart", src.URL, src.ChartName, src.Version}, " ")
		out.Fetch = s.fetch(func(ctx context.Context, regs oci.Registries) (oci.Artifact, error) {
			if strings.HasPrefix(src.URL, "oci://") {
				return s.puller.Chart(ctx, regs, src.URL, src.ChartName, src.Version)
			}
			return s.puller.RepoChart(ctx, regs, src.URL, src.ChartName, src.Version)
		})
	case v1alpha1.SourceTypeKustomize, v1alpha1.SourceTypeRaw:
		out.Digest = "unsupported " + string(src.Type)
		out.Fetch = func(context.Context) (engine.Content, error) {
			return engine.Content{}, errors.Errorf("source type %s is not supported by this version of the provider; use oci-ref or helm-chart", src.Type)
		}
	default:
		return out, errors.Errorf("source type %q is unknown", src.Type)
	}
	return out, nil
}

// A pullFunc pulls an archive.
type pullFunc func(ctx context.Context, regs oci.Registries) (oci.Artifact, error)

// fetch an archive, whose files are read when they are asked for.
func (s *content) fetch(pull pullFunc) func(ctx context.Context) (engine.Content, error) {
	return func(ctx context.Context) (engine.Content, error) {
		regs, err := s.regs(ctx)
		if err != nil {
			return engine.Content{}, err
		}
		a, err := pull(ctx, regs)
		if err != nil {
			return engine.Content{}, err
		}
		return engine.Content{Digest: a.Digest, Files: func() ([]engine.File, error) { return s.unpack(a.Data) }}, nil
	}
}

func (s *content) unpack(b []byte) ([]engine.File, error) {
	files, err := oci.ReadArchive(b, s.limits)
	if err != nil {
		return nil, err
	}
	out := make([]engine.File, len(files))
	for i, f := range files {
		out[i] = engine.File(f)
	}
	return out, nil
}

func (s *content) definitions(l *v1alpha1.LayerSource) *engine.Layer {
	src := *l
	return &engine.Layer{
		Digest: "crds " + src.Ref,
		Fetch: s.fetch(func(ctx context.Context, regs oci.Registries) (oci.Artifact, error) {
			b, err := s.puller.Blob(ctx, regs, src.Repo+"/"+src.Name, src.Ref)
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
