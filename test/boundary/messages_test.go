// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
)

var (
	verb        = regexp.MustCompile(`%[-+# 0]*[0-9.]*[a-pr-zT]`)
	quotedVerb  = regexp.MustCompile(`%[-+# 0]*q`)
	reasonTitle = regexp.MustCompile(`(?m)^### (\w+)$`)
	quote       = regexp.MustCompile("(?m)^- (`[^\n]+)$")
	words       = regexp.MustCompile(`[A-Za-z]{2,}.*[A-Za-z]{3,}`)
	// label is the key of a label or an annotation, which the code inserts by its name.
	label = regexp.MustCompile(`\b[a-z]+(\.[a-z0-9]+)+/[a-z-]+`)
)

// crossplaneReasons returns the reasons of the conditions that functions of crossplane-runtime return, by the name of the
// function.
func crossplaneReasons() map[string]string {
	return map[string]string{
		"Available":   string(xpv2.Available().Reason),
		"Unavailable": string(xpv2.Unavailable().Reason),
		"Creating":    string(xpv2.Creating().Reason),
		"Deleting":    string(xpv2.Deleting().Reason),
	}
}

// reasons returns the reasons of events and conditions that a file declares or sets.
func reasons(f *ast.File) []string {
	var out []string
	known := crossplaneReasons()
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			t, ok := n.Type.(*ast.SelectorExpr)
			if !ok || (t.Sel.Name != "ConditionReason" && t.Sel.Name != "Reason") {
				return true
			}
			for _, v := range n.Values {
				if s, ok := literal(v); ok {
					out = append(out, s)
				}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 0 {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "xpv2" && known[s.Sel.Name] != "" {
					out = append(out, known[s.Sel.Name])
				}
			}
		}
		return true
	})
	return out
}

// texts returns the texts that a file can print, with an ellipsis for each variable part.
func texts(f *ast.File) []string {
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		s, ok := literal(e)
		if !ok {
			return true
		}
		out = append(out, label.ReplaceAllString(verb.ReplaceAllString(quotedVerb.ReplaceAllString(s, `"…"`), "…"), "…"))
		return false
	})
	for _, g := range f.Comments {
		for _, c := range g.List {
			// A rule in a marker has its message in quotes.
			if strings.Contains(c.Text, "+kubebuilder:") {
				out = append(out, strings.ReplaceAll(c.Text, `\"`, `"`))
			}
		}
	}
	return out
}

// literal returns the text of a string literal, or of a concatenation with one, with an ellipsis for the other operands.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		x, okX := literal(e.X)
		y, okY := literal(e.Y)
		if !okX {
			x = "…"
		}
		if !okY {
			y = "…"
		}
		return x + y, (okX || okY) && e.Op == token.ADD
	}
	return "", false
}

// covers reports whether a piece of a message comes from a text: the parts of the text between ellipses make up half of the
// piece.
func covers(text, piece string) bool {
	covered, rest := 0, piece
	for part := range strings.SplitSeq(strings.ReplaceAll(text, ": ", "…"), "…") {
		part = strings.Trim(part, " ,;:()")
		if at := strings.Index(rest, part); len(part) > 3 && at >= 0 {
			covered, rest = covered+len(part), rest[at+len(part):]
		}
	}
	return 2*covered >= len(piece)
}

// unprinted returns the parts of the messages quoted in a page that are in none of the printed texts. It splits a message at
// its variable parts, and at colons, because errors are wrapped there.
func unprinted(page string, printed []string) []string {
	all := strings.Join(printed, "\n")
	var out []string
	for _, line := range quote.FindAllStringSubmatch(page, -1) {
		for _, message := range span.FindAllStringSubmatch(line[1], -1) {
			// What does not exist, and where, are joined.
			text := strings.NewReplacer(": ", "…", " has no ", "…").Replace(label.ReplaceAllString(message[1], "…"))
			for piece := range strings.SplitSeq(text, "…") {
				piece = strings.Trim(piece, " ,;:()")
				covered := func(text string) bool { return covers(text, piece) }
				if words.MatchString(piece) && !strings.Contains(all, piece) && !slices.ContainsFunc(printed, covered) {
					out = append(out, piece)
				}
			}
		}
	}
	return out
}

// section returns the part of a page below a heading of the second level.
func section(page, title string) string {
	_, rest, _ := strings.Cut(page, "\n## "+title+"\n")
	out, _, _ := strings.Cut(rest, "\n## ")
	return out
}

// titles returns the reasons that a section of a page explains.
func titles(part string) map[string]bool {
	out := map[string]bool{}
	for _, m := range reasonTitle.FindAllStringSubmatch(part, -1) {
		out[m[1]] = true
	}
	return out
}

func TestTroubleshooting(t *testing.T) {
	root, _ := repository(t)
	var printed []string
	declared := map[string]bool{}
	for _, dir := range []string{"apis", "cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, _ fs.DirEntry, err error) error {
			if err != nil || !goFile.MatchString(p) || strings.HasSuffix(p, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				return err
			}
			printed = append(printed, texts(f)...)
			for _, r := range reasons(f) {
				declared[r] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	page := read(t, root, "docs", "troubleshooting.md")
	explained := titles(section(page, "Reasons of events and conditions"))
	for _, r := range slices.Sorted(maps.Keys(declared)) {
		if !explained[r] {
			t.Errorf("docs/troubleshooting.md has no heading for the reason %s: explain it there", r)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(explained)) {
		if !declared[r] {
			t.Errorf("docs/troubleshooting.md explains the reason %s, which no code has", r)
		}
	}
	// Messages of Kubernetes, Crossplane and libraries have their own section.
	ours := strings.Replace(page, section(page, "Messages of Kubernetes and Crossplane"), "", 1)
	for _, piece := range unprinted(ours, printed) {
		t.Errorf("docs/troubleshooting.md quotes %q, which no code prints: quote the message as it is now", piece)
	}
}

func TestReasons(t *testing.T) {
	const source = `package a

const plain = "Plain"

const one, two event.Reason = "One", "Two"

const three xpv2.ConditionReason = "Three"

var _, _ = xpv2.Unavailable().WithMessage("x"), xpv2.ReconcileSuccess()
`
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"One", "Two", "Three", "Unavailable"}, reasons(f)); diff != "" {
		t.Errorf("reasons(...): -want, +got:\n%s", diff)
	}
}

func TestUnprinted(t *testing.T) {
	const source = `package a

// +kubebuilder:validation:XValidation:rule="a",message="must be \"b\" or more"
var _ = errors.Errorf("%s: host %q is unknown, "+"try %5.2f later", a, b, c)
`
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, page string
		want         []string
	}{
		"Whole":    {reason: "An ellipsis in a quoted message stands for a formatting verb.", page: "- `…: host \"…\" is unknown, try … later`"},
		"Part":     {reason: "A quoted message can be a part of one in the code.", page: "- `host \"…\" is unknown`"},
		"Marker":   {reason: "A quoted message can be that of a rule of the API.", page: "- `must be \"b\" or more`"},
		"Changed":  {reason: "A message that differs from the one in the code is reported.", page: "- `host \"…\" is not known`", want: []string{`" is not known`}},
		"Wrapped":  {reason: "Each part of a wrapped message must be in the code.", page: "- `host \"…\": gone away`", want: []string{"gone away"}},
		"Several":  {reason: "All messages that a line quotes are checked.", page: "- `try … later`; `try … again`", want: []string{"again"}},
		"NotAList": {reason: "Quotes outside of lists are not checked.", page: "Set `spec.nothing of that kind`."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, unprinted(tc.page, texts(f))); diff != "" {
				t.Errorf("%s: unprinted(%q): -want, +got:\n%s", tc.reason, tc.page, diff)
			}
		})
	}
}
