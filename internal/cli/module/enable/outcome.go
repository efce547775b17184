// SPDX-License-Identifier: Apache-2.0

package enable

import (
	"io"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// Results of a change of a module.
const (
	resultEnabled   = "enabled"
	resultChanged   = "changed"
	resultDisabled  = "disabled"
	resultUnchanged = "unchanged"
)

// An outcome is what was done about one module.
type outcome struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	// Channel that the module has now; empty where it is not enabled.
	Channel string `json:"channel"`
}

// outcomes are what was done to a Kyma, in the order of the command line.
type outcomes struct {
	Namespace string    `json:"namespace"`
	Kyma      string    `json:"kyma"`
	Modules   []outcome `json:"modules"`
}

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
