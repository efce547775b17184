// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// TestRefuse checks that schemes and credentials in references are rejected, that the notation of OCM is accepted, and that no
// password is printed.
func TestRefuse(t *testing.T) {
	d, err := ocm.New(ocm.Component{Name: "example.org/module/greeter", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, reference, want string
	}{
		"Scheme":         {"The error names a scheme.", "https://registry.example.org/m", "scheme https:// is not supported"},
		"SchemeOfOCM":    {"The error names a scheme in a reference to a component.", "http://registry.example.org/m//example.org/module/greeter:1.0.0", "scheme http:// is not supported"},
		"Credentials":    {"Credentials in a reference are refused.", "me:hunter2@registry.example.org/m", "must be a digest"},
		"CredentialsOCM": {"Credentials in a reference to a component are refused.", "me:hunter2@registry.example.org/m//example.org/module/greeter:1.0.0", "must be a digest"},
		"Both":           {"Credentials with a scheme are refused.", "https://me:hunter2@registry.example.org/m", "scheme https:// is not supported"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, located := locate(tc.reference)
			_, _, _, to := Destination(tc.reference, ocm.URLPath, d)
			for _, err := range []error{located, to} {
				if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("\n%s\n%s: want an error with %q and without the password, got %v", tc.reason, tc.reference, tc.want, err)
				}
			}
		})
	}
}
