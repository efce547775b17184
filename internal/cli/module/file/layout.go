// SPDX-License-Identifier: Apache-2.0

package file

import (
	"os"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
)

// noStream is for layouts, which are directories or tars.
const noStream = "- is not stdout here: a layout is a folder, or a file that ends in .tar, .tar.gz or .tgz"

// CheckLayout checks the path and the format of a command that writes a layout.
func CheckLayout(to string, o *command.Output) error {
	if to == Stdout {
		return command.Usagef(noStream)
	}
	return o.Check()
}

// ExplainLayout explains why a layout could not be made: something else may be where it is to be.
func ExplainLayout(to string, err error) error {
	if _, missing := os.Stat(to); missing == nil && !layout.Exists(to) {
		return command.WithCode(command.ExitExists, err)
	}
	return err
}
