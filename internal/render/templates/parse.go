// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// maxActions bounds "{{" in one template. The parser follows nesting by recursion, and each level needs one.
	maxActions = 50_000

	// maxNodeDepth bounds the nesting of constructs in one template, because execution follows it by recursion. One
	// {{ if }} is three nodes deep.
	maxNodeDepth = 500
)

// A source is one parsed template file: its own body and the templates that it defines.
type source struct {
	trees []*parse.Tree
	uses  Uses
	err   error
}

// parseSource parses the text of a template and adds calls to its trees; see walker.
func parseSource(name, text string) *source {
	if strings.Count(text, "{{") > maxActions {
		return &source{err: &positionError{name: name, msg: errors.Errorf("more than %d actions in one template", maxActions).Error()}}
	}
	// A template.Template would copy all functions for each template.
	trees, err := parse.Parse(name, text, "", "", parseFuncs(), builtins)
	if err != nil {
		return &source{err: err}
	}

	s := &source{trees: slices.Collect(maps.Values(trees))}
	slices.SortFunc(s.trees, func(a, b *parse.Tree) int { return strings.Compare(a.Name, b.Name) })
	for _, tree := range s.trees {
		w := &walker{uses: &s.uses}
		w.tree(tree)
		if w.tooDeep {
			return &source{err: &positionError{name: name, msg: "control structures are nested too deep"}}
		}
	}
	return s
}

// builtins contains the names of the functions of package text/template. The parser only checks that they exist.
//
//nolint:gochecknoglobals // A constant.
var builtins = map[string]any{
	"and": true, "or": true, "not": true, "eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true,
	"call": true, "index": true, "len": true, "slice": true, "html": true, "js": true, "urlquery": true,
	"print": true, "printf": true, "println": true,
}

// The functions that a walker adds calls of.
const (
	funcEnter = "_renderEnter"
	funcLeave = "_renderLeave"
	funcTick  = "_renderTick"
)

// guardName is the template name of the added calls in error positions.
const guardName = "_render"

// guard returns the node {{ fn }}, which can be shared, because nodes are only read after parsing.
func guard(fn string) parse.Node {
	t := template.Must(template.New(guardName).Funcs(guardFuncs).Parse("{{" + fn + "}}"))
	return t.Root.Nodes[0]
}

//nolint:gochecknoglobals // Made once, only read.
var (
	noGuard    = func() string { return "" }
	guardFuncs = template.FuncMap{funcEnter: noGuard, funcLeave: noGuard, funcTick: noGuard}
	guardEnter = guard(funcEnter)
	guardLeave = guard(funcLeave)
	guardTick  = guard(funcTick)
)

// A walker visits each node of a parsed template once. It adds calls that let an execution count its depth and detect
// cancellation: one at the start of a template, one at its end, and one in each iteration of a loop. They print
// nothing. An empty template stays empty, because text/template does not replace a template with an empty one.
type walker struct {
	uses    *Uses
	depth   int
	tooDeep bool
}

func (w *walker) tree(t *parse.Tree) {
	if t == nil || t.Root == nil || parse.IsEmptyTree(t.Root) {
		return
	}
	w.node(t.Root)
	t.Root.Nodes = slices.Concat([]parse.Node{guardEnter}, t.Root.Nodes, []parse.Node{guardLeave})
}

func (w *walker) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		w.node(n)
	}
}

func (w *walker) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, c := range p.Cmds {
		w.node(c)
	}
}

func (w *walker) branch(b *parse.BranchNode) {
	w.pipe(b.Pipe)
	w.list(b.List)
	w.list(b.ElseList)
}

func (w *walker) node(n parse.Node) {
	w.depth++
	defer func() { w.depth-- }()
	if w.depth > maxNodeDepth {
		w.tooDeep = true
		return
	}

	switch n := n.(type) {
	case *parse.ListNode:
		w.list(n)
	case *parse.ActionNode:
		w.pipe(n.Pipe)
	case *parse.TemplateNode:
		w.pipe(n.Pipe)
	case *parse.IfNode:
		w.branch(&n.BranchNode)
	case *parse.WithNode:
		w.branch(&n.BranchNode)
	case *parse.RangeNode:
		w.branch(&n.BranchNode)
		n.List.Nodes = slices.Concat([]parse.Node{guardTick}, n.List.Nodes)
	default:
		w.expression(n)
	}
}

// expression handles the nodes that occur in actions.
func (w *walker) expression(n parse.Node) {
	switch n := n.(type) {
	case *parse.PipeNode:
		w.pipe(n)
	case *parse.CommandNode:
		for _, a := range n.Args {
			w.node(a)
		}
	case *parse.ChainNode:
		w.node(n.Node)
		w.fields(n.Field)
	case *parse.FieldNode:
		w.fields(n.Ident)
	case *parse.VariableNode:
		w.fields(n.Ident)
	case *parse.IdentifierNode:
		w.uses.Impure = w.uses.Impure || slices.Contains(impureFuncs, n.Ident)
		w.uses.TPL = w.uses.TPL || n.Ident == funcTPL
	}
}

func (w *walker) fields(names []string) {
	w.uses.APIVersions = w.uses.APIVersions || slices.Contains(names, "APIVersions")
	whole := len(names) > 0 && names[len(names)-1] == "Capabilities"
	w.uses.KubeVersion = w.uses.KubeVersion || whole || slices.Contains(names, "KubeVersion")
}
