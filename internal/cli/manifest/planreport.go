// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// Values of planReport.Result.
const (
	resultPlanned = "planned"
	resultKept    = "kept"
	resultApplied = "applied"
)

// A planReport describes the plan of one Manifest, or of all Manifests of a Kyma.
type planReport struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	// Create, Change and Prune count objects.
	Create int32 `json:"create"`
	Change int32 `json:"change"`
	Prune  int32 `json:"prune"`
	// Result is planned, kept or applied.
	Result string `json:"result"`
	// Removed lists the modules that the Kyma does not enable anymore. The provider would remove them.
	Removed   []string          `json:"removed"`
	Manifests []manifestPlanned `json:"manifests"`
}

// manifestPlanned describes the plan of one Manifest.
type manifestPlanned struct {
	Name     string                   `json:"name"`
	Module   string                   `json:"module,omitempty"`
	Create   int32                    `json:"create"`
	Change   int32                    `json:"change"`
	Prune    int32                    `json:"prune"`
	Problems int32                    `json:"problems"`
	Message  string                   `json:"message"`
	Objects  []v1alpha1.PlannedObject `json:"objects"`
}

// reportPlan returns the report on the plans of Manifests. gone contains the Manifests of removed modules.
func reportPlan(s *resourceRef, manifests, gone []v1alpha1.Manifest) *planReport {
	r := &planReport{Namespace: s.Namespace, Kind: s.kind.Kind, Name: s.Name, Removed: []string{}, Manifests: []manifestPlanned{}}
	for i := range manifests {
		m, at := &manifests[i], manifests[i].Status.AtProvider.Plan
		r.Manifests = append(r.Manifests, manifestPlanned{
			Name: m.Name, Module: m.Labels[v1alpha1.LabelModuleName], Create: at.Create, Change: at.Change, Prune: at.Prune,
			Problems: at.Problems, Message: at.Message, Objects: append([]v1alpha1.PlannedObject{}, at.Objects...),
		})
		r.Create, r.Change, r.Prune = r.Create+at.Create, r.Change+at.Change, r.Prune+at.Prune
	}
	for i := range gone {
		r.Removed = append(r.Removed, cmp.Or(gone[i].Labels[v1alpha1.LabelModuleName], gone[i].Name))
	}
	return r
}

// problems returns the number of problems in all Manifests.
func (r *planReport) problems() int32 {
	n := int32(0)
	for i := range r.Manifests {
		n += r.Manifests[i].Problems
	}
	return n
}

// empty reports whether the plan contains no changes.
func (r *planReport) empty() bool {
	return r.Create+r.Change+r.Prune == 0 && len(r.Removed) == 0
}

// counts returns the numbers of changes as text.
func (r *planReport) counts() string {
	return fmt.Sprintf("%d to create, %d to change, %d to prune", r.Create, r.Change, r.Prune)
}

// sign returns the sign of an action, as in the output of terraform plan.
func sign(action string) string {
	switch action {
	case "Create":
		return "+"
	case "Prune":
		return "-"
	case "Recreate":
		return "-/+"
	}
	return "~"
}

// write writes the report to stdout.
func (r *planReport) write(e *command.Environment, output *command.Output) error {
	return output.Write(e.Out, r, func(w io.Writer) error {
		var lines []string
		for i := range r.Manifests {
			lines = append(lines, r.Manifests[i].lines(r.Kind == v1alpha1.KymaKind)...)
		}
		for _, name := range r.Removed {
			lines = append(lines, "- module "+name+" with all its objects")
		}
		end := "Plan of " + r.Kind + " " + r.Namespace + "/" + r.Name + ": " + r.counts() + "."
		if r.Result == resultApplied {
			end += " The provider is applying it."
		} else {
			end += " Nothing was applied."
		}
		_, err := io.WriteString(w, strings.Join(append(lines, end), "\n")+"\n")
		return err
	})
}

// lines returns the output lines of a Manifest. If titled is true, the first line is its name.
func (m *manifestPlanned) lines(titled bool) []string {
	var out []string
	if titled {
		out = append(out, "Manifest "+m.Name+":")
	}
	for _, o := range m.Objects {
		line := sign(o.Action) + " " + strings.ToLower(o.Action) + " " + cluster.ObjectRef(o.ObjectReference).String()
		if len(o.Fields) > 0 {
			line += ": " + strings.Join(o.Fields, ", ")
		}
		if o.OmittedFields > 0 {
			line += ", …"
		}
		out = append(out, line)
	}
	if more := int(m.Create+m.Change+m.Prune) - len(m.Objects); more > 0 {
		out = append(out, fmt.Sprintf("… and %d more", more))
	}
	if m.Message != "" {
		out = append(out, "! "+m.Message)
	}
	return out
}
