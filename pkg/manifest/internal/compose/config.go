// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
)

// A Config provides the Settings of a bundle. It fetches the config layer once, on first use: if no install has anything to do,
// it fetches nothing. It is safe for concurrent use.
type Config struct {
	bundle *bundle.Bundle

	once     sync.Once
	settings Settings
	err      error
}

// NewConfig returns the Config of a bundle. The bundle may have no config layer.
func NewConfig(b *bundle.Bundle) *Config { return &Config{bundle: b} }

// Settings returns the settings in the config layer. If it fails, later calls return the same error.
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

// Settings contains the settings of the installs of a bundle from its config layer.
type Settings struct {
	bundle  *bundle.Bundle
	entries map[string]configEntry
}

// A configEntry contains the settings of one install, or the error of its entry.
type configEntry struct {
	config.Settings

	err error
}

// readSettings reads the config layer of a bundle. It returns no settings if the bundle has no config layer.
func readSettings(ctx context.Context, b *bundle.Bundle) (Settings, error) {
	if b.Config == nil {
		return Settings{bundle: b}, nil
	}
	entries, err := readConfig(ctx, b)
	return Settings{bundle: b, entries: entries}, errors.Wrap(err, "config")
}

// Of returns an install of the bundle with its settings.
func (s Settings) Of(in *bundle.Install) (*Installation, error) {
	e := s.entries[in.Name]
	switch {
	case e.err != nil:
		return nil, errors.Wrap(e.err, "config")
	case in.Form != bundle.FormChart && len(e.Overrides) > 0:
		return nil, errors.Errorf("config: overrides are only supported for charts, but this install is %s; remove them", in.Form.Title())
	}
	out := newInstallation(in, e.Settings)
	if s.bundle.Config == nil {
		return out, nil
	}
	return out, errors.Wrap(s.checkRelease(out), "config")
}

// checkRelease returns an error if an earlier install has the same release as an installation.
func (s Settings) checkRelease(in *Installation) error {
	for i := range s.bundle.Installs {
		other := &s.bundle.Installs[i]
		if other.Name == in.Name {
			return nil
		}
		if r := newInstallation(other, s.entries[other.Name].Settings).Release; r == in.Release && !r.IsZero() {
			return errors.Errorf("Helm release %s in namespace %s is also used by install %s; set another ReleaseName for one of them",
				r.Name, r.Namespace, other.Name)
		}
	}
	return nil
}

// Waits reports whether the parts after an install wait until it is ready.
func (s Settings) Waits(install string) bool { return s.entries[install].Wait }

// readConfig returns the entries of the config layer of a bundle by install name.
func readConfig(ctx context.Context, b *bundle.Bundle) (map[string]configEntry, error) {
	ctx, done := decoding.HoldArchive(ctx)
	defer done()
	files, err := readYAML(ctx, b.Config)
	if err != nil {
		return nil, err
	}
	if len(files) > 1 {
		return nil, errors.Errorf("the layer must contain exactly one YAML file, found %d", len(files))
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
				return nil, errors.Errorf("entry %q does not match any install; the installs are %s", e.Name, strings.Join(names, ", "))
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
