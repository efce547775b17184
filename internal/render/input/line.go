// SPDX-License-Identifier: Apache-2.0

package input

import "strings"

// maxLine bounds external text in a message, in bytes.
const maxLine = 1024

// Line returns external text as one line of at most 1024 bytes, for a message.
func Line(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= maxLine {
		return s
	}
	return strings.ToValidUTF8(s[:maxLine], "") + " …"
}
