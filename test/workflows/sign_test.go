// SPDX-License-Identifier: Apache-2.0

package workflows

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeCosign records its arguments, and fails for artifacts that are called broken.
const fakeCosign = `#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
case "$*" in */broken@*) exit 3 ;; esac
`

// TestSign checks what hack/sign.sh signs, with a program in place of cosign, because the identity of a workflow exists only there.
func TestSign(t *testing.T) {
	const image = "sign --recursive --new-bundle-format=false --use-signing-config=false --yes registry.example.org/kyma/"
	cases := map[string]struct {
		reason   string
		files    map[string]string
		registry string
		want     string
		message  string
		fails    bool
	}{
		"Release": {
			reason:   "Artifacts are signed with their images for platforms, by digest, and the sums of the files.",
			registry: "registry.example.org/kyma",
			files:    map[string]string{"digests.txt": "charts/provider sha256:5\nconfiguration sha256:1\nprovider sha256:2\nprovider-linux-amd64 sha256:3\nprovider-linux-arm64 sha256:4\n"},
			want: image + "charts/provider@sha256:5\n" + image + "configuration@sha256:1\n" + image + "provider@sha256:2\n" +
				"sign-blob --use-signing-config=false --bundle DIR/SHA256SUMS.sigstore.json --yes DIR/SHA256SUMS\n",
		},
		"Failure": {
			reason: "A failure ends the script: not everything is signed.", registry: "registry.example.org/kyma", fails: true,
			files: map[string]string{"digests.txt": "broken sha256:1\nprovider sha256:2\n"}, want: image + "broken@sha256:1\n",
		},
		"NoRegistry": {reason: "Signatures are in the registry.", files: map[string]string{"digests.txt": "a sha256:1\n"}, fails: true, message: "set REGISTRY"},
		"NoRelease":  {reason: "A release must be built first.", registry: "registry.example.org/kyma", fails: true, message: "run make release first"},
		"Empty":      {reason: "A release without artifacts is a mistake.", registry: "registry.example.org/kyma", files: map[string]string{"digests.txt": ""}, fails: true, message: "names no artifact"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir, bin := t.TempDir(), t.TempDir()
			for file, data := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cosign := filepath.Join(bin, "cosign")
			if err := os.WriteFile(cosign, []byte(fakeCosign), 0o700); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), filepath.Join(root(t), "hack", "sign.sh"), cosign, dir, tc.registry).CombinedOutput()
			if (err != nil) != tc.fails || !strings.Contains(string(out), tc.message) {
				t.Errorf("%s\nsign.sh: want failure %t with %q, got %v: %s", tc.reason, tc.fails, tc.message, err, out)
			}
			calls, err := os.ReadFile(filepath.Join(bin, "calls"))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, strings.ReplaceAll(string(calls), dir, "DIR")); diff != "" {
				t.Errorf("%s\ncalls of cosign: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
