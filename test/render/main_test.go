// SPDX-License-Identifier: Apache-2.0

package render

import (
	"os"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
)

func TestMain(m *testing.M) {
	switch {
	case isLauncher(os.Args[0]):
		os.Exit(launch(os.Args))
	case sandbox.IsChild(os.Args):
		os.Exit(sandbox.Serve())
	}
	os.Exit(m.Run())
}

// newPool returns a Pool that renders as the provider does, in child processes, and ends with the test.
func newPool(t *testing.T, o sandbox.Options) *sandbox.Pool {
	t.Helper()
	o.Wait = time.Hour
	if o.Executable == "" {
		// The binary of a test is deleted before its last processes end.
		path, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		o.Executable = path
	}
	p, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
