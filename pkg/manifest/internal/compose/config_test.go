// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// configLayer of one document.
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
		"None":    {reason: "Without a config an install is as it is.", want: want{namespace: "apps", release: web}},
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
			reason: "The namespace is that of the release, too.", args: args{config: configLayer("configs: [{name: web, clientConfig: Namespace=other}]")},
			want: want{namespace: "other", release: inventory.Release{Namespace: "other", Name: "web"}, config: config.Settings{Namespace: "other"}},
		},
		"Down":    {reason: "A layer that cannot be fetched is an error of each install.", args: args{config: down, install: 1}, want: want{err: "config: registry is down"}},
		"Unknown": {reason: "An entry for no install is an error of each install.", args: args{config: configLayer("configs: [{name: wep}]")}, want: want{err: `config: entry "wep" names no install; there is web, raw, extra`}},
		"Wrong": {
			reason: "A wrong entry is an error of its install.", args: args{config: configLayer("configs: [{name: web, clientConfig: Nonsense=1}]")},
			want: want{err: "config: clientConfig: Nonsense: is unknown; the keys are the fields of Helm's install action"},
		},
		"WrongOther": {
			reason: "It is not an error of other installs.", args: args{config: configLayer("configs: [{name: web, clientConfig: Nonsense=1}]"), install: 1},
			want: want{namespace: "apps"},
		},
		"Overrides": {
			reason: "Plain objects have no values.", args: args{config: configLayer("configs: [{name: raw, overrides: a=b}]"), install: 1},
			want: want{err: "config: overrides are for charts, and this install is plain objects; take them out"},
		},
		"SameRelease": {
			reason: "Two installs cannot have one release.", args: args{config: configLayer("configs: [{name: extra, clientConfig: ReleaseName=web}]"), install: 2},
			want: want{err: "config: the Helm release web in namespace apps is that of install web too; give one of them another ReleaseName"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &bundle.Bundle{Installs: []bundle.Install{chartOf("web"), plainOf("raw"), chartOf("extra")}, Config: tc.args.config}
			in, err := NewConfig(b).Of(t.Context(), &b.Installs[tc.args.install])
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

func TestAdoption(t *testing.T) {
	type args struct {
		adopt, read bool
		part        object.PartID
	}
	cases := map[string]struct {
		reason string
		args   args
		want   ownership.Adoption
	}{
		"Bundle":    {reason: "A bundle decides for all parts.", args: args{adopt: true, read: true, part: "web"}, want: ownership.AdoptAll},
		"Config":    {reason: "The config of an install adopts what has no owner.", args: args{read: true, part: "web"}, want: ownership.AdoptUnowned},
		"OtherPart": {reason: "It is the config of one install.", args: args{read: true, part: "raw"}, want: ownership.AdoptNone},
		"Unread":    {reason: "A config that has not been read says nothing.", args: args{part: "web"}, want: ownership.AdoptNone},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &bundle.Bundle{
				Installs: []bundle.Install{chartOf("web"), plainOf("raw")}, Adopt: tc.args.adopt,
				Config: configLayer("configs: [{name: web, clientConfig: TakeOwnership=true}]"),
			}
			c := NewConfig(b)
			if tc.args.read {
				if _, err := c.Of(t.Context(), &b.Installs[0]); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, c.Adoption(tc.args.part)); diff != "" {
				t.Errorf("\n%s\nAdoption(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWaits(t *testing.T) {
	type want struct{ Waits, Known bool }
	cases := map[string]struct {
		reason string
		config *source.Layer
		read   bool
		want   want
	}{
		"None":   {reason: "Without a config nothing is known.", read: true},
		"Unread": {reason: "A config that has not been read is not known.", config: configLayer("configs: [{name: web, clientConfig: Wait=true}]")},
		"Waits":  {reason: "It waits.", config: configLayer("configs: [{name: web, clientConfig: Wait=true}]"), read: true, want: want{Waits: true, Known: true}},
		"Not":    {reason: "It does not wait.", config: configLayer("configs: []"), read: true, want: want{Known: true}},
		"Broken": {reason: "A config that cannot be read is not known.", config: configLayer("{"), read: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &bundle.Bundle{Installs: []bundle.Install{chartOf("web")}, Config: tc.config}
			c := NewConfig(b)
			if tc.read {
				_, _ = c.Of(t.Context(), &b.Installs[0])
			}
			var got want
			got.Waits, got.Known = c.Waits("web")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nWaits(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
