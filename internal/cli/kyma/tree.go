// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"fmt"
	"io"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// A node is a row of the tree with the rows below it. Its fields are the columns of the row.
type node struct {
	name     string
	state    string
	version  string
	synced   string
	ready    string
	verified string
	message  string
	children []node
}

// tree converts a report to a tree. Below the modules it omits Manifests and installs that are Ready, unless all is true.
func (r *report) tree(all bool) node {
	root := node{
		name: fmt.Sprintf("Kyma/%s (%s)", r.Kyma, r.Namespace), state: r.State, message: r.Message,
		synced: statusIn(r.Conditions, xpv2.TypeSynced), ready: statusIn(r.Conditions, xpv2.TypeReady),
		verified: statusIn(r.Conditions, v1alpha1.TypeVerified),
	}
	for i := range r.Modules {
		m := &r.Modules[i]
		child := node{name: "module " + m.Name + " [" + m.ShownChannel() + "]", state: m.State, version: m.Version, message: m.Message}
		if m.Live != nil && (all || m.State != string(v1alpha1.StateReady) || !m.Live.fine()) {
			child.children = append(child.children, m.Live.tree(all, m.Message))
		}
		root.children = append(root.children, child)
	}
	return root
}

// fine reports whether the Manifest is in state Ready, and its conditions Synced and Ready are True.
func (m *manifestReport) fine() bool {
	return m.State == string(v1alpha1.StateReady) && statusIn(m.Conditions, xpv2.TypeReady) == "True" && statusIn(m.Conditions, xpv2.TypeSynced) == "True"
}

// tree returns the node of a Manifest. It omits the message of the Manifest if it equals shown, the message of its module.
func (m *manifestReport) tree(all bool, shown string) node {
	out := node{
		name: "Manifest/" + m.Name, state: m.State, version: m.Version,
		synced: statusIn(m.Conditions, xpv2.TypeSynced), ready: statusIn(m.Conditions, xpv2.TypeReady),
		verified: statusIn(m.Conditions, v1alpha1.TypeVerified),
	}
	if m.ObjectsTotal > 0 {
		out.message = fmt.Sprintf("%d of %d objects ready", m.ObjectsReady, m.ObjectsTotal)
	}
	if m.Message != "" && m.Message != shown {
		out.message = m.Message
	}
	for _, i := range m.Installs {
		if all || i.State != string(v1alpha1.StateReady) {
			out.children = append(out.children, node{name: "install " + i.Name, state: i.State, version: i.Version, message: i.Message})
		}
	}
	for _, c := range m.Conditions {
		if c.Type == string(v1alpha1.TypeVerified) && c.Status == "False" {
			out.children = append(out.children, node{name: "signature", state: c.Reason, message: c.Message})
		}
	}
	return out
}

// draw writes the tree as a table.
func (n *node) draw(w io.Writer) error {
	if err := command.Row(w, "NAME", "STATE", "VERSION", "SYNCED", "READY", "VERIFIED", "MESSAGE"); err != nil {
		return err
	}
	return n.drawBelow(w, "", "")
}

// drawBelow writes the row of the node with the prefix first, and the rows below it with the prefix rest.
func (n *node) drawBelow(w io.Writer, first, rest string) error {
	if err := command.Row(w, first+n.name, n.state, n.version, n.synced, n.ready, n.verified, n.message); err != nil {
		return err
	}
	for i := range n.children {
		branch, below := "├─ ", "│  "
		if i == len(n.children)-1 {
			branch, below = "└─ ", "   "
		}
		if err := n.children[i].drawBelow(w, rest+branch, rest+below); err != nil {
			return err
		}
	}
	return nil
}
