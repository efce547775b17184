// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// configLayer returns a layer of one document.
func configLayer(text string) *source.Layer {
	l := layerOf("config.yaml", text)
	return &l
}

func TestConfigOf(t *testing.T) {
	type args struct {
		config  *source.Layer
		install int
	}
	type want struct {
		namespace string
		release   inventory.Release
		keeps     bool
		config    config.Settings
		err       string
	}
	flags := bundle.ConfigOf(map[string]bundle.Flags{"web": {
		ReleaseName: "other", CreateNamespace: new(false), SkipCRDs: true, DisableHooks: true, Timeout: time.Minute, Wait: true, SkipSchemaValidation: true,
	}})
	noFlags := bundle.ConfigOf(nil)
	down := &source.Layer{Digest: "x", Fetch: func(context.Context) (source.Content, error) { return source.Content{}, errors.New("registry is down") }}
	web := inventory.Release{Namespace: "apps", Name: "web"}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"None":    {reason: "Without a config, an install uses its own settings.", want: want{namespace: "apps", release: web}},
		"NoFlags": {reason: "An empty config changes nothing.", args: args{config: &noFlags}, want: want{namespace: "apps", release: web}},
		"Plain":   {reason: "Plain objects have no release.", args: args{install: 1}, want: want{namespace: "apps"}},
		"Flags": {
			reason: "Each flag is kept.", args: args{config: &flags},
			want: want{
				namespace: "apps", release: inventory.Release{Namespace: "apps", Name: "other"}, keeps: true,
				config: config.Settings{ReleaseName: "other", CreateNamespace: new(false), SkipCRDs: true, DisableHooks: true, Timeout: time.Minute, Wait: true, SkipSchemaValidation: true},
			},
		},
		"Namespace": {
			reason: "The namespace also applies to the release.", args: args{config: configLayer("configs: [{name: web, clientConfig: Namespace=other}]")},
			want: want{namespace: "other", release: inventory.Release{Namespace: "other", Name: "web"}, config: config.Settings{Namespace: "other"}},
		},
		"Down":    {reason: "If the layer cannot be fetched, each install fails.", args: args{config: down, install: 1}, want: want{err: "config: registry is down"}},
		"Unknown": {reason: "If an entry names no install, each install fails.", args: args{config: configLayer("configs: [{name: wep}]")}, want: want{err: `config: entry "wep" does not match any install; the installs are web, raw, extra`}},
		"Wrong": {
			reason: "If an entry is invalid, its install fails.", args: args{config: configLayer("configs: [{name: web, clientConfig: Nonsense=1}]")},
			want: want{err: "config: clientConfig: Nonsense: unknown key; the keys are the fields of Helm's install action"},
		},
		"WrongOther": {
			reason: "Other installs do not fail.", args: args{config: configLayer("configs: [{name: web, clientConfig: Nonsense=1}]"), install: 1},
			want: want{namespace: "apps"},
		},
		"Overrides": {
			reason: "Plain objects have no values.", args: args{config: configLayer("configs: [{name: raw, overrides: a=b}]"), install: 1},
			want: want{err: "config: overrides are only supported for charts, but this install is plain objects; remove them"},
		},
		"SameRelease": {
			reason: "Two installs cannot have the same release.", args: args{config: configLayer("configs: [{name: extra, clientConfig: ReleaseName=web}]"), install: 2},
			want: want{err: "config: Helm release web in namespace apps is also used by install web; set another ReleaseName for one of them"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &bundle.Bundle{Installs: []bundle.Install{chartOf("web"), plainOf("raw"), chartOf("extra")}, Config: tc.args.config}
			in, err := NewConfig(b).installation(t.Context(), &b.Installs[tc.args.install])
			got := want{err: textOf(err)}
			if err == nil {
				got = want{namespace: in.Namespace, release: in.Release, keeps: in.KeepNamespaces, config: in.Config}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// The layer is fetched when the settings are first needed, and never again.
func TestConfigSettings(t *testing.T) {
	type want struct {
		Web, Raw bool
		Fetched  int
		Err      string
	}
	cases := map[string]struct {
		reason string
		config *source.Layer
		want   want
	}{
		"None":   {reason: "Without a config, no parts wait for an install."},
		"Waits":  {reason: "For each install, the config specifies whether later parts wait for it.", config: configLayer("configs: [{name: web, clientConfig: Wait=true}]"), want: want{Web: true, Fetched: 1}},
		"Broken": {reason: "A config that cannot be read causes the same error each time.", config: configLayer("{"), want: want{Fetched: 1, Err: "config: "}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got want
			if tc.config != nil {
				fetch := tc.config.Fetch
				tc.config.Fetch = func(ctx context.Context) (source.Content, error) {
					got.Fetched++
					return fetch(ctx)
				}
			}
			c := NewConfig(&bundle.Bundle{Installs: []bundle.Install{chartOf("web"), plainOf("raw")}, Config: tc.config})
			if got.Fetched > 0 {
				t.Errorf("\n%s\nthe layer is fetched although nothing was asked", tc.reason)
			}
			_, _ = c.Settings(t.Context())
			s, err := c.Settings(t.Context())
			got.Web, got.Raw = s.Waits("web"), s.Waits("raw")
			if got.Err = textOf(err); strings.HasPrefix(got.Err, "config: ") {
				got.Err = "config: "
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSettings(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Each object has its own adoption.
func TestAdoption(t *testing.T) {
	cases := map[string]struct {
		reason string
		adopt  bool
		part   object.PartID
		want   object.Adoption
	}{
		"Bundle":       {reason: "A bundle decides for all parts.", adopt: true, part: "web", want: object.AdoptAll},
		"BundleOther":  {reason: "A bundle decides for parts that are not installs, too.", adopt: true, part: object.PartResource, want: object.AdoptAll},
		"Config":       {reason: "The config of an install adopts objects without an owner.", part: "web", want: object.AdoptUnowned},
		"OtherInstall": {reason: "The config applies to one install.", part: "raw", want: object.AdoptNone},
		"OtherPart":    {reason: "A part that is not an install has no config.", part: object.PartResource, want: object.AdoptNone},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &bundle.Bundle{
				Installs: []bundle.Install{chartOf("web", configMap("a")), plainOf("raw", configMap("b"))}, Adopt: tc.adopt,
				Resource: unmarshal(t, configMap("r")), Config: configLayer("configs: [{name: web, clientConfig: TakeOwnership=true}]"),
			}
			c, err := composerOf(b).Compose(t.Context(), partOf(t, b, tc.part), inventory.Part{})
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Objects) != 1 || c.Objects[0].Adoption != tc.want || (c.Install != nil && c.Desired.Adopts != tc.want) {
				t.Errorf("\n%s\nCompose(...): want adoption %d, got %d of the release and %+v", tc.reason, tc.want, c.Desired.Adopts, c.Objects)
			}
		})
	}
}
