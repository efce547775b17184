// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"regexp"
	"strings"
)

// Uses reports what templates mention.
type Uses struct {
	Impure      bool // A function whose result depends on more than its arguments: the cluster, the clock or chance.
	APIVersions bool // A field named APIVersions.
	KubeVersion bool // A field named KubeVersion, or all capabilities.
	TPL         bool // The function tpl, which executes text.
}

func (u *Uses) add(o Uses) {
	u.Impure = u.Impure || o.Impure
	u.APIVersions = u.APIVersions || o.APIVersions
	u.KubeVersion = u.KubeVersion || o.KubeVersion
	u.TPL = u.TPL || o.TPL
}

var (
	impureWord      = regexp.MustCompile(`\b(?:` + strings.Join(impureFuncs, "|") + `)\b`)
	apiVersionsWord = regexp.MustCompile(`\bAPIVersions\b`)
	kubeVersionWord = regexp.MustCompile(`\bKubeVersion\b`)
)

// hasAction reports whether text is a template rather than plain text.
func hasAction(text string) bool { return strings.Contains(text, "{{") }

// MayBeImpure reports whether text is a template that may use an impure function; see Uses.Impure.
func MayBeImpure(text string) bool { return hasAction(text) && impureWord.MatchString(text) }

// MayUseKubeVersion reports whether text is a template that might use a field named KubeVersion.
func MayUseKubeVersion(text string) bool { return hasAction(text) && kubeVersionWord.MatchString(text) }

// MayUseAPIVersions reports whether text is a template that may use a field named APIVersions.
func MayUseAPIVersions(text string) bool { return hasAction(text) && apiVersionsWord.MatchString(text) }
