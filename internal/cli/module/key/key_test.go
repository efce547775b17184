// SPDX-License-Identifier: Apache-2.0

package key

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// TestReadPrivateWarns checks that a private key that others may read is used with a warning.
func TestReadPrivateWarns(t *testing.T) {
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o644: true} {
		file := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(file, []byte("none"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		// The warning does not depend on the content.
		if _, err := ReadPrivate(&command.Environment{Err: &out, Quiet: true}, file); err == nil {
			t.Fatal("want an error")
		}
		if got := strings.Contains(out.String(), "Warning: --key "+file+" can be accessed by other users"); got != want {
			t.Errorf("mode %04o: want a warning: %t, got %q", mode, want, out.String())
		}
	}
}
