// SPDX-License-Identifier: Apache-2.0

package object

import (
	"strings"
	"testing"
)

func TestValidateIdentity(t *testing.T) {
	const value = "for label operator.kyma-project.io/managed-by"
	cases := map[string]struct {
		reason string
		id     Identity
		want   string
	}{
		"Default":     {reason: "The default is valid.", id: DefaultIdentity()},
		"Longest":     {reason: "A field manager can be longer than a label value.", id: Identity{strings.Repeat("m", 128), strings.Repeat("l", 63)}},
		"AnyText":     {reason: "A field manager can contain any printable text.", id: Identity{"My operator (é)", "my.operator_1"}},
		"NoManager":   {reason: "The API server would choose a field manager if it were empty.", id: Identity{"", "x"}, want: "no field manager"},
		"LongManager": {reason: "The API server refuses more than 128 characters.", id: Identity{strings.Repeat("m", 129), "x"}, want: "field manager"},
		"Unprintable": {reason: "The API server refuses characters that are not printable.", id: Identity{"a\nb", "x"}, want: "field manager"},
		"NoLabel":     {reason: "Watches select by the label, so it needs a value.", id: Identity{"x", ""}, want: "no value for label"},
		"LongLabel":   {reason: "A label value has at most 63 characters.", id: Identity{"x", strings.Repeat("l", 64)}, want: value},
		"Slash":       {reason: "A label value cannot contain a slash.", id: Identity{"x", "a/b"}, want: value},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.id.Validate()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nValidate(): want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
