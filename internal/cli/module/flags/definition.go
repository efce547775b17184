// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
)

// CheckDefinition validates the values of flags that override fields of a module.yaml. Each flag has the name of its field. Empty
// values are valid. Its errors have the exit code ExitUsage.
func CheckDefinition(over *definition.Definition) error {
	for _, f := range []struct {
		value string
		check func(string) error
	}{
		{over.Name, definition.CheckName}, {over.Version, definition.CheckVersion}, {over.Channel, definition.CheckChannel},
	} {
		if f.value == "" {
			continue
		}
		if err := f.check(f.value); err != nil {
			return command.Usagef("--%s", err.Error())
		}
	}
	return nil
}
