// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A rule bans a word or a phrase.
type rule struct {
	// name is the entry in the table of CONTRIBUTING.md.
	name string
	// instead is the replacement in that table.
	instead string
	banned  *regexp.Regexp
	// allowed matches the exceptions among the matches of banned; nil for none.
	allowed *regexp.Regexp
	// elements are the path elements that exempt a file from the rule.
	elements []string
	// imported is the directory of a package that is exempt from the rule, with the Go files that import it; empty for none.
	imported string
	// scope says which texts the rule applies to.
	scope scope
}

// A scope is a set of kinds of text.
type scope int

const (
	inProse scope = iota
	inNames
	everywhere
)

// rules returns all rules. A test checks that CONTRIBUTING.md lists them.
func rules() []rule {
	return []rule{
		in(everywhere, ban("anew", "again, or name the action: recreate, repackage", `anew`)),
		ban("as it says", "name the message or the field", `as (it|they) says?`),
		banBut("claim (as a verb)", "take over, own, have", `claimed|claiming|claims? (the|what|an?|to)`,
			`(?i)^(the|a|this|that|its|each) claims? `, "cosign"),
		ban("conceal, hide", "redact", `conceal(s|ed|ing)?|hid(e|es|ing)`),
		in(everywhere, ban("cure, mend", "fix", `cur(e|es|ed|ing)|mend(s|ed|ing)?`)),
		definitions(),
		in(everywhere, ban("everybody, anybody", "everyone, anyone", `everybody|anybody`)),
		in(everywhere, ban("fight, fought, bout", "ownership conflict, contention", `fights?|fought|fighting|bouts?`)),
		in(everywhere, ban("folder", "directory", `folders?`)),
		ban("for ever", "forever, permanently", `for ever`),
		ban("for want of", "because there is no", `for want of`),
		in(everywhere, ban("go on", "continue", `go(es)? on|went on|going on`)),
		ban("he, him, his", "they, the user", `he|him|his|himself`),
		banBut("hub", "informer", `hubs?`, `(?i)docker hub`, "oci"),
		banBut("is no", "is not a", `(is|are|was|were) no [a-z]+`,
			`(?i)(there (is|are|was|were)|no (longer|more|less|later|earlier|different|better|worse|shorter|`+
				`bigger|larger|smaller|older|newer|one|such|further|other))`),
		ban("is to be", "must be, will be", `(is|are) to be`),
		in(everywhere, ban("let go", "orphan, release", `let(s|ting)? (it |them |that |this )?go`)),
		in(everywhere, ban("look at", "read, check, observe, reconcile", `look(s|ed|ing)? at`)),
		in(everywhere, ban("nobody, somebody, whoever", "name the user, client or controller; no one, someone, anyone who",
			`nobody|somebody|whoever`)),
		in(everywhere, ban("put back, take back", "restore, revert", `(put(s|ting)?|takes?|taken|taking) (it |them |this |that )?back`)),
		in(everywhere, ban("stranger", "remaining custom resource; object of another owner", `strangers?`)),
		in(inNames, ban("tell, told (in names)", "record, report, notify, send", `tells?|told|telling`)),
		in(everywhere, ban("yield", "cede", `yield(s|ed|ing)?`)),
	}
}

// definitions returns the rule about CRDs. It allows definitions of modules, which package definition reads, files of XRDs, and
// definitions in JSON schemas.
func definitions() rule {
	r := banBut("definition", "CRD, or XRD", `definitions?(\.yaml)?`, `(?i)(module|package|role|type|resource) definitions?|\.yaml$`, "schema")
	r.imported = "internal/module/definition"
	return in(everywhere, r)
}

func ban(name, instead, pattern string) rule {
	return rule{name: name, instead: instead, banned: regexp.MustCompile(`(?i)\b(` + pattern + `)\b`)}
}

// banBut returns a rule that bans the matches of a pattern. A match is allowed if, together with the word before it, it
// matches another pattern, or if the path of the file has one of the elements.
func banBut(name, instead, pattern, allowed string, elements ...string) rule {
	return rule{
		name: name, instead: instead, banned: regexp.MustCompile(`(?i)(\b[a-z]+ )?\b(` + pattern + `)\b`),
		allowed: regexp.MustCompile(allowed), elements: elements,
	}
}

// in returns the rule with another scope.
func in(s scope, r rule) rule {
	r.scope = s
	return r
}

// rulesFor returns the rules that apply to a file.
func rulesFor(all []rule, name string, data []byte) []rule {
	return slices.DeleteFunc(slices.Clone(all), func(r rule) bool {
		imports := r.imported != "" && path.Ext(name) == ".go" && bytes.Contains(data, []byte("/"+r.imported+`"`))
		return r.exempts(name) || path.Dir(name) == r.imported || imports
	})
}

// find returns the rules that a line violates, in their order.
func find(all []rule, l line) []rule {
	var out []rule
	for _, r := range all {
		if r.covers(l) && slices.ContainsFunc(r.banned.FindAllString(l.text, -1), r.bans) {
			out = append(out, r)
		}
	}
	return out
}

// covers reports whether the rule applies to this kind of text.
func (r *rule) covers(l line) bool { return r.scope == everywhere || l.isName == (r.scope == inNames) }

func (r *rule) bans(match string) bool { return r.allowed == nil || !r.allowed.MatchString(match) }

func (r *rule) exempts(file string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(file, func(c rune) bool { return c == '/' || c == '-' || c == '.' || c == '_' }),
		func(element string) bool { return slices.Contains(r.elements, element) })
}
