// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// hostile is what an attacker could try to write to a terminal: escape sequences of both kinds, a line break, characters that
// make text invisible, and invalid UTF-8.
const hostile = "a\x1b[2J\x1b]0;x\x07b\u009b31mc\rError: d\ne\u202ef\u2066g\x7f\xff"

func checkClean(t *testing.T, what, got string, lines int) {
	t.Helper()
	if n := strings.Count(got, "\n"); n != lines {
		t.Errorf("%s: %d lines: %q", what, n, got)
	}
	if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%s: %q holds control characters", what, got)
	}
}

// TestHostileText checks that no message or table contains control characters.
func TestHostileText(t *testing.T) {
	var out, err bytes.Buffer
	e := &Environment{Out: &out, Err: &err}
	e.Sayf("%s", hostile)
	e.Warnf("%s", hostile)
	e.Failf("%s", hostile)
	checkClean(t, "stderr", err.String(), 3)
	o := Output{format: "table"}
	// The table adds its own line breaks.
	if err := o.Write(&out, nil, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\tx\n", strings.ReplaceAll(hostile, "\n", ""))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	checkClean(t, "table", out.String(), 1)
}

// TestHostileOutput checks that no format writes control characters to a terminal, and that programs get the text as it is.
func TestHostileOutput(t *testing.T) {
	v := map[string]string{"text": strings.ReplaceAll(hostile, "\n", "")}
	for _, format := range []string{"json", "jsonpath={.text}", "go-template={{.text}}{{\"\\n\"}}", "custom-columns=A:.text"} {
		t.Run(format, func(t *testing.T) {
			var screen, file bytes.Buffer
			o := Output{format: format}
			if err := errors.Join(o.Write(Screen{&screen}, v, nil), o.Write(&file, v, nil)); err != nil {
				t.Fatal(err)
			}
			checkClean(t, format, screen.String(), strings.Count(screen.String(), "\n"))
			if strings.HasPrefix(format, "jsonpath") && !strings.Contains(file.String(), "a\x1b[2J") {
				t.Errorf("a program gets %q", file.String())
			}
		})
	}
}
