// SPDX-License-Identifier: Apache-2.0

package provenance

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// MediaType is the media type of a statement, and the type of its artifact in a registry.
	MediaType = "application/vnd.in-toto+json"
	// PredicateType is the type of the predicate.
	PredicateType = "https://slsa.dev/provenance/v1"

	statementType = "https://in-toto.io/Statement/v1"
)

// A Build is what a statement is about.
type Build struct {
	// Repository is the address of the repository, without a slash at the end.
	Repository string
	// Commit is the full commit. Modified is true if the source also had changes that were not committed.
	Commit   string
	Modified bool
	// Type is a URI that explains the parameters, and Builder is a URI of the machine or service that ran the build.
	Type, Builder string
	// Parameters are those of the command line on which the content depends.
	Parameters map[string]string
	// Go is the version of the toolchain.
	Go string
	// Subjects are the SHA-256 sums of what was built, in hexadecimal, by name.
	Subjects map[string]string
}

type statement struct {
	Type          string       `json:"_type"`
	Subject       []descriptor `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     predicate    `json:"predicate"`
}

// A descriptor is a resource descriptor of in-toto.
type descriptor struct {
	Name        string            `json:"name,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations map[string]any    `json:"annotations,omitempty"`
}

type predicate struct {
	Build      recipe     `json:"buildDefinition"`
	RunDetails runDetails `json:"runDetails"`
}

type recipe struct {
	BuildType            string            `json:"buildType"`
	ExternalParameters   map[string]string `json:"externalParameters"`
	InternalParameters   map[string]string `json:"internalParameters,omitempty"`
	ResolvedDependencies []descriptor      `json:"resolvedDependencies"`
}

type runDetails struct {
	Builder builder `json:"builder"`
}

type builder struct {
	ID string `json:"id"`
}

// Statement returns the statement in JSON. The subjects are sorted by name.
func Statement(b Build) ([]byte, error) {
	if len(b.Subjects) == 0 || b.Commit == "" || b.Builder == "" {
		return nil, errors.New("a provenance needs subjects, a commit and a builder")
	}
	source := descriptor{URI: "git+" + b.Repository, Digest: map[string]string{"gitCommit": b.Commit}}
	if b.Modified {
		source.Annotations = map[string]any{"modified": true}
	}
	s := statement{
		Type: statementType, PredicateType: PredicateType,
		Predicate: predicate{
			Build: recipe{
				BuildType: b.Type, ExternalParameters: b.Parameters, InternalParameters: map[string]string{"go": b.Go},
				ResolvedDependencies: []descriptor{source},
			},
			RunDetails: runDetails{Builder: builder{ID: b.Builder}},
		},
	}
	for name, sum := range b.Subjects {
		s.Subject = append(s.Subject, descriptor{Name: name, Digest: map[string]string{"sha256": sum}})
	}
	slices.SortFunc(s.Subject, func(a, b descriptor) int { return strings.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(s)
	return out.Bytes(), errors.Wrap(err, "cannot encode the provenance")
}
