// SPDX-License-Identifier: Apache-2.0

package signing

import (
	"slices"
	"testing"
)

func TestImageArguments(t *testing.T) {
	cases := map[string]struct {
		reason    string
		reference string
		http      bool
	}{
		"Remote":    {reason: "A remote registry must use TLS.", reference: "registry.example.org/a/b@sha256:aa"},
		"Port":      {reason: "A port does not change that.", reference: "registry.example.org:5000/a@sha256:aa"},
		"Loopback":  {reason: "A local registry can use plain HTTP.", reference: "127.0.0.1:5000/a@sha256:aa", http: true},
		"Localhost": {reason: "This name is local, too.", reference: "localhost:5000/a@sha256:aa", http: true},
		"Similar":   {reason: "A name that begins like a local one is remote.", reference: "localhost.example.org/a@sha256:aa"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := imageArguments("cosign.key", tc.reference)
			if http := slices.Contains(got, "--allow-http-registry"); http != tc.http {
				t.Errorf("\n%s\nimageArguments(%q): want HTTP %t, got %q", tc.reason, tc.reference, tc.http, got)
			}
			if got[0] != "sign" || got[len(got)-1] != tc.reference {
				t.Errorf("\n%s\nimageArguments(%q): got %q", tc.reason, tc.reference, got)
			}
		})
	}
}
