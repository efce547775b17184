// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/util/validation"
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
	j, err := jsonOf(docs[0])
	if err != nil {
		return nil, err
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
	if err := single(docs[0]); err != nil {
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

// Parse the texts of an entry. Keys of clientConfig are those of Helm's install
// action; one that is unknown, and one that asks for what is not done here, is
// an error that names it. No error shows a value of overrides.
func (e ConfigEntry) Parse() (Config, error) {
	keys, err := parseSet(e.ClientConfig, strvals.ParseString)
	if err != nil {
		return Config{}, errors.Wrap(err, "clientConfig")
	}
	c := Config{}
	include := false
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		text, ok := keys[key].(string)
		if !ok {
			return Config{}, errors.Errorf("clientConfig: %s must be one value, not a list or a map", key)
		}
		if err := c.set(key, text, &include); err != nil {
			return Config{}, errors.Wrapf(err, "clientConfig: %s", oneLine(key))
		}
	}
	c.SkipCRDs = c.SkipCRDs && !include
	c.Overrides, err = parseSet(e.Overrides, strvals.Parse)
	return c, errors.Wrap(err, "overrides")
}

// withoutEffect are keys that tell Helm's client what to do, where this provider
// has an own way: it does not wait, repairs what failed, and knows from the
// source and the ProviderConfig where a chart is and how to get it.
var withoutEffect = []string{ //nolint:gochecknoglobals // A constant table.
	"Atomic", "CaFile", "CertFile", "DependencyUpdate", "Description", "Devel", "DisableOpenAPIValidation", "Force", "HideNotes",
	"HideSecret", "InsecureSkipTLSverify", "IsUpgrade", "KeyFile", "Keyring", "PassCredentialsAll", "Password", "PlainHTTP",
	"Replace", "RepoURL", "SubNotes", "Timeout", "UseReleaseName", "Username", "Version", "Wait", "WaitForJobs",
}

// notDone are keys whose effect nobody must count on, so that they are accepted
// only where they say that it is not wanted.
var notDone = map[string]string{ //nolint:gochecknoglobals // A constant table.
	"ClientOnly":           "nothing would be installed",
	"DryRun":               "nothing would be installed",
	"DryRunOption":         "nothing would be installed",
	"EnableDNS":            "templates get no access to the network",
	"GenerateName":         "the name of a release must stay the same, set ReleaseName",
	"NameTemplate":         "the name of a release must stay the same, set ReleaseName",
	"OutputDir":            "nothing is written to files",
	"SkipSchemaValidation": "values are checked against the schema of the chart",
	"TakeOwnership":        "set adopt in the Manifest",
	"Verify":               "set verification in the ProviderConfig",
}

// set one key of clientConfig.
func (c *Config) set(key, text string, include *bool) (err error) {
	switch key {
	case "Namespace":
		if msgs := validation.IsDNS1123Label(text); text != "" && len(msgs) > 0 {
			return errors.Errorf("%q is no name of a namespace", oneLine(text))
		}
		c.Namespace = text
	case "ReleaseName":
		if text != "" && chartutil.ValidateReleaseName(text) != nil {
			return errors.Errorf("%q is no name of a release: at most 53 characters, as in a DNS subdomain", oneLine(text))
		}
		c.ReleaseName = text
	case "CreateNamespace":
		create, err := parseBool(text)
		c.CreateNamespace = &create
		return err
	case "SkipCRDs":
		c.SkipCRDs, err = parseBool(text)
	case "IncludeCRDs":
		*include, err = parseBool(text)
	case "DisableHooks", "NoHooks":
		disable, err := parseBool(text)
		c.DisableHooks = c.DisableHooks || disable
		return err
	default:
		return ignored(key, text)
	}
	return err
}

// ignored says why a key cannot be ignored.
func ignored(key, text string) error {
	if slices.Contains(withoutEffect, key) {
		return nil
	}
	why, ok := notDone[key]
	switch {
	case !ok:
		return errors.New("is unknown; the keys are the fields of Helm's install action")
	case text == "", text == "false", text == "none" && key == "DryRunOption":
		return nil
	}
	return errors.Errorf("is not supported: %s", why)
}

func parseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("must be true or false")
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
