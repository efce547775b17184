// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

const (
	// maxSet bounds one text of settings, in bytes, and maxIndexes the sum of the
	// indexes of lists in it: each index makes a list of that length.
	maxSet     = 64 << 10
	maxIndexes = 1 << 20
)

// An Entry is what a config layer says of one install, as it is written
// there: two texts in the grammar of helm --set.
type Entry struct {
	Name         string `json:"name"`
	ClientConfig string `json:"clientConfig"`
	Overrides    string `json:"overrides"`
}

// Settings are how an install is installed, beyond what the chart says. The zero
// value changes nothing.
type Settings struct {
	Namespace   string // of the release; "" for no change
	ReleaseName string // "" for no change

	CreateNamespace *bool // nil if nothing is said
	SkipCRDs        bool  // leave out crds/, IncludeCRDs taken into account
	DisableHooks    bool

	Timeout time.Duration // of each hook; 0 for Helm's default, 5 minutes
	Atomic  bool          // roll back what fails
	Wait    bool          // for the install to be ready before the next one is applied; Atomic means it, too

	SkipSchemaValidation bool // of the values
	TakeOwnership        bool // adopt what exists already
	Force                bool // recreate what cannot be changed

	Description string            // of the revision in the record of the release; "" for Helm's own
	Labels      map[string]string // of the record of the release

	Overrides map[string]any // values between those of the chart and of the install
}

// Read reads a config layer, one document of YAML or JSON:
//
//	configs:
//	- name: <name of the install>
//	  clientConfig: Namespace=x,CreateNamespace=true
//	  overrides: a.b=c
//
// A layer without any entry is allowed, also an empty one. Errors are one line
// and name the entry. The texts of an entry are read by its Parse.
func Read(data []byte) ([]Entry, error) {
	all := struct {
		Configs []Entry `json:"configs"`
	}{}
	err := yamldoc.Decode(data, &all)
	if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) {
		field := cmp.Or(te.Field, "the document")
		return nil, errors.Errorf("%s must not be of type %s: it is a map with a list configs, each with the texts name, clientConfig and overrides",
			field, te.Value)
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, e := range all.Configs {
		if e.Name == "" {
			return nil, errors.Errorf("configs[%d] has no name", i)
		}
		if seen[e.Name] {
			return nil, errors.Errorf("entry %q is there twice", e.Name)
		}
		seen[e.Name] = true
	}
	return all.Configs, nil
}

// parseSet parses a text in the grammar of helm --set. Helm's own messages show
// parts of the text, which may be those of a secret value.
func parseSet(text string, parse func(string) (map[string]any, error)) (out map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, errors.New("cannot be read")
		}
	}()
	text = strings.TrimSpace(text)
	if text == "" {
		return map[string]any{}, nil
	}
	if err := checkSet(text); err != nil {
		return nil, err
	}
	if out, err = parse(text); err != nil {
		return nil, errors.New(`must be in the grammar of helm --set: a.b=c,d[0]=e, with \, for a comma in a value`)
	}
	return out, nil
}

var bracket = regexp.MustCompile(`\[[^\]]*\]`)

// checkSet refuses a text that would need much memory.
func checkSet(text string) error {
	if len(text) > maxSet {
		return errors.Errorf("is larger than %d bytes", maxSet)
	}
	sum := 0
	for _, b := range bracket.FindAllString(text, -1) {
		digits := strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, b)
		n, err := strconv.Atoi(digits)
		if err != nil {
			// No digits, or more than any index has; the parser refuses both.
			continue
		}
		if sum += min(n, maxIndexes); sum > maxIndexes {
			return errors.Errorf("has indexes of lists that are too large: together at most %d", maxIndexes)
		}
	}
	return nil
}
