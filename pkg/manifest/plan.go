// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// A planned part has been rendered.
type planned struct {
	*part

	// in is the install as the config of the set says it is; nil for other parts.
	in      *installation
	objects []object.Desired
	// rec is what the inventory will say of the part while it is applied.
	rec inventory.Part
	// repair says that these inputs were applied before, and that the very objects of then are wanted.
	repair bool
	// before is the revision of the release that this one follows; 0 for none.
	before int
	// chart and rendered are set for charts.
	chart    *render.Chart
	rendered *render.Rendered
	// last is the highest revision that was found in the cluster, whatever became of it.
	last int
	// next is the revision of the release that is being installed.
	next int
	// settled says that the very inputs are deployed, and only the inventory does not know it.
	settled bool
	// hooks of the chart, if some of them run while it is applied, and how far they have come; nil for none.
	hooks []render.Hook
	run   *inventory.Run
	// first says that the install was never applied before, and that no release of its name was looked for.
	first bool
	// abandoned is where the release was to move to before it is to be somewhere else; none in most cases.
	abandoned inventory.Release
	// backTo is the revision that a set which is rolled back goes back to, 0 for none, and backManifest are its objects if
	// the chart does not render them again.
	backTo       int
	backManifest string
}

// plan renders a part.
func (w *work) plan(ctx context.Context, p *part, rec inventory.Part) (*planned, error) {
	out := &planned{part: p, rec: rec, repair: rec.Digest == p.digest}
	var objects []*unstructured.Unstructured
	var err error
	if p.install != nil {
		if out.in, err = w.configure(ctx, p.install); err != nil {
			return nil, err
		}
		noteConfig(&out.rec, out.in)
		if err := w.follow(ctx, out); err != nil {
			return nil, err
		}
	}
	if !out.repair {
		// Until all is applied, what is in the cluster is neither of the old inputs nor of the new ones.
		out.rec.Digest, out.rec.Shared = "", nil
	}
	switch {
	case p.crds != nil:
		objects, err = definitions(ctx, p.crds)
	case p.install != nil && p.install.Form != FormChart:
		objects, err = w.asIs(ctx, p.install)
	case p.install != nil:
		objects, err = w.planInstall(ctx, out)
	default:
		objects = []*unstructured.Unstructured{p.resource.DeepCopy()}
	}
	if err != nil {
		return nil, err
	}
	if err := w.transform(ctx, objects...); err != nil {
		return nil, err
	}
	w.learn(objects)
	if err := w.build(ctx, out, objects); err != nil {
		return nil, err
	}
	return out, nil
}

// definitions are the custom resource definitions of a layer.
func definitions(ctx context.Context, l *source.Layer) ([]*unstructured.Unstructured, error) {
	out, err := objectsOf(ctx, l, func(u *unstructured.Unstructured) error {
		if u.GroupVersionKind().GroupKind() != object.CRDKind {
			return errors.Errorf("%s %s is no CustomResourceDefinition", u.GetKind(), u.GetName())
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		err = errors.New("the layer has no CustomResourceDefinition")
	}
	return out, err
}

// plain objects of an install.
func plain(ctx context.Context, in *Install) ([]*unstructured.Unstructured, error) {
	out, err := objectsOf(ctx, &in.Layer, func(*unstructured.Unstructured) error { return nil })
	if err == nil && len(out) == 0 {
		err = errors.New("there is no object in it")
	}
	return out, err
}

// objectsOf a layer that pass a check.
func objectsOf(ctx context.Context, l *source.Layer, check func(*unstructured.Unstructured) error) ([]*unstructured.Unstructured, error) {
	content, err := l.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	files, err := content.Files()
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, f := range yamlFiles(files) {
		objects, err := render.Objects(f.Data)
		if err != nil {
			return nil, errors.Wrap(err, f.Name)
		}
		for _, u := range objects {
			if err := check(u); err != nil {
				return nil, errors.Wrap(err, f.Name)
			}
		}
		out = append(out, objects...)
	}
	return out, nil
}

// yamlFiles among the files of a layer, JSON included.
func yamlFiles(files []source.File) []source.File {
	var out []source.File
	for _, f := range files {
		if ext := path.Ext(f.Name); ext == ".yaml" || ext == ".yml" || ext == ".json" {
			out = append(out, f)
		}
	}
	return out
}

// loadChart of an install. Fetching comes first, as it says whether the set may have the chart; unpacking and parsing is
// done once for all sets.
func (w *work) loadChart(ctx context.Context, in *Install) (*render.Chart, error) {
	content, err := in.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	if c, ok := w.e.charts.Get(content.Digest); ok {
		return c.(*render.Chart), nil //nolint:forcetypeassert // Only charts are put in.
	}
	c, err, _ := w.e.loading.Do(content.Digest, func() (any, error) {
		c, err := load(content)
		if err == nil {
			w.e.charts.Add(content.Digest, c)
		}
		return c, err
	})
	if err != nil {
		return nil, err
	}
	return c.(*render.Chart), nil //nolint:forcetypeassert // See above.
}

func load(content source.Content) (*render.Chart, error) {
	files, err := content.Files()
	if err != nil {
		return nil, err
	}
	return render.Load(renderFiles(files), render.WithDigest(content.Digest))
}

func (w *work) planInstall(ctx context.Context, out *planned) ([]*unstructured.Unstructured, error) {
	in := out.in
	chart, err := w.loadChart(ctx, in.Install)
	if err != nil {
		return nil, err
	}
	out.chart = chart
	o := render.Options{
		ReleaseName: in.home.Name, Namespace: in.namespace, Values: in.Values, Overrides: in.config.Overrides,
		SkipCRDs: in.config.SkipCRDs, SkipSchema: in.config.SkipSchemaValidation,
		Revision: out.next, Upgrade: out.upgrade(), REST: w.c.Config(),
	}
	if o.KubeVersion, err = w.c.Version(ctx); err != nil {
		return nil, errors.Wrap(err, "cannot get the version of the cluster")
	}
	if chart.NeedsAPIVersions(in.Values, in.config.Overrides) {
		if o.APIVersions, err = w.c.APIVersions(ctx); err != nil {
			return nil, errors.Wrap(err, "cannot get the API versions of the cluster")
		}
	}
	r, err := out.render(ctx, chart, o)
	if err != nil {
		return nil, err
	}
	objects, err := w.objectsOfChart(ctx, out, r)
	if err != nil {
		return nil, err
	}
	if w.s.RollingBack && !out.repair {
		if err := w.goBack(ctx, out, r.Pure); err != nil {
			return nil, err
		}
	}
	if out.backManifest != "" {
		if objects, err = render.ChartObjects([]byte(out.backManifest)); err != nil {
			return nil, errors.Wrapf(err, "record of release %s revision %d", in.home.Name, out.backTo)
		}
	}
	out.rendered = r
	w.planHooks(out)
	return append(append([]*unstructured.Unstructured{}, r.CRDs...), objects...), nil
}

// objectsOfChart: those that it renders, or those that are recorded, if it would render other ones each time.
func (w *work) objectsOfChart(ctx context.Context, out *planned, r *render.Rendered) ([]*unstructured.Unstructured, error) {
	switch {
	case r.Pure:
	case out.repair && out.rec.Revision > 0:
		return w.recorded(ctx, out.in.home, out.rec.Revision)
	case out.rec.Resumes(out.digest, w.s.Retry) && out.rec.Run.Recorded:
		return w.resumed(ctx, out, r)
	}
	return r.Objects, nil
}

// recorded objects of the last revision, for a chart that would render other ones today: with random values, say.
func (w *work) recorded(ctx context.Context, h inventory.Release, revision int) ([]*unstructured.Unstructured, error) {
	info, err := w.release(ctx, h, revision)
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, errors.Errorf("the record of release %s revision %d is gone, and the chart renders differently each time; "+
			"change a value to install a new revision", h.Name, revision)
	}
	objects, err := render.ChartObjects([]byte(info.Manifest))
	return objects, errors.Wrapf(err, "record of release %s revision %d", h.Name, revision)
}

// resumed are the objects and the hooks of a revision whose hooks run, for a chart that would render other ones today.
func (w *work) resumed(ctx context.Context, out *planned, r *render.Rendered) ([]*unstructured.Unstructured, error) {
	info, err := w.release(ctx, out.in.home, out.rec.Run.Revision)
	if err != nil || info == nil {
		return r.Objects, err
	}
	r.Hooks = info.Hooks()
	objects, err := render.ChartObjects([]byte(info.Manifest))
	return objects, errors.Wrapf(err, "record of release %s revision %d", out.in.home.Name, out.rec.Run.Revision)
}

// learn the kinds that definitions among the objects are about to add to the cluster.
func (w *work) learn(objects []*unstructured.Unstructured) {
	for _, u := range objects {
		if u.GroupVersionKind().GroupKind() != object.CRDKind {
			continue
		}
		for gvk, m := range kindsOf(u) {
			w.c.Learn(gvk, m)
		}
	}
}

// kindsOf a custom resource definition.
func kindsOf(crd *unstructured.Unstructured) map[schema.GroupVersionKind]cluster.Mapping {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	out := map[schema.GroupVersionKind]cluster.Mapping{}
	for _, v := range versions {
		m, ok := v.(map[string]any)
		if !ok || m["served"] != true {
			continue
		}
		if name, ok := m["name"].(string); ok && kind != "" && plural != "" {
			out[schema.GroupVersionKind{Group: group, Version: name, Kind: kind}] = cluster.Mapping{Resource: plural, Namespaced: scope == "Namespaced"}
		}
	}
	return out
}

// build what is sent of what was rendered.
func (w *work) build(ctx context.Context, out *planned, objects []*unstructured.Unstructured) error {
	labels := w.labels()
	seen := make(map[cluster.ObjectRef]bool, len(objects))
	for _, u := range objects {
		m, err := w.place(ctx, out.in, u)
		if err != nil {
			return err
		}
		if w.holdsInventories(u) {
			continue
		}
		if out.in != nil && !out.in.home.IsZero() {
			object.AddRelease(u, out.in.home.Name, out.in.home.Namespace)
		}
		object.AddLabels(u, labels)
		s := object.StageOf(u.GroupVersionKind().GroupKind())
		if out.resource != nil {
			s = object.StageResource
		}
		o, err := object.New(u, out.name, s)
		if err != nil {
			return err
		}
		if seen[o.Ref] {
			return errors.Errorf("%s is there twice", o.Ref)
		}
		if o.Ref == w.parentKey() {
			return errors.Errorf("%s has the name of the inventory of this set", o.Ref)
		}
		seen[o.Ref] = true
		o.KeepNamespaces = out.in != nil && out.in.keepNamespaces
		o.Recreate = out.in != nil && out.in.config.Force
		o.CRD = m.Resource + "." + o.Ref.Group
		out.objects = append(out.objects, o)
	}
	return nil
}

// holdsInventories says whether an object is the namespace of all inventories, which many modules bring along. It is no
// member of any set: the removal of one would take the inventories of all.
func (w *work) holdsInventories(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Namespace"} && u.GetName() == w.e.namespace
}

// place an object in its namespace.
func (w *work) place(ctx context.Context, in *installation, u *unstructured.Unstructured) (cluster.Mapping, error) {
	m, err := w.c.Mapping(ctx, u.GroupVersionKind())
	if err != nil {
		return cluster.Mapping{}, errors.Wrapf(err, "%s %s", u.GetKind(), strings.TrimPrefix(u.GetNamespace()+"/"+u.GetName(), "/"))
	}
	switch {
	case !m.Namespaced:
		u.SetNamespace("")
	case u.GetNamespace() != "":
	case in != nil:
		u.SetNamespace(in.namespace)
	default:
		u.SetNamespace("default")
	}
	return m, nil
}
