// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
)

// CheckDefinition checks the flags that replace fields of a module.yaml; they are called as its fields are.
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
