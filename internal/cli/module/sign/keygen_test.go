// SPDX-License-Identifier: Apache-2.0

package sign

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

func TestKeygen(t *testing.T) {
	cases := map[string]struct {
		reason string
		exists string
		want   command.ExitCode
		files  []string
	}{
		"New":               {reason: "Both files are created.", files: []string{"k.key", "k.pub"}},
		"PrivateExists":     {reason: "A private key is never replaced.", exists: "k.key", want: command.ExitExists, files: []string{"k.key"}},
		"PublicExists":      {reason: "If the public key cannot be written, no private key is left behind.", exists: "k.pub", want: command.ExitExists, files: []string{"k.pub"}},
		"DirectoryIsAbsent": {reason: "Directories are not created.", exists: "-", want: command.ExitFailure},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			prefix := filepath.Join(dir, "k")
			switch tc.exists {
			case "":
			case "-":
				prefix = filepath.Join(dir, "nope", "k")
			default:
				if err := os.WriteFile(filepath.Join(dir, tc.exists), []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out, errs bytes.Buffer
			c := NewKeygen(&command.Environment{Out: &out, Err: &errs})
			err := c.RunE(c, []string{prefix})
			if got := command.CodeOf(err); got != tc.want {
				t.Errorf("\n%s\nkeygen: want exit code %d, got %d: %v", tc.reason, tc.want, got, err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, e := range entries {
				files = append(files, e.Name())
			}
			if diff := cmp.Diff(tc.files, files); diff != "" {
				t.Errorf("\n%s\nfiles: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKeygenFits checks that the generated keys can be parsed, and the mode of the private key.
func TestKeygenFits(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "k")
	if err := generate(prefix+".key", prefix+".pub"); err != nil {
		t.Fatal(err)
	}
	private, err := os.ReadFile(prefix + ".key")
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(prefix + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ocm.ParsePrivateKey(private); err != nil {
		t.Errorf("ParsePrivateKey(...): %v", err)
	}
	if _, err := ocm.ParseKey("signature", public); err != nil {
		t.Errorf("ParseKey(...): %v", err)
	}
	info, err := os.Stat(prefix + ".key")
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("the private key has mode %o: want 600", got)
	}
}
