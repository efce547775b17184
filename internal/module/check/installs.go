// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// defaultNamespace is the default namespace of installs in the API.
const defaultNamespace = "default"

// readConfigs returns the settings of each install in the config.
func readConfigs(entries []config.Entry, installs []Install) (map[string]config.Settings, error) {
	out := map[string]config.Settings{}
	for _, e := range entries {
		i := slices.IndexFunc(installs, func(in Install) bool { return in.Name == e.Name })
		if i < 0 {
			return nil, errors.Errorf("config: entry %q does not match any install; the installs are %s", oneLine(e.Name), namesOf(installs))
		}
		if _, ok := out[e.Name]; ok {
			return nil, errors.Errorf("config: entry %q is listed twice", e.Name)
		}
		parsed, err := e.Parse()
		if err != nil {
			return nil, errors.Errorf("config: entry %q: %s", e.Name, oneLine(err.Error()))
		}
		if !installs[i].Chart && len(parsed.Overrides) > 0 {
			return nil, errors.Errorf("config: entry %q: overrides are only supported for charts, but this install consists "+
				"of plain objects; remove them", e.Name)
		}
		out[e.Name] = parsed
	}
	return out, nil
}

// namesOf returns the names of the installs, for a message.
func namesOf(installs []Install) string {
	names := make([]string, 0, len(installs))
	for i := range installs {
		names = append(names, installs[i].Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return oneLine(strings.Join(names, ", "))
}

// checkInstalls renders the installs one after the other, adds their objects to found, and returns their objects and
// hooks.
func checkInstalls(
	ctx context.Context, installs []Install, configs map[string]config.Settings, found contents, w *warnings,
) (*Result, error) {
	out, releases := &Result{Objects: map[string][]*unstructured.Unstructured{}}, map[string]string{}
	for i := range installs {
		in := &installs[i]
		if in.Name == "" || strings.Contains(in.Name, ":") {
			return nil, errors.Errorf("install at index %d: name %q must not be empty and must not contain a colon", i, in.Name)
		}
		if _, ok := out.Objects[in.Name]; ok {
			return nil, errors.Errorf("install %q is listed twice; rename or remove one of them", in.Name)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		settings := configs[in.Name]
		settings.Namespace, settings.ReleaseName = or(settings.Namespace, defaultNamespace), or(settings.ReleaseName, in.Name)
		if in.Chart {
			release := settings.ReleaseName + " in namespace " + settings.Namespace
			if other, ok := releases[release]; ok {
				return nil, errors.Errorf("install %q: its Helm release %s is also used by install %q; set another ReleaseName for one of them",
					in.Name, release, other)
			}
			releases[release] = in.Name
		}
		objects, hooks, err := renderInstall(ctx, in, settings)
		if err == nil {
			err = found.add(ctx, in.Name, settings.Namespace, objects, w)
		}
		if err != nil {
			return nil, errors.Wrapf(err, "install %q", in.Name)
		}
		out.Objects[in.Name] = objects
		for i := range hooks {
			out.Hooks = append(out.Hooks, hooks[i].Manifest)
		}
	}
	return out, nil
}

func renderInstall(
	ctx context.Context, in *Install, settings config.Settings,
) (objects []*unstructured.Unstructured, hooks []record.Hook, err error) {
	if in.Chart {
		return renderChart(ctx, in.Files, settings)
	}
	objects, err = objectsOf(in.Files)
	if err == nil && len(objects) == 0 {
		err = errors.New("no objects found")
	}
	return objects, nil, err
}

func renderChart(
	ctx context.Context, in []archive.File, settings config.Settings,
) (objects []*unstructured.Unstructured, hooks []record.Hook, err error) {
	files := make([]input.File, len(in))
	for i, f := range in {
		files[i] = input.File(f)
	}
	chart, err := render.Load(files)
	if err != nil {
		return nil, nil, err
	}
	r, err := chart.Render(ctx, render.Options{
		ReleaseName: settings.ReleaseName, Namespace: settings.Namespace,
		Overrides: settings.Overrides, SkipCRDs: settings.SkipCRDs, KubeVersion: chart.KubeVersion(),
	})
	if err != nil {
		return nil, nil, err
	}
	return slices.Concat(r.CRDs, r.Objects), r.Hooks, nil
}

// objectsOf returns the objects in files of YAML.
func objectsOf(files []archive.File) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, f := range files {
		objects, err := yamldoc.Objects(f.Data)
		if err != nil {
			return nil, errors.Wrap(err, oneLine(f.Name))
		}
		out = append(out, objects...)
	}
	return out, nil
}

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}
