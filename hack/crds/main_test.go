// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRun(t *testing.T) {
	cases := map[string]struct {
		reason string
		crd    string
		want   string
		err    string
	}{
		"Time": {
			reason: "The format is replaced.", crd: "a:\n  b:\n    description: x\n    format: date-time\n    type: string\n  c:\n    type: string\n",
			want: "a:\n  b:\n    description: x\n    maxLength: 64\n    type: string\n    x-kubernetes-validations:\n" +
				"    - message: must be a time such as 2026-12-01T00:00:00Z\n      rule: timestamp(self) <= timestamp('9999-12-31T23:59:59Z')\n  c:\n    type: string\n",
		},
		"Other": {reason: "Other formats stay.", crd: "a:\n  format: int32\n  type: integer\n", want: "a:\n  format: int32\n  type: integer\n"},
		"More": {
			reason: "A schema that is not understood is not changed.", crd: "a:\n  format: date-time\n  pattern: x\n  type: string\n",
			want: "a:\n  format: date-time\n  pattern: x\n  type: string\n", err: "has other fields in its schema than expected",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "crd.yaml")
			if err := os.WriteFile(file, []byte(tc.crd), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := run(dir); (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("\n%s\nrun(...): want error %q, got %v", tc.reason, tc.err, err)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("\n%s\nrun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
