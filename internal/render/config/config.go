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
	"helm.sh/helm/v3/pkg/strvals"

	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

const (
	// maxSet bounds one text of settings, in bytes, and maxIndexes the sum of its list indexes: each index creates a
	// list of that length.
	maxSet     = 64 << 10
	maxIndexes = 1 << 20
)

// An Entry is the entry of one install in a config layer, unparsed: two texts in the grammar of helm --set.
type Entry struct {
	Name         string `json:"name"`
	ClientConfig string `json:"clientConfig"`
	Overrides    string `json:"overrides"`
}

// Settings control the installation of an install, in addition to its chart. The zero value changes nothing.
type Settings struct {
	Namespace   string // namespace of the release; "" for no change
	ReleaseName string // name of the release; "" for no change

	CreateNamespace *bool // create the namespace; nil if not set
	SkipCRDs        bool  // leave out crds/; takes IncludeCRDs into account
	DisableHooks    bool

	Timeout time.Duration // timeout of each hook; 0 for Helm's default, 5 minutes
	Atomic  bool          // roll back after a failure
	Wait    bool          // wait until the install is ready before applying the next one; implied by Atomic

	SkipSchemaValidation bool // do not check values against schemas
	TakeOwnership        bool // adopt existing objects
	Force                bool // recreate objects that cannot be updated

	Description string            // description of the revision in the release record; "" for Helm's own
	Labels      map[string]string // labels of the release record

	Overrides map[string]any // values that override those of the chart, but not those of the install
}

// Read reads a config layer, one document of YAML or JSON:
//
//	configs:
//	- name: <name of the install>
//	  clientConfig: Namespace=x,CreateNamespace=true
//	  overrides: a.b=c
//
// A layer may be empty or have no entries. Errors are one line and name the entry. Entry.Parse parses the texts of an
// entry.
func Read(data []byte) ([]Entry, error) {
	all := struct {
		Configs []Entry `json:"configs"`
	}{}
	err := yamldoc.Decode(data, &all)
	if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) {
		field := cmp.Or(te.Field, "the document")
		return nil, errors.Errorf("%s must not be of type %s: the config must be a map with a list named configs, whose entries "+
			"have the string fields name, clientConfig and overrides",
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
			return nil, errors.Errorf("entry %q is listed twice", e.Name)
		}
		seen[e.Name] = true
	}
	return all.Configs, nil
}

// parseSet parses a text in the grammar of helm --set. It replaces Helm's own messages, which quote parts of the text
// and could reveal a secret value.
func parseSet(text string, parse func(text string, into map[string]any) error) (map[string]any, error) {
	out := map[string]any{}
	text = strings.TrimSpace(text)
	if text == "" {
		return out, nil
	}
	if err := set(out, text, parse); err != nil {
		return nil, err
	}
	return out, nil
}

// Set changes values as a flag --set of Helm does, or as --set-string if all values in the text are strings. Errors do not contain values.
func Set(values map[string]any, text string, asStrings bool) error {
	if asStrings {
		return set(values, text, strvals.ParseIntoString)
	}
	return set(values, text, strvals.ParseInto)
}

func set(values map[string]any, text string, parse func(text string, into map[string]any) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("cannot be decoded")
		}
	}()
	if err := checkSet(text); err != nil {
		return err
	}
	if parse(text, values) != nil {
		return errors.New(`must have the format of helm --set: a.b=c,d[0]=e, with \, for a comma in a value`)
	}
	return nil
}

var bracket = regexp.MustCompile(`\[[^\]]*\]`)

// checkSet returns an error if parsing text would take much memory.
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
			// The index has no digits, or too many; the parser rejects both.
			continue
		}
		if sum += min(n, maxIndexes); sum > maxIndexes {
			return errors.Errorf("list indexes are too large: their sum must be at most %d", maxIndexes)
		}
	}
	return nil
}
