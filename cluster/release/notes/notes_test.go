// SPDX-License-Identifier: Apache-2.0

package notes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	const released = "\n## [1.0.0] - 2001-02-03\n\n### Added\n\n- The first.\n"
	cases := map[string]struct {
		reason    string
		changelog string
		version   string
		want      string
		err       bool
	}{
		"Version": {
			reason:    "A version has its own section, without its heading.",
			changelog: "# Changelog\n\n## [Unreleased]\n\n- Next.\n" + released, version: "v1.0.0", want: "### Added\n\n- The first.\n",
		},
		"Prefix": {
			reason:    "The heading can have the v of a tag.",
			changelog: "## [v1.0.0]\n- The first.\n", version: "v1.0.0", want: "- The first.\n",
		},
		"Unreleased": {
			reason:    "Before a release is tagged, its changes are in the section of unreleased changes.",
			changelog: "## [Unreleased]\n\n- Next.\n" + released, version: "v1.1.0", want: "- Next.\n",
		},
		"EmptyVersion": {
			reason:    "A section without changes counts as none.",
			changelog: "## [Unreleased]\n\n- Next.\n\n## [1.1.0]\n\n### Added\n" + released, version: "v1.1.0", want: "- Next.\n",
		},
		"SimilarVersion": {
			reason:    "A release candidate does not have the notes of the release.",
			changelog: "## [Unreleased]\n\n- Next.\n" + released, version: "v1.0.0-rc.1", want: "- Next.\n",
		},
		"Nothing": {
			reason:    "A release without changes is a mistake.",
			changelog: "# Changelog\n\n- An introduction.\n\n## [Unreleased]\n\nNothing yet.\n" + released, version: "v1.1.0", err: true,
		},
		"Links": {
			reason:    "Links to files of the repository work elsewhere, and other links stay.",
			changelog: "## [Unreleased]\n- [a](docs/a.md#b), [b](https://example.org/b), [c](#c)\n", version: "v1.0.0",
			want: "- [a](https://base/docs/a.md#b), [b](https://example.org/b), [c](#c)\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Of(tc.changelog, tc.version, "https://base")
			if (err != nil) != tc.err {
				t.Fatalf("\n%s\nOf(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
