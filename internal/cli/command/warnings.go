// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"sync"
	"unicode"
)

// warningCode is the code of the warnings that API servers send to users.
const warningCode = 299

// warnings shows each warning of an API server once.
type warnings struct {
	show func(format string, args ...any)

	mu   sync.Mutex
	seen map[string]bool
}

// HandleWarningHeader shows a warning on a single line, unless it was shown before.
func (w *warnings) HandleWarningHeader(code int, _ string, text string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }), " ")
	if code != warningCode || text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.show("%s", text)
}
