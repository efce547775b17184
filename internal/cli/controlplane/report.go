// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// An action is what deploy or undeploy did with an object.
type action string

// The actions. The first three are those of kubectl apply.
const (
	created    action = "created"
	configured action = "configured"
	unchanged  action = "unchanged"
	deleted    action = "deleted"
	kept       action = "kept"
)

// outcomes is the output for programs: the objects in the order in which they were processed.
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

// A report writes the actions to stdout: as tables immediately, in other formats at the end, even if the command fails.
type report struct {
	e      *command.Environment
	output *command.Output
	dryRun bool
	done   []outcome
}

// add reports the action for an object.
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

// An object is the kind, the namespace and the name of an object.
type object struct {
	schema.GroupVersionKind

	Namespace, Name string
}

// String returns the name as kubectl prints it: kyma.kyma.m.crossplane.io/default.
func (o object) String() string {
	return strings.ToLower(o.GroupKind().String()) + "/" + o.Name
}

// words returns the name for messages: Kyma team-a/default.
func (o object) words() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}
