// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"testing"
)

func newLayout(tb testing.TB, path string) *Store {
	tb.Helper()
	l, err := Create(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Discard() })
	return l
}

func openLayout(tb testing.TB, path string) *Store {
	tb.Helper()
	l, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

func mustClose(tb testing.TB, l *Store) {
	tb.Helper()
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
