// SPDX-License-Identifier: Apache-2.0

package provenance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const want = `{
  "_type": "https://in-toto.io/Statement/v1",
  "subject": [
    {
      "name": "a",
      "digest": {
        "sha256": "aa"
      }
    },
    {
      "name": "b",
      "digest": {
        "sha256": "bb"
      }
    }
  ],
  "predicateType": "https://slsa.dev/provenance/v1",
  "predicate": {
    "buildDefinition": {
      "buildType": "https://example.org/type",
      "externalParameters": {
        "platforms": "linux/amd64",
        "version": "v1.2.3"
      },
      "internalParameters": {
        "go": "go1.26.7"
      },
      "resolvedDependencies": [
        {
          "uri": "git+https://example.org/repository",
          "digest": {
            "gitCommit": "0123"
          }
        }
      ]
    },
    "runDetails": {
      "builder": {
        "id": "https://example.org/builder"
      }
    }
  }
}
`

func build(change func(*Build)) Build {
	b := Build{
		Repository: "https://example.org/repository", Commit: "0123", Type: "https://example.org/type", Builder: "https://example.org/builder",
		Parameters: map[string]string{"version": "v1.2.3", "platforms": "linux/amd64"}, Go: "go1.26.7",
		Subjects: map[string]string{"b": "bb", "a": "aa"},
	}
	change(&b)
	return b
}

func TestStatement(t *testing.T) {
	cases := map[string]struct {
		reason string
		build  Build
		want   string
		err    bool
	}{
		"Complete": {reason: "All fields are in a fixed order.", build: build(func(*Build) {}), want: want},
		"Modified": {
			reason: "A source with changes is not the commit.",
			build:  build(func(b *Build) { b.Modified = true }),
			want: strings.Replace(want, `"gitCommit": "0123"
          }`, `"gitCommit": "0123"
          },
          "annotations": {
            "modified": true
          }`, 1),
		},
		"NoSubjects": {reason: "A statement about nothing is a mistake.", build: build(func(b *Build) { b.Subjects = nil }), err: true},
		"NoCommit":   {reason: "The source must be known.", build: build(func(b *Build) { b.Commit = "" }), err: true},
		"NoBuilder":  {reason: "SLSA requires a builder.", build: build(func(b *Build) { b.Builder = "" }), err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Statement(tc.build)
			if (err != nil) != tc.err {
				t.Fatalf("\n%s\nStatement(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("\n%s\nStatement(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
