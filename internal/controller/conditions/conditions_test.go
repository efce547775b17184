// SPDX-License-Identifier: Apache-2.0

package conditions

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncate(t *testing.T) {
	if got := Truncate("short", MaxMessage); got != "short" {
		t.Errorf("Truncate(...): want a short text as it is, got %q", got)
	}
	for n := range 4 {
		got := Truncate(strings.Repeat("a", n)+strings.Repeat("€", MaxMessage), MaxMessage)
		if len(got) > MaxMessage || !utf8.ValidString(got) || !strings.HasSuffix(got, "€…") {
			t.Errorf("Truncate(...): a message must not end in half a character: %d bytes, valid: %t", len(got), utf8.ValidString(got))
		}
	}
}
