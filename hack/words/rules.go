// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"
)

// A rule bans a word or a phrase.
type rule struct {
	// name as the table of CONTRIBUTING.md has it.
	name string
	// instead is what to write, as that table has it.
	instead string
	banned  *regexp.Regexp
	// allowed are matches of banned that are fine; nil for none.
	allowed *regexp.Regexp
	// elements of paths of files that the rule does not apply to.
	elements []string
}

// rules returns all rules. CONTRIBUTING.md lists them, which a test checks.
func rules() []rule {
	return []rule{
		ban("anew", "again, or name the action: recreate, repackage", `anew`),
		ban("as it says", "name the message or the field", `as (it|they) says?`),
		ban("conceal, hide", "redact", `conceal(s|ed|ing)?|hid(e|es|ing)`),
		ban("cure, mend", "fix", `cur(e|es|ed|ing)|mend(s|ed|ing)?`),
		banBut("definition", "CRD, or XRD", `definitions?`, `(?i)(module|package|role|type) definitions?`, "module", "render"),
		ban("everybody, anybody", "everyone, anyone", `everybody|anybody`),
		ban("fight, fought, bout", "ownership conflict, contention", `fights?|fought|fighting|bouts?`),
		ban("folder", "directory", `folders?`),
		ban("for ever", "forever, permanently", `for ever`),
		ban("for want of", "because there is no", `for want of`),
		ban("go on", "continue", `go(es)? on|went on|going on`),
		ban("he, him, his", "they, the user", `he|him|his|himself`),
		banBut("hub", "informer", `hubs?`, `(?i)docker hub`, "oci"),
		banBut("is no", "is not a", `(is|are|was|were) no [a-z]+`,
			`(?i)(there (is|are|was|were)|no (longer|more|less|later|earlier|different|better|worse|shorter|`+
				`bigger|larger|smaller|older|newer|one|such|further|other))`),
		ban("is to be", "must be, will be", `(is|are) to be`),
		ban("let go", "orphan, release", `let(s|ting)? (it |them |that |this )?go`),
		ban("look at", "read, check, observe, reconcile", `look(s|ed|ing)? at`),
		ban("nobody, somebody, whoever", "name the user, client or controller; no one, someone, anyone who",
			`nobody|somebody|whoever`),
		ban("put back, take back", "restore, revert", `(put(s|ting)?|takes?|taken|taking) (it |them |this |that )?back`),
		ban("stranger", "remaining custom resource; object of another owner", `strangers?`),
		ban("yield", "cede", `yield(s|ed|ing)?`),
	}
}

func ban(name, instead, pattern string) rule {
	return rule{name: name, instead: instead, banned: regexp.MustCompile(`(?i)\b(` + pattern + `)\b`)}
}

// banBut bans what matches a pattern, unless the match, together with the word before it, matches another one, or the path of the file
// has an element of the given names.
func banBut(name, instead, pattern, allowed string, elements ...string) rule {
	return rule{
		name: name, instead: instead, banned: regexp.MustCompile(`(?i)(\b[a-z]+ )?\b(` + pattern + `)\b`),
		allowed: regexp.MustCompile(allowed), elements: elements,
	}
}

// find returns the rules that a text of a file breaks, in the order of the rules.
func find(all []rule, file, text string) []rule {
	var out []rule
	for _, r := range all {
		if !r.exempts(file) && slices.ContainsFunc(r.banned.FindAllString(text, -1), r.bans) {
			out = append(out, r)
		}
	}
	return out
}

func (r *rule) bans(match string) bool { return r.allowed == nil || !r.allowed.MatchString(match) }

func (r *rule) exempts(file string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(file, func(c rune) bool { return c == '/' || c == '-' || c == '.' || c == '_' }),
		func(element string) bool { return slices.Contains(r.elements, element) })
}
