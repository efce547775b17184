// SPDX-License-Identifier: Apache-2.0

package command

import "strings"

// Wrap breaks the lines of a text between words, after at most width characters. Empty lines separate paragraphs.
func Wrap(text string, width int) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		var b strings.Builder
		n := 0
		for word := range strings.FieldsSeq(p) {
			switch size := len([]rune(word)); {
			case n == 0:
				n = size
			case n+1+size > width:
				b.WriteByte('\n')
				n = size
			default:
				b.WriteByte(' ')
				n += 1 + size
			}
			b.WriteString(word)
		}
		paragraphs[i] = b.String()
	}
	return strings.Join(paragraphs, "\n\n")
}
