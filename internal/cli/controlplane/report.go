// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// An action describes what deploy or undeploy did with an object.
type action string

// Actions of deploy and undeploy. The first three are the same as those of kubectl apply.
const (
	created    action = "created"
	configured action = "configured"
	unchanged  action = "unchanged"
	deleted    action = "deleted"
	kept       action = "kept"
)

// outcomes is the output for programs: the objects in the order of their processing.
type outcomes struct {
	Objects []outcome `json:"objects"`
}

// An outcome is an object with its action.
type outcome struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Action    action `json:"action"`

	object object
}

// Names implements command.Named.
func (o outcomes) Names() []string {
	out := make([]string, 0, len(o.Objects))
	for i := range o.Objects {
		out = append(out, o.Objects[i].object.String())
	}
	return out
}

// A report writes the actions to stdout: in table formats immediately, in other formats at the end, even if the command fails.
type report struct {
	e      *command.Environment
	output *command.Output
	dryRun bool
	done   []outcome
}

// add records the action for an object, and prints it if the format is a table.
func (r *report) add(o object, a action) error {
	r.done = append(r.done, outcome{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Action: a, object: o})
	if !r.output.Table() {
		return nil
	}
	suffix := ""
	if r.dryRun {
		suffix = " (server dry run)"
	}
	return r.e.Print("%s %s%s", o, a, suffix)
}

// end writes the whole report, unless the format is a table.
func (r *report) end() error {
	if r.output.Table() {
		return nil
	}
	done := r.done
	if done == nil {
		done = []outcome{}
	}
	return r.output.Write(r.e.Out, outcomes{Objects: done}, func(io.Writer) error { return nil })
}

// An object identifies an object by its kind, namespace and name.
type object struct {
	schema.GroupVersionKind

	Namespace, Name string
}

// String returns the name in the form that kubectl prints, such as kyma.kyma.m.crossplane.io/default.
func (o object) String() string {
	return strings.ToLower(o.GroupKind().String()) + "/" + o.Name
}

// words returns the kind and name for messages, such as Kyma team-a/default.
func (o object) words() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}
