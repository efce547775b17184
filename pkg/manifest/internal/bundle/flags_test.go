// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConfigOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		flags  map[string]Flags
		want   string
	}{
		"None":    {reason: "Without installs the config is empty.", want: `{"configs":[]}`},
		"Default": {reason: "Flags at their default change nothing.", flags: map[string]Flags{"web": {}}, want: `{"configs":[{"name":"web","clientConfig":""}]}`},
		"All": {
			reason: "Each flag is written in the syntax of helm --set.",
			flags: map[string]Flags{"web": {
				ReleaseName: "a,b", CreateNamespace: new(false), SkipCRDs: true, DisableHooks: true, Timeout: time.Minute, Wait: true, SkipSchemaValidation: true,
			}},
			want: `{"configs":[{"name":"web","clientConfig":"ReleaseName=a\\,b,CreateNamespace=false,Timeout=1m0s,SkipCRDs=true,DisableHooks=true,Wait=true,SkipSchemaValidation=true"}]}`,
		},
		"Order": {
			reason: "Installs are sorted by name, so that the digest is always the same.",
			flags:  map[string]Flags{"b": {Wait: true}, "a": {}},
			want:   `{"configs":[{"name":"a","clientConfig":""},{"name":"b","clientConfig":"Wait=true"}]}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := ConfigOf(tc.flags)
			content, err := l.Fetch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			files, err := content.Files()
			if err != nil || len(files) != 1 {
				t.Fatalf("%d files, %v", len(files), err)
			}
			if diff := cmp.Diff(tc.want, string(files[0].Data)); diff != "" {
				t.Errorf("\n%s\nConfigOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
