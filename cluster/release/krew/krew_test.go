// SPDX-License-Identifier: Apache-2.0

package krew

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: kyma
spec:
  description: |
    Builds, signs, distributes and runs modules in Kubernetes clusters,
    through a control plane with provider-kyma. The same program is available as kymactl.
  homepage: https://example.org
`

const tail = `  shortDescription: Build, sign, distribute and run modules
  version: v1.2.3
`

func TestManifest(t *testing.T) {
	linux := Archive{OS: "linux", Arch: "amd64", URL: "https://example.org/a.tar.gz", SHA256: "aa", Binary: "kymactl"}
	windows := Archive{OS: "windows", Arch: "arm64", URL: "https://example.org/b.zip", SHA256: "bb", Binary: "kymactl.exe"}
	cases := map[string]struct {
		reason   string
		archives []Archive
		want     string
	}{
		"Two": {
			reason:   "Each platform has its archive and binary, and the order is that of the platforms.",
			archives: []Archive{windows, linux},
			want: head + `  platforms:
  - bin: kymactl
    files:
    - from: kymactl
      to: .
    - from: LICENSE
      to: .
    selector:
      matchLabels:
        arch: amd64
        os: linux
    sha256: aa
    uri: https://example.org/a.tar.gz
  - bin: kymactl.exe
    files:
    - from: kymactl.exe
      to: .
    - from: LICENSE
      to: .
    selector:
      matchLabels:
        arch: arm64
        os: windows
    sha256: bb
    uri: https://example.org/b.zip
` + tail,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Manifest("v1.2.3", "https://example.org", tc.archives...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("\n%s\nManifest(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
