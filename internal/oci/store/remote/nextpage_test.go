// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"net/http"
	"testing"
)

// TestNextPage checks that the next page of a list is only requested from the same host.
func TestNextPage(t *testing.T) {
	cases := map[string]struct{ link, want string }{
		"None":     {},
		"Path":     {link: `</v2/x/tags/list?last=b>; rel="next"`, want: "/v2/x/tags/list?last=b"},
		"Relative": {link: `<list?last=b>; rel="next"`, want: "tags/list?last=b"},
		"Host":     {link: `<https://evil.example.org/v2/x/tags/list>; rel="next"`, want: "/v2/x/tags/list"},
		"Slashes":  {link: `<////evil.example.org/v2>; rel="next"`},
		"Mixed":    {link: `<https://a.example.org//evil.example.org/v2>; rel="next"`},
		"Scheme":   {link: `<x://evil>; rel="next"`},
		"Opaque":   {link: `<mailto:a@b>; rel="next"`},
		"Nested":   {link: `<a?https://evil.example.org>; rel="next"`, want: "tags/a?https://evil.example.org"},
		"Prev":     {link: `</v2/x>; rel="prev"`},
	}
	for name, tc := range cases {
		h := http.Header{}
		if tc.link != "" {
			h.Set("Link", tc.link)
		}
		if got := nextPage(h); got != tc.want {
			t.Errorf("%s: nextPage(%q): %q, want %q", name, tc.link, got, tc.want)
		}
	}
}
