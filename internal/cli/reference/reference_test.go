// SPDX-License-Identifier: Apache-2.0

package reference_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/reference"
)

const file = "../../../docs/kymactl.md"

var update = flag.Bool("update", false, "write the page")

// TestPage writes the page with -update, and otherwise checks that it is up to date.
func TestPage(t *testing.T) {
	got := reference.Page(cli.New(&command.Environment{}))
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run make generate", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/kymactl.md is out of date, run make generate: -file, +commands:\n%s", diff)
	}
}
