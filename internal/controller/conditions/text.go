// SPDX-License-Identifier: Apache-2.0

package conditions

import (
	"fmt"
	"slices"
	"strings"
)

// maxListed is the maximum number of objects that one message names.
const maxListed = 5

// Count returns a number with a noun, which it puts in the plural if necessary: "1 test" or "2 tests".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Lines returns the text of each value.
func Lines[T fmt.Stringer](in []T) []string {
	lines := make([]string, 0, len(in))
	for _, v := range in {
		lines = append(lines, v.String())
	}
	return lines
}

// List sorts lines, and joins the first of them.
func List(lines []string) string {
	slices.Sort(lines)
	return JoinFirst(lines)
}

// JoinFirst joins the first lines, and adds the number of the others.
func JoinFirst(lines []string) string {
	if n := len(lines) - maxListed; n > 0 {
		lines = append(lines[:maxListed:maxListed], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(lines, "; ")
}
