// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// An installation is an install with what the config of the set says of it.
type installation struct {
	*Install

	// namespace of the objects that name none.
	namespace string
	// home of the release; none for what is no chart.
	home inventory.Release
	// keepNamespaces says that a namespace that is missing is not created.
	keepNamespaces bool
	config         render.Config
}

// configs is what the config of a set says of each install, by name; or why it cannot be read.
type configs struct {
	by  map[string]configured
	err error
}

// configured is what is said of one install, or why it cannot be done.
type configured struct {
	render.Config

	err error
}

// configure an install. The config is fetched once in a step, and only if an install has something to do.
func (w *work) configure(ctx context.Context, in *Install) (*installation, error) {
	if w.s.Config != nil && w.configs == nil {
		w.configs = &configs{}
		w.configs.by, w.configs.err = w.readConfigs(ctx)
	}
	if w.configs == nil {
		return installationOf(in, render.Config{}), nil
	}
	if err := w.configs.err; err != nil {
		return nil, errors.Wrap(err, "config")
	}
	c := w.configs.by[in.Name]
	if c.err != nil {
		return nil, errors.Wrap(c.err, "config")
	}
	if in.Form != FormChart && len(c.Overrides) > 0 {
		return nil, errors.Errorf("config: overrides are for charts, and this install is %s; take them out", in.Form.title())
	}
	out := installationOf(in, c.Config)
	return out, errors.Wrap(w.distinct(out), "config")
}

func installationOf(in *Install, c render.Config) *installation {
	out := &installation{Install: in, namespace: cmp.Or(c.Namespace, in.Namespace), config: c}
	out.keepNamespaces = c.CreateNamespace != nil && !*c.CreateNamespace
	if in.Form == FormChart {
		out.home = inventory.Release{Namespace: out.namespace, Name: cmp.Or(c.ReleaseName, in.Name)}
	}
	return out
}

// distinct refuses an install whose release is that of an install before it.
func (w *work) distinct(in *installation) error {
	for i := range w.s.Installs {
		other := &w.s.Installs[i]
		if other.Name == in.Name {
			return nil
		}
		if h := installationOf(other, w.configs.by[other.Name].Config).home; h == in.home && !h.IsZero() {
			return errors.Errorf("the Helm release %s in namespace %s is that of install %s too; give one of them another ReleaseName",
				h.Name, h.Namespace, other.Name)
		}
	}
	return nil
}

func (w *work) readConfigs(ctx context.Context) (map[string]configured, error) {
	content, err := w.s.Config.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	files, err := content.Files()
	if err != nil {
		return nil, err
	}
	files = yamlFiles(files)
	if len(files) > 1 {
		return nil, errors.Errorf("the layer has %d files of YAML, and must have one", len(files))
	}
	out := map[string]configured{}
	for _, f := range files {
		entries, err := render.Configs(f.Data)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !w.hasInstall(e.Name) {
				return nil, errors.Errorf("entry %q names no install; there is %s", e.Name, w.installNames())
			}
			c, err := e.Parse()
			out[e.Name] = configured{Config: c, err: err}
		}
	}
	return out, nil
}

// adopts says whether a part takes over what exists already: as all of the set do, or as its config says, which was read
// when it was planned.
func (w *work) adopts(partName string) bool {
	return w.s.Adopt || (w.configs != nil && w.configs.by[partName].TakeOwnership)
}

// adoptsFrom an owner, which is another set, or empty for nobody that is known. The config of an install comes with a module,
// and what belongs to another module is not its to take: that is the say of the set.
func (w *work) adoptsFrom(partName, owner string) bool {
	return w.s.Adopt || owner == "" && w.adopts(partName)
}

func (w *work) hasInstall(name string) bool {
	for i := range w.s.Installs {
		if w.s.Installs[i].Name == name {
			return true
		}
	}
	return false
}

func (w *work) installNames() string {
	names := make([]string, 0, len(w.s.Installs))
	for i := range w.s.Installs {
		names = append(names, w.s.Installs[i].Name)
	}
	return strings.Join(names, ", ")
}
