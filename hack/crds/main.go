// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// format matches the schema of a time, as controller-gen writes it.
var format = regexp.MustCompile(`(?m)^( +)format: date-time\n +type: string\n`)

// strict is the schema that replaces it. The function timestamp accepts what Go accepts.
const strict = `${1}maxLength: 64
${1}type: string
${1}x-kubernetes-validations:
${1}- message: must be a time such as 2026-12-01T00:00:00Z
${1}  rule: timestamp(self) <= timestamp('9999-12-31T23:59:59Z')
`

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crds:", err)
		os.Exit(1)
	}
}

// run changes all CRDs in a directory.
func run(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, f := range files {
		before, err := os.ReadFile(f) //nolint:gosec // The caller names the directory.
		if err != nil {
			return err
		}
		after, err := withStrictTimes(before)
		if err != nil {
			return errors.Wrap(err, f)
		}
		if err := os.WriteFile(f, after, 0o644); err != nil { //nolint:gosec // Everyone may read it.
			return err
		}
	}
	return nil
}

// withStrictTimes returns a CRD in which all times have the strict schema.
func withStrictTimes(crd []byte) ([]byte, error) {
	out := format.ReplaceAll(crd, []byte(strict))
	if bytes.Contains(out, []byte("format: date-time")) {
		return nil, errors.New("a field with the format date-time has other fields in its schema than expected")
	}
	return out, nil
}
