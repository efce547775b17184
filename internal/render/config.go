// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// maxSet bounds one text of settings, in bytes, and maxIndexes the sum of the
	// indexes of lists in it: each index makes a list of that length.
	maxSet     = 64 << 10
	maxIndexes = 1 << 20
)

// A ConfigEntry is what a config layer says of one install, as it is written
// there: two texts in the grammar of helm --set.
type ConfigEntry struct {
	Name         string `json:"name"`
	ClientConfig string `json:"clientConfig"`
	Overrides    string `json:"overrides"`
}

// Config is how an install is installed, beyond what the chart says. The zero
// value changes nothing.
type Config struct {
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

// Configs reads a config layer, one document of YAML or JSON:
//
//	configs:
//	- name: <name of the install>
//	  clientConfig: Namespace=x,CreateNamespace=true
//	  overrides: a.b=c
//
// A layer without any entry is allowed, also an empty one. Errors are one line
// and name the entry. The texts of an entry are read by its Parse.
func Configs(data []byte) ([]ConfigEntry, error) {
	docs, err := documents(trimBOM(data))
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	if len(docs) > 1 {
		return nil, errors.Errorf("it has %d documents, and must have one", len(docs))
	}
	j, err := jsonOf(docs[0].data)
	if err != nil {
		return nil, placed(err, 1, 1, docs[0].line)
	}
	if bytes.Equal(bytes.TrimSpace(j), []byte("null")) {
		return nil, nil
	}
	all := struct {
		Configs []ConfigEntry `json:"configs"`
	}{}
	d := json.NewDecoder(bytes.NewReader(j))
	d.DisallowUnknownFields()
	err = d.Decode(&all)
	if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) {
		field := cmp.Or(te.Field, "the document")
		return nil, errors.Errorf("%s must not be of type %s: it is a map with a list configs, each with the texts name, clientConfig and overrides",
			field, te.Value)
	}
	if err != nil {
		return nil, errors.New(oneLine(strings.TrimPrefix(err.Error(), "json: ")))
	}
	if err := single(docs[0].data); err != nil {
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

// MergeValues returns base with over on top, as Helm merges files of values. Maps
// are merged, all else is replaced; null stays, and takes away what the chart has.
// Neither is changed.
func MergeValues(base, over map[string]any) map[string]any { return mergeValues(base, over) }

// mergeValues returns base with over on top. Maps are merged, all else is
// replaced; null takes a value away, as in Helm. Neither is changed.
func mergeValues(base, over map[string]any) map[string]any {
	out := make(map[string]any, len(base)+len(over))
	for k, v := range base {
		out[k] = cloneValue(v)
	}
	for k, v := range over {
		b, isMap := out[k].(map[string]any)
		o, overMap := v.(map[string]any)
		if isMap && overMap {
			out[k] = mergeValues(b, o)
			continue
		}
		out[k] = cloneValue(v)
	}
	return out
}

// cloneValue copies the maps and lists of a value, which Helm may change.
func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return mergeValues(v, nil)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cloneValue(v[i])
		}
		return out
	default:
		return v
	}
}
