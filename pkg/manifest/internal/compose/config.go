// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
)

// A Config is where the Settings of a bundle come from. The config layer is fetched once, when the settings are asked for first, which
// is only if an install has something to do. It is safe for concurrent use.
type Config struct {
	bundle *bundle.Bundle

	once     sync.Once
	settings Settings
	err      error
}

// NewConfig returns the Config of a bundle, which may have no config layer.
func NewConfig(b *bundle.Bundle) *Config { return &Config{bundle: b} }

// Settings returns what the config layer says. The error is the same each time.
func (c *Config) Settings(ctx context.Context) (Settings, error) {
	c.once.Do(func() { c.settings, c.err = readSettings(ctx, c.bundle) })
	return c.settings, c.err
}

// installation returns an install of the bundle with its settings.
func (c *Config) installation(ctx context.Context, in *bundle.Install) (*Installation, error) {
	s, err := c.Settings(ctx)
	if err != nil {
		return nil, err
	}
	return s.Of(in)
}

// Settings are what the config of a bundle says of its installs.
type Settings struct {
	bundle  *bundle.Bundle
	entries map[string]configEntry
}

// A configEntry is what a config says of one install, or why it cannot be done.
type configEntry struct {
	config.Settings

	err error
}

// readSettings reads the config layer of a bundle. Without one, the settings say nothing.
func readSettings(ctx context.Context, b *bundle.Bundle) (Settings, error) {
	if b.Config == nil {
		return Settings{bundle: b}, nil
	}
	entries, err := readConfig(ctx, b)
	return Settings{bundle: b, entries: entries}, errors.Wrap(err, "config")
}

// Of returns an install of the bundle with what the config says of it.
func (s Settings) Of(in *bundle.Install) (*Installation, error) {
	e := s.entries[in.Name]
	switch {
	case e.err != nil:
		return nil, errors.Wrap(e.err, "config")
	case in.Form != bundle.FormChart && len(e.Overrides) > 0:
		return nil, errors.Errorf("config: overrides are for charts, and this install is %s; take them out", in.Form.Title())
	}
	out := newInstallation(in, e.Settings)
	if s.bundle.Config == nil {
		return out, nil
	}
	return out, errors.Wrap(s.checkRelease(out), "config")
}

// checkRelease returns an error if the release of an installation is that of an install before it.
func (s Settings) checkRelease(in *Installation) error {
	for i := range s.bundle.Installs {
		other := &s.bundle.Installs[i]
		if other.Name == in.Name {
			return nil
		}
		if r := newInstallation(other, s.entries[other.Name].Settings).Release; r == in.Release && !r.IsZero() {
			return errors.Errorf("the Helm release %s in namespace %s is that of install %s too; give one of them another ReleaseName",
				r.Name, r.Namespace, other.Name)
		}
	}
	return nil
}

// Waits reports whether the parts after an install wait until it is ready.
func (s Settings) Waits(install string) bool { return s.entries[install].Wait }

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
