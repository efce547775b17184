// SPDX-License-Identifier: Apache-2.0

package manifest

import "testing"

func TestID(t *testing.T) {
	// SHA-256 of "team-a-web.kyma-system.Secret.", in base64 for URLs without padding, as KEP-3659 specifies.
	want := "applyset-avNIsNPAqJ-K-AGRbzQrd7Salf78lg0sMuS4mrJSUFc-v1"
	if got := New().ID(&Bundle{Name: "team-a-web"}); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	if got := New(WithInventoryNamespace("other")).ID(&Bundle{Name: "team-a-web"}); got == want {
		t.Error("the namespace must be part of the ID")
	}
}
