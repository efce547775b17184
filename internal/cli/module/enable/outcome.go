// SPDX-License-Identifier: Apache-2.0

package enable

import (
	"io"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// Results of enabling or disabling a module.
const (
	resultEnabled   = "enabled"
	resultChanged   = "changed"
	resultDisabled  = "disabled"
	resultUnchanged = "unchanged"
)

// An outcome is the result for one module.
type outcome struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	// Channel is the channel of the module after the change; empty if the module is not enabled.
	Channel string `json:"channel"`
}

// outcomes holds the results for a Kyma, in the order of the command line.
type outcomes struct {
	Namespace string    `json:"namespace"`
	Kyma      string    `json:"kyma"`
	Modules   []outcome `json:"modules"`
}

// changed reports whether any module was enabled, changed or disabled.
func (o *outcomes) changed() bool {
	for _, m := range o.Modules {
		if m.Result != resultUnchanged {
			return true
		}
	}
	return false
}

// Names implements command.Named.
func (o *outcomes) Names() []string {
	out := make([]string, 0, len(o.Modules))
	for _, m := range o.Modules {
		out = append(out, "module.kyma.m.crossplane.io/"+m.Name)
	}
	return out
}

func (o *outcomes) write(e *command.Environment, output *command.Output) error {
	return output.Write(e.Out, o, func(w io.Writer) error {
		names := o.Names()
		for i := range o.Modules {
			if _, err := io.WriteString(w, names[i]+" "+o.Modules[i].Result+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}
