// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestArrange(t *testing.T) {
	root := New(&command.Environment{})
	each(root, func(c *cobra.Command) {
		if c.HasParent() && c.GroupID == "" {
			t.Errorf("%s is in no area: add it to areas", c.CommandPath())
		}
	})
}
