// SPDX-License-Identifier: Apache-2.0

package ocm

import "strings"

// oneLine bounds foreign text and takes line breaks and control characters out.
func oneLine(s string) string {
	if len(s) > 256 {
		s = s[:256] + "…"
	}
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.Join(strings.Fields(printable), " ")
}
