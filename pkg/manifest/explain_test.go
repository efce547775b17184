// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestExplainWords(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"OneLine": {
			reason: "A condition has one line.",
			err:    errors.New("a\n  b"),
			want:   "a b",
		},
		"NoPath": {
			reason: "The path tells nothing that the object does not tell.",
			err:    &url.Error{Op: "Get", URL: "https://h/api?x=y", Err: errors.New("connection refused")},
			want:   "connection refused",
		},
		"NoValue": {
			reason: "What the API server was given may be a secret.",
			err:    errors.New(`.stringData.token: expected string, got &value.valueUnstructured{Value:[]interface {}{"hunter2"}}`),
			want:   ".stringData.token: expected string",
		},
		"NoValues": {
			reason: "Each field is named.",
			err: errors.New("errors:\n  .data.a: expected string, got &value.valueUnstructured{Value:1}" +
				"\n  .data.b: expected string, got &value.valueUnstructured{Value:2}"),
			want: "errors: .data.a: expected string .data.b: expected string",
		},
		"NoValueWithoutQuotes": {
			reason: "Where a map is wanted, what is there instead is shown in another way.",
			err:    errors.New(".stringData: expected map, got &{[hunter2\nhunter3]}"),
			want:   ".stringData: expected map",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, explain(tc.err).Error()); diff != "" {
				t.Errorf("\n%s\nexplain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
