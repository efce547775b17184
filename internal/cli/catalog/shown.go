// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// conditionStatus is True, False or Unknown, or empty where there is no such condition.
func conditionStatus(all []xpv2.Condition, kind xpv2.ConditionType) string {
	for i := range all {
		if all[i].Type == kind {
			return string(all[i].Status)
		}
	}
	return ""
}

// row of a table. An empty cell is a dash.
func row(w io.Writer, cells ...string) error {
	for i, c := range cells {
		cells[i] = printable(c)
		if cells[i] == "" {
			cells[i] = "-"
		}
	}
	_, err := fmt.Fprintln(w, strings.Join(cells, "\t"))
	return err
}

// printable makes one line of a text, which cannot do anything to a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
