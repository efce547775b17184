// SPDX-License-Identifier: Apache-2.0

package release

import (
	"io"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// An Outcome is the output of a command that changes a release.
type Outcome struct {
	// Name is the name of the ModuleReleaseMeta.
	Name    string `json:"name"`
	Module  string `json:"module"`
	Channel string `json:"channel"`
	// Version is the version of the channel after the command, and Previous the one before.
	Version  string `json:"version"`
	Previous string `json:"previous"`
	// Result is what the command did, such as paused.
	Result string `json:"result"`
}

// OutcomeFields is the part of the help of a command that describes an Outcome.
const OutcomeFields = "With --output json or yaml, the command prints an object with the fields name, module, channel, version, previous " +
	"and result. version is the version of the channel after the command, and previous the one before."

// Name returns the name of a ModuleReleaseMeta as kubectl prints it.
func Name(name string) string { return "modulereleasemeta.kyma.m.crossplane.io/" + name }

// Names implements command.Named.
func (o *Outcome) Names() []string { return []string{Name(o.Name)} }

// Write writes an outcome in the format that the user selected.
func (o *Outcome) Write(e *command.Environment, output *command.Output) error {
	return output.Write(e.Out, o, func(w io.Writer) error {
		_, err := io.WriteString(w, Name(o.Name)+" "+o.Result+"\n")
		return err
	})
}

// OutcomeOf returns the outcome of a command for a release, whose version did not change.
func OutcomeOf(t *Target, result string) *Outcome {
	return &Outcome{
		Name: t.Meta.Name, Module: t.Meta.Spec.ModuleName, Channel: t.Channel,
		Version: t.Release.Version, Previous: t.Release.Version, Result: result,
	}
}
