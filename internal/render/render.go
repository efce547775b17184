// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/internal/render/templates"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

const notesFile = "NOTES.txt"

// Options are the options of one rendering.
type Options struct {
	ReleaseName string // as allowed by Helm: at most 53 characters
	Namespace   string // .Release.Namespace of the templates
	Upgrade     bool   // .Release.IsUpgrade; otherwise IsInstall
	Revision    int    // .Release.Revision, at least 1

	Values    map[string]any // values of this install; not changed
	Overrides map[string]any // values that Values override, with numbers as helm --set parses them; not changed

	KubeVersion string       // version of the cluster, "v1.36.3"; "": Helm's default, v1.20.0
	APIVersions []string     // "apps/v1" and "apps/v1/Deployment"; nil: Helm's default, the built-in group versions
	REST        *rest.Config // for lookup; nil: lookup finds nothing, as in helm template

	SkipCRDs   bool // leave out the objects of crds/
	SkipSchema bool // do not check values against schemas

	Shared bool // the values contain no secrets: the result may be used for other tenants

	Lookup templates.LookupFunc  // for lookup, instead of REST
	Begin  func(template string) // called with the path of each template before it is executed; may be nil
}

// Rendered is the result of rendering a chart.
type Rendered struct {
	CRDs    []*unstructured.Unstructured // objects of the crds/ directories, in the order of the charts and files
	Objects []*unstructured.Unstructured // objects except hooks, lists flattened, in Helm's install order; namespaces as written
	Hooks   []record.Hook                // hooks of the templates, in Helm's order of kinds
	Notes   string                       // templates/NOTES.txt of the chart itself
	Pure    bool                         // the same chart and options, REST aside, render the same again
	Draft   *record.Draft                // draft of the release record

	release *release.Release
}

// Render does what helm install does before it connects to a cluster: it enables and disables dependencies, merges
// values, validates them against the schemas and the version of the cluster against kubeVersion, and executes the
// templates. Errors are one line that names the chart, and for templates file and line. It checks ctx before each
// template, include and tpl, and bounds neither the time nor the memory that they take: a Pool of package sandbox does.
func (c *Chart) Render(ctx context.Context, o Options) (r *Rendered, err error) {
	defer func() {
		// Templates and the functions that they call are untrusted code.
		if p := recover(); p != nil {
			r, err = nil, errors.Errorf("cannot render chart %q: %s", c.Name(), input.Line(fmt.Sprint(p)))
		}
	}()
	r, err = c.render(ctx, o)
	return r, errors.Wrapf(err, "chart %q", c.Name())
}

func (c *Chart) render(ctx context.Context, o Options) (*Rendered, error) {
	if err := chartutil.ValidateReleaseName(o.ReleaseName); err != nil {
		return nil, errors.Errorf("release name %q: %s", o.ReleaseName, input.Line(err.Error()))
	}
	if ctx.Err() != nil {
		return nil, errors.Wrap(context.Cause(ctx), "rendering was stopped")
	}
	o.Revision = max(o.Revision, 1)

	config := o.config()
	inst, values, err := c.prepare(o, config)
	if err != nil {
		return nil, err
	}

	printed, err := templates.Execute(ctx, inst, values, templates.Options{REST: o.REST, Lookup: o.Lookup, Begin: o.Begin})
	if err != nil {
		return nil, err
	}

	rel := &release.Release{Name: o.ReleaseName, Namespace: o.Namespace, Config: config, Chart: inst}
	r := &Rendered{Pure: printed.Pure}
	if err := r.sort(rel, printed.Files); err != nil {
		return nil, err
	}
	r.release = rel
	r.Draft = record.NewDraft(rel)
	r.Hooks = r.Draft.Hooks()
	if o.SkipCRDs {
		return r, nil
	}
	r.CRDs, err = crds(inst)
	return r, err
}

// config returns the values of the install with its overrides.
func (o *Options) config() map[string]any {
	config := likeFile(o.Values)
	if len(o.Overrides) > 0 {
		config = MergeValues(o.Overrides, config)
	}
	return config
}

// prepare returns the chart with only its enabled dependencies, and the values for its templates.
func (c *Chart) prepare(o Options, config map[string]any) (*chart.Chart, chartutil.Values, error) {
	inst := instance(c.chart)
	if err := chartutil.ProcessDependenciesWithMerge(inst, config); err != nil {
		return nil, nil, errors.Errorf("values: %s", helmError(err))
	}
	caps, err := capabilities(o)
	if err != nil {
		return nil, nil, err
	}

	ro := chartutil.ReleaseOptions{
		Name: o.ReleaseName, Namespace: o.Namespace, Revision: o.Revision,
		IsInstall: !o.Upgrade, IsUpgrade: o.Upgrade,
	}
	top, err := chartutil.ToRenderValuesWithSchemaValidation(inst, config, ro, caps, true)
	if err != nil {
		return nil, nil, errors.Errorf("values: %s", helmError(err))
	}
	if values, ok := top["Values"].(chartutil.Values); ok && !o.SkipSchema {
		if err := validateSchemas(inst, values, nil); err != nil {
			return nil, nil, err
		}
	}

	want := inst.Metadata.KubeVersion
	if want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.Version) {
		return nil, nil, errors.Errorf("requires Kubernetes %s, but the cluster runs %s", want, caps.KubeVersion.Version)
	}
	return inst, top, nil
}

// capabilities returns the cluster capabilities that templates see. It keeps the version as the server writes it, as
// helm install does.
func capabilities(o Options) (*chartutil.Capabilities, error) {
	caps := chartutil.DefaultCapabilities.Copy()
	if o.APIVersions != nil {
		caps.APIVersions = slices.Clone(o.APIVersions)
	}
	if o.KubeVersion == "" {
		return caps, nil
	}
	v, err := k8sversion.ParseGeneric(o.KubeVersion)
	if err != nil {
		return nil, errors.Errorf("cannot parse the Kubernetes version %q", o.KubeVersion)
	}
	caps.KubeVersion = chartutil.KubeVersion{
		Version: o.KubeVersion,
		Major:   strconv.FormatUint(uint64(v.Major()), 10),
		Minor:   strconv.FormatUint(uint64(v.Minor()), 10),
	}
	return caps, nil
}

// sort sorts the output of the templates into notes, hooks and objects, and stores them in the release.
func (r *Rendered) sort(rel *release.Release, files map[string]string) error {
	c := rel.Chart
	for name := range files {
		if !strings.HasSuffix(name, notesFile) {
			continue
		}
		if name == path.Join(c.Name(), "templates", notesFile) {
			r.Notes = files[name]
		}
		delete(files, name)
	}

	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return manifestError(c.Name(), err)
	}

	var doc strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&doc, "---\n# Source: %s\n%s\n", m.Name, m.Content)
		// Helm applies the text above, which ends with a newline that a block scalar at its end keeps.
		objs, err := yamldoc.ChartObjects([]byte(m.Content + "\n"))
		if err != nil {
			return errors.Wrap(err, relative(c.Name(), m.Name))
		}
		r.Objects = append(r.Objects, objs...)
	}
	rel.Manifest, rel.Hooks, rel.Info = doc.String(), hooks, &release.Info{Notes: r.Notes}
	return nil
}

// helmError turns an error of Helm into one line. One of Helm's errors contains a value, possibly a secret, because
// of a formatting mistake.
func helmError(err error) string {
	s, _, _ := strings.Cut(err.Error(), ": %!t(")
	return input.Line(s)
}

// relative returns the path of a template relative to the directory of the chart.
func relative(root, name string) string { return strings.TrimPrefix(name, root+"/") }

// manifestError turns an error of SortManifests, which has only one kind, into "file: message".
func manifestError(root string, err error) error {
	msg := strings.TrimPrefix(err.Error(), "YAML parse error on ")
	return errors.New(input.Line(relative(root, msg)))
}

// crds reads the crds/ directories of c and of its enabled dependencies.
func crds(c *chart.Chart) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, crd := range c.CRDObjects() {
		objs, err := yamldoc.ChartObjects(crd.File.Data)
		if err != nil {
			return nil, errors.Wrap(err, relative(c.Name(), crd.Filename))
		}
		out = append(out, objs...)
	}
	return out, nil
}
