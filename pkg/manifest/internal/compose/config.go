// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// A Config is what the config layer of a bundle says of its installs. The layer is fetched once, and only if an install has
// something to do. Until then a Config knows nothing. A Config must not be used concurrently before it is read.
type Config struct {
	bundle *bundle.Bundle

	read    bool
	entries map[string]configEntry
	err     error
}

// A configEntry is what a config says of one install, or why it cannot be done.
type configEntry struct {
	config.Settings

	err error
}

// NewConfig returns the Config of a bundle, which may have no config layer.
func NewConfig(b *bundle.Bundle) *Config {
	return &Config{bundle: b, read: b.Config == nil}
}

// Of returns an install of the bundle with what the config says of it.
func (c *Config) Of(ctx context.Context, in *bundle.Install) (*Installation, error) {
	if !c.read {
		c.entries, c.err = readConfig(ctx, c.bundle)
		c.read = true
	}
	e := c.entries[in.Name]
	switch {
	case c.err != nil:
		return nil, errors.Wrap(c.err, "config")
	case e.err != nil:
		return nil, errors.Wrap(e.err, "config")
	case in.Form != bundle.FormChart && len(e.Overrides) > 0:
		return nil, errors.Errorf("config: overrides are for charts, and this install is %s; take them out", in.Form.Title())
	}
	out := newInstallation(in, e.Settings)
	if c.bundle.Config == nil {
		return out, nil
	}
	return out, errors.Wrap(c.checkRelease(out), "config")
}

// checkRelease returns an error if the release of an installation is that of an install before it.
func (c *Config) checkRelease(in *Installation) error {
	for i := range c.bundle.Installs {
		other := &c.bundle.Installs[i]
		if other.Name == in.Name {
			return nil
		}
		if r := newInstallation(other, c.entries[other.Name].Settings).Release; r == in.Release && !r.IsZero() {
			return errors.Errorf("the Helm release %s in namespace %s is that of install %s too; give one of them another ReleaseName",
				r.Name, r.Namespace, other.Name)
		}
	}
	return nil
}

// Waits returns whether the parts after an install wait until it is ready. Known is false if the config has not been read, or
// cannot be read.
func (c *Config) Waits(install string) (waits, known bool) {
	if c.bundle.Config == nil || !c.read || c.err != nil {
		return false, false
	}
	return c.entries[install].Wait, true
}

// Adoption returns what a part adopts: as the bundle says for all parts, or as the config says, if it has been read.
func (c *Config) Adoption(part object.PartID) ownership.Adoption {
	switch {
	case c.bundle.Adopt:
		return ownership.AdoptAll
	case c.entries[part.Install()].TakeOwnership:
		return ownership.AdoptUnowned
	}
	return ownership.AdoptNone
}

// readConfig returns the entries of the config layer of a bundle by the names of its installs.
func readConfig(ctx context.Context, b *bundle.Bundle) (map[string]configEntry, error) {
	files, err := readYAML(ctx, b.Config)
	if err != nil {
		return nil, err
	}
	if len(files) > 1 {
		return nil, errors.Errorf("the layer has %d files of YAML, and must have one", len(files))
	}
	names := installNames(b)
	out := map[string]configEntry{}
	for _, f := range files {
		entries, err := config.Read(f.Data)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !slices.Contains(names, e.Name) {
				return nil, errors.Errorf("entry %q names no install; there is %s", e.Name, strings.Join(names, ", "))
			}
			settings, err := e.Parse()
			out[e.Name] = configEntry{Settings: settings, err: err}
		}
	}
	return out, nil
}

func installNames(b *bundle.Bundle) []string {
	names := make([]string, 0, len(b.Installs))
	for i := range b.Installs {
		names = append(names, b.Installs[i].Name)
	}
	return names
}
