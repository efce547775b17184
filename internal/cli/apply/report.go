// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// An Action describes what a command did with an object.
type Action string

// Actions of commands. The first three are the same as those of kubectl apply.
const (
	Created    Action = "created"
	Configured Action = "configured"
	Unchanged  Action = "unchanged"
	Deleted    Action = "deleted"
	Kept       Action = "kept"
)

// Outcomes is the output for programs: the objects in the order of their processing.
type Outcomes struct {
	Objects []Outcome `json:"objects"`
}

// An Outcome is an object with its action.
type Outcome struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Action    Action `json:"action"`

	object Object
}

// Names implements command.Named.
func (o Outcomes) Names() []string {
	out := make([]string, 0, len(o.Objects))
	for i := range o.Objects {
		out = append(out, o.Objects[i].object.String())
	}
	return out
}

// A Report writes the actions to stdout: in table formats immediately, in other formats at the end, even if the command fails.
type Report struct {
	Environment *command.Environment
	Output      *command.Output
	DryRun      bool
	done        []Outcome
}

// Add records the action for an object, and prints it if the format is a table.
func (r *Report) Add(o Object, a Action) error {
	r.done = append(r.done, Outcome{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Action: a, object: o})
	if !r.Output.Table() {
		return nil
	}
	suffix := ""
	if r.DryRun {
		suffix = " (server dry run)"
	}
	return r.Environment.Print("%s %s%s", o, a, suffix)
}

// End writes the whole report, unless the format is a table.
func (r *Report) End() error {
	if r.Output.Table() {
		return nil
	}
	done := r.done
	if done == nil {
		done = []Outcome{}
	}
	return r.Output.Write(r.Environment.Out, Outcomes{Objects: done}, func(io.Writer) error { return nil })
}

// An Object identifies an object by its kind, namespace and name.
type Object struct {
	schema.GroupVersionKind

	Namespace, Name string
}

// String returns the name in the form that kubectl prints, such as kyma.kyma.m.crossplane.io/default.
func (o Object) String() string {
	return strings.ToLower(o.GroupKind().String()) + "/" + o.Name
}

// Words returns the kind and name for messages, such as Kyma team-a/default.
func (o Object) Words() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}
