// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
)

const (
	// defaultNamespace of installs, which is that of the API.
	defaultNamespace = "default"
)

// readConfig reads what the config says of each install.
func (c *checker) readConfig(context.Context) error {
	c.configs = map[string]render.Config{}
	for _, e := range c.subject.Config {
		i := slices.IndexFunc(c.subject.Installs, func(in Install) bool { return in.Name == e.Name })
		if i < 0 {
			return errors.Errorf("config: entry %q names no install; there is %s", oneLine(e.Name), c.names())
		}
		if _, ok := c.configs[e.Name]; ok {
			return errors.Errorf("config: entry %q is there twice", e.Name)
		}
		parsed, err := e.Parse()
		if err != nil {
			return errors.Errorf("config: entry %q: %s", e.Name, oneLine(err.Error()))
		}
		if !c.subject.Installs[i].Chart && len(parsed.Overrides) > 0 {
			return errors.Errorf("config: entry %q: overrides are for charts, and this install is plain objects; take them out", e.Name)
		}
		c.configs[e.Name] = parsed
	}
	return nil
}

// names of the installs, for a message.
func (c *checker) names() string {
	names := make([]string, 0, len(c.subject.Installs))
	for i := range c.subject.Installs {
		names = append(names, c.subject.Installs[i].Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return oneLine(strings.Join(names, ", "))
}

// installs are rendered, one after the other.
func (c *checker) installs(ctx context.Context) error {
	releases := map[string]string{}
	for i := range c.subject.Installs {
		in := &c.subject.Installs[i]
		if in.Name == "" || strings.Contains(in.Name, ":") {
			return errors.Errorf("install %q at index %d: a name is needed, and no colon in it", in.Name, i)
		}
		if _, ok := c.objects[in.Name]; ok {
			return errors.Errorf("install %q is there twice: give one of them another name", in.Name)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		namespace := or(c.configs[in.Name].Namespace, defaultNamespace)
		if in.Chart {
			release := or(c.configs[in.Name].ReleaseName, in.Name) + " in namespace " + namespace
			if other, ok := releases[release]; ok {
				return errors.Errorf("install %q: its Helm release %s is that of install %q too: give one of them another ReleaseName",
					in.Name, release, other)
			}
			releases[release] = in.Name
		}
		objects, err := c.render(ctx, in, namespace)
		if err != nil {
			return errors.Wrapf(err, "install %q", in.Name)
		}
		c.objects[in.Name] = objects
		if err := c.take(ctx, in.Name, namespace, objects); err != nil {
			return errors.Wrapf(err, "install %q", in.Name)
		}
	}
	return nil
}

func (c *checker) render(ctx context.Context, in *Install, namespace string) ([]*unstructured.Unstructured, error) {
	if in.Chart {
		return c.renderChart(ctx, in, namespace)
	}
	objects, err := objectsOf(in.Files)
	if err == nil && len(objects) == 0 {
		err = errors.New("there is no object in it")
	}
	return objects, err
}

func (c *checker) renderChart(ctx context.Context, in *Install, namespace string) ([]*unstructured.Unstructured, error) {
	files := make([]render.File, len(in.Files))
	for i, f := range in.Files {
		files[i] = render.File(f)
	}
	chart, err := render.Load(files)
	if err != nil {
		return nil, err
	}
	config := c.configs[in.Name]
	r, err := chart.Render(ctx, render.Options{
		ReleaseName: or(config.ReleaseName, in.Name), Namespace: namespace,
		Overrides: config.Overrides, SkipCRDs: config.SkipCRDs, KubeVersion: chart.KubeVersion(),
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(r.CRDs, r.Objects), nil
}

// objectsOf files of YAML.
func objectsOf(files []oci.File) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, f := range files {
		objects, err := render.Objects(f.Data)
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
