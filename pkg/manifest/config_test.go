// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// configOf returns entries as a layer.
func configOf(entries ...string) *source.Layer {
	lines := []string{"configs:"}
	for _, e := range entries {
		lines = append(lines, "- "+e)
	}
	l := layerOf([]source.File{{Name: "layer.yaml", Data: []byte(strings.Join(lines, "\n"))}})
	return &l
}

// entryFor returns the entry of an install.
func entryFor(name, clientConfig, overrides string) string {
	return fmt.Sprintf("{name: %s, clientConfig: %q, overrides: %q}", name, clientConfig, overrides)
}

func configuredBundle(entries ...string) *Bundle {
	s := bundleOf(install("web", tmplConfig, "crds/"+tmplCRD), install("extra", configMap("one")), plainOf("raw", configMap("two")))
	s.Config = configOf(entries...)
	return s
}

func TestConfig(t *testing.T) {
	const hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install, helm.sh/hook-delete-policy: hook-succeeded}}\n"
	rest := []string{"ConfigMap apps/one", "ConfigMap apps/two", "Secret apps/sh.helm.release.v1.extra.v1", "Secret kyma-system/team-a-web"}
	widgetCRD := "CustomResourceDefinition widgets.example.org"
	cases := map[string]struct {
		reason   string
		entry    string
		set      func(s *Bundle)
		want     []string
		greeting string
		hooks    int
	}{
		"Nothing": {
			reason:   "Without an entry, an install uses its own settings.",
			entry:    entryFor("extra", "", ""),
			want:     append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.web.v1", widgetCRD),
			greeting: "hello",
		},
		"Namespace": {
			reason:   "The release and its objects are in the namespace of the config, which is created.",
			entry:    entryFor("web", "Namespace=other,CreateNamespace=true", "greeting=hi"),
			want:     append(rest, "ConfigMap other/web", "Secret other/sh.helm.release.v1.web.v1", widgetCRD, "Namespace other"),
			greeting: "hi",
		},
		"NamespaceOfPlain": {
			reason:   "Plain objects are in the namespace of the config, too.",
			entry:    entryFor("raw", "Namespace=other,ReleaseName=no,SkipCRDs=true", ""),
			want:     []string{"ConfigMap apps/one", "ConfigMap other/two", "Secret apps/sh.helm.release.v1.extra.v1", "Secret kyma-system/team-a-web", "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.web.v1", widgetCRD, "Namespace other"},
			greeting: "hello",
		},
		"ReleaseName": {
			reason:   "The release has the name from the config, and the install keeps its own.",
			entry:    entryFor("web", "ReleaseName=named", ""),
			want:     append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.named.v1", widgetCRD),
			greeting: "hello",
		},
		"SkipCRDs": {
			reason:   "The CRDs of the chart are left out.",
			entry:    entryFor("web", "SkipCRDs=true", ""),
			want:     append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.web.v1"),
			greeting: "hello",
		},
		"Values": {
			reason:   "The values of the Manifest take precedence.",
			entry:    entryFor("web", "", "greeting=config"),
			set:      func(s *Bundle) { s.Installs[0].Values = map[string]any{"greeting": "mine"} },
			want:     append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.web.v1", widgetCRD),
			greeting: "mine",
		},
		"Hooks": {
			reason:   "Hooks can be disabled.",
			entry:    entryFor("web", "DisableHooks=true", ""),
			set:      func(s *Bundle) { s.Installs[0] = install("web", tmplConfig, hook) },
			want:     append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.web.v1"),
			greeting: "hello",
		},
		"HooksRun": {
			reason:   "Hooks that are not disabled run.",
			entry:    entryFor("web", "Timeout=5m", ""),
			set:      func(s *Bundle) { s.Installs[0] = install("web", tmplConfig, hook) },
			want:     append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.web.v1"),
			greeting: "hello",
			hooks:    1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := configuredBundle(tc.entry)
			if tc.set != nil {
				tc.set(s)
			}
			r := b.apply(s)
			want := slices.Sorted(slices.Values(append(tc.want, "Namespace apps")))
			if diff := cmp.Diff(want, b.s.keys()); diff != "" {
				t.Errorf("\n%s\ncluster: -want, +got:\n%s", tc.reason, diff)
			}
			for _, ns := range []string{"apps", "other"} {
				if o := b.s.objects[key("ConfigMap", ns, "web")]; o != nil && o.content["data"].(map[string]any)["greeting"] != tc.greeting {
					t.Errorf("\n%s\ngreeting: want %s, got %v", tc.reason, tc.greeting, o.content["data"])
				}
			}
			if diff := cmp.Diff(tc.hooks, r.HooksRun); diff != "" {
				t.Errorf("\n%s\nhooks that were run: -want, +got:\n%s", tc.reason, diff)
			}
			b.restart()
			if o := b.observe(s); !o.UpToDate || o.State != Ready || len(o.Parts) != 3 || o.Parts[0].Install != "web" {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}

			// The config is no longer needed.
			s.Config.Fetch = func(context.Context) (source.Content, error) { return source.Content{}, errors.New("no longer exists") }
			b.apply(s)
			if r := b.take(s); !r.Gone {
				t.Fatalf("\n%s\nremoval: %+v", tc.reason, r)
			}
			left := slices.DeleteFunc(b.s.keys(), func(k string) bool { return strings.HasPrefix(k, "Namespace ") })
			if len(left) != 0 {
				t.Errorf("\n%s\nleft after removal: %q", tc.reason, left)
			}
		})
	}
}

func TestConfigChanges(t *testing.T) {
	rest := []string{"ConfigMap apps/one", "ConfigMap apps/two", "CustomResourceDefinition widgets.example.org", "Secret apps/sh.helm.release.v1.extra.v1", "Secret kyma-system/team-a-web"}
	cases := map[string]struct {
		reason string
		from   string
		to     string
		want   []string
	}{
		"Renamed": {
			reason: "A release that is renamed ends under the old name, with all its revisions.",
			from:   entryFor("web", "ReleaseName=old", ""), to: entryFor("web", "ReleaseName=new", ""),
			want: append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.new.v1"),
		},
		"Moved": {
			reason: "A release that moves ends in the old namespace, and its objects move with it.",
			from:   entryFor("web", "Namespace=other,ReleaseName=old", ""), to: entryFor("web", "", ""),
			want: append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.web.v1", "Namespace other"),
		},
		"Overrides": {
			reason: "Other values make another revision.",
			from:   entryFor("web", "ReleaseName=r", ""), to: entryFor("web", "ReleaseName=r", "greeting=hi"),
			want: append(rest, "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.r.v1", "Secret apps/sh.helm.release.v1.r.v2"),
		},
		"Skipped": {
			reason: "CRDs that are no longer wanted are deleted.",
			from:   entryFor("web", "", ""), to: entryFor("web", "SkipCRDs=true", ""),
			want: []string{"ConfigMap apps/one", "ConfigMap apps/two", "ConfigMap apps/web", "Secret apps/sh.helm.release.v1.extra.v1", "Secret apps/sh.helm.release.v1.web.v1", "Secret apps/sh.helm.release.v1.web.v2", "Secret kyma-system/team-a-web"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(configuredBundle(tc.from))
			b.restart()
			s := configuredBundle(tc.to)
			b.reconcile(s)
			// Installs that the config does not name are applied again, too, because the config is part of their inputs, but do
			// not change.
			got := slices.DeleteFunc(b.s.keys(), func(k string) bool { return k == "Namespace apps" || k == "Secret apps/sh.helm.release.v1.extra.v2" })
			if diff := cmp.Diff(slices.Sorted(slices.Values(tc.want)), got); diff != "" {
				t.Errorf("\n%s\ncluster: -want, +got:\n%s", tc.reason, diff)
			}
			if r := b.take(s); !r.Gone {
				t.Fatalf("\n%s\nremoval: %+v", tc.reason, r)
			}
			left := slices.DeleteFunc(b.s.keys(), func(k string) bool { return strings.HasPrefix(k, "Namespace ") })
			if len(left) != 0 {
				t.Errorf("\n%s\nleft after removal: %q", tc.reason, left)
			}
		})
	}
}

func TestConfigRefusals(t *testing.T) {
	none := &source.Layer{Digest: "x", Fetch: func(context.Context) (source.Content, error) {
		return source.Content{Files: func() ([]source.File, error) { return nil, nil }}, nil
	}}
	gone := &source.Layer{Digest: "x", Fetch: func(context.Context) (source.Content, error) { return source.Content{}, errors.New("registry is down") }}
	two := layerOf([]source.File{{Name: "a.yaml"}, {Name: "b.yaml"}})
	cases := map[string]struct {
		reason string
		config *source.Layer
		want   string
		good   bool // Whether the install extra is applied.
	}{
		"Empty":      {reason: "An empty layer changes nothing.", config: none, good: true},
		"Unknown":    {reason: "The error names the key, and only its install fails.", config: configOf(entryFor("web", "Nonsense=1", "")), want: "web: config: clientConfig: Nonsense: unknown key; the keys are the fields of Helm's install action", good: true},
		"NoInstall":  {reason: "An entry that names no install cannot be assigned to one, so all installs fail.", config: configOf(entryFor("wep", "", "")), want: `extra: config: entry "wep" does not match any install; the installs are web, extra, raw; raw: config: entry "wep" does not match any install; the installs are web, extra, raw; web: config: entry "wep" does not match any install; the installs are web, extra, raw`},
		"Plain":      {reason: "Plain objects have no values.", config: configOf(entryFor("raw", "", "a=b")), want: "raw: config: overrides are only supported for charts, but this install is plain objects; remove them", good: true},
		"Namespace":  {reason: "The error explains that a missing namespace must not be created.", config: configOf(entryFor("web", "Namespace=other,CreateNamespace=false", "")), want: "web: ConfigMap other/web: namespace other does not exist, and the config layer sets CreateNamespace=false; create the namespace", good: true},
		"SameName":   {reason: "Two installs cannot share a release.", config: configOf(entryFor("extra", "ReleaseName=web", "")), want: "extra: config: Helm release web in namespace apps is also used by install web; set another ReleaseName for one of them"},
		"Elsewhere":  {reason: "Two installs can have the same release name in different namespaces.", config: configOf(entryFor("extra", "ReleaseName=web,Namespace=other", ""), entryFor("web", "", "")), good: true},
		"Registry":   {reason: "The error says why the layer cannot be fetched.", config: gone, want: "extra: config: registry is down; raw: config: registry is down; web: config: registry is down"},
		"TwoFiles":   {reason: "The engine would have to ignore one of the files.", config: &two, want: "extra: config: the layer must contain exactly one YAML file, found 2; raw: config: the layer must contain exactly one YAML file, found 2; web: config: the layer must contain exactly one YAML file, found 2"},
		"ConfigLess": {reason: "A config needs a digest.", config: &source.Layer{}, want: "config has no digest"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := configuredBundle()
			s.Config = tc.config
			_, err := b.Apply(t.Context(), b.c, s)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			there := b.s.uidOf(key("ConfigMap", "apps", "one")) != "" || b.s.uidOf(key("ConfigMap", "other", "one")) != ""
			if there != tc.good {
				t.Errorf("\n%s\nthe install extra is there: want %v, got %v", tc.reason, tc.good, there)
			}
		})
	}
}

// TestConfigIsFetchedWhenNeeded counts how often the config is fetched.
func TestConfigIsFetchedWhenNeeded(t *testing.T) {
	b := newBench(t)
	s := configuredBundle(entryFor("web", "Namespace=other", ""))
	fetch, fetched := s.Config.Fetch, 0
	s.Config.Fetch = func(ctx context.Context) (source.Content, error) { fetched++; return fetch(ctx) }
	b.apply(s)
	if fetched != 1 {
		t.Errorf("once for all installs: fetched %d times", fetched)
	}
	b.restart()
	b.observe(s)
	b.apply(s)
	if fetched != 1 {
		t.Errorf("nothing was to do: fetched %d times", fetched)
	}
	b.s.remove(key("ConfigMap", "other", "web"))
	if r := b.apply(s); len(r.Repaired) != 1 || fetched != 2 {
		t.Errorf("a repair must know the namespace: %+v, fetched %d times", r, fetched)
	}
}
