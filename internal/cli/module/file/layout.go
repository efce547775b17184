// SPDX-License-Identifier: Apache-2.0

package file

import (
	"os"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
)

// noStream is the error for a layout on stdout.
const noStream = "a layout cannot be written to stdout: specify a directory, or a file that ends in .tar, .tar.gz or .tgz"

// CheckLayout validates the path and the output format of a command that writes a layout. Its errors have the exit code
// ExitUsage.
func CheckLayout(to string, o *command.Output) error {
	if to == Stdout {
		return command.Usagef(noStream)
	}
	return o.Check()
}

// ExplainLayout adds the exit code ExitExists to the error of creating a layout, if something other than a layout is at its path.
func ExplainLayout(to string, err error) error {
	if _, missing := os.Stat(to); missing == nil && !layout.Exists(to) {
		return command.WithCode(command.ExitExists, err)
	}
	return err
}
