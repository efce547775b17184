// SPDX-License-Identifier: Apache-2.0

package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/storage/driver"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

const (
	// maxDescription bounds the description of a revision, in bytes.
	maxDescription = 1024
	// maxSeconds is the largest plain number that is a timeout in seconds, 11 days. A larger number is in
	// nanoseconds, as in the field of Helm, where smaller ones are too short for a timeout.
	maxSeconds = 1_000_000
	// flagLabels is the only flag that is a map.
	flagLabels = "Labels"
)

// Parse parses the texts of an entry. The keys of clientConfig are those of Helm's install action; Parse fails on
// unknown and unsupported keys and names them. Errors never contain a value of overrides.
func (e Entry) Parse() (Settings, error) {
	keys, err := parseSet(e.ClientConfig, strvals.ParseIntoString)
	if err != nil {
		return Settings{}, errors.Wrap(err, "clientConfig")
	}
	f := &flags{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if err := f.read(key, keys[key]); err != nil {
			return Settings{}, errors.Wrapf(err, "clientConfig: %s", input.Line(key))
		}
	}
	s := f.settings()
	s.Overrides, err = parseSet(e.Overrides, strvals.ParseInto)
	return s, errors.Wrap(err, "overrides")
}

// flags holds the supported flags of Helm's install action.
type flags struct {
	Settings

	include, wait, waitForJobs, noHooks bool
}

// settings returns the settings that result from the combined flags, as in Helm.
func (f *flags) settings() Settings {
	s := f.Settings
	s.SkipCRDs = s.SkipCRDs && !f.include
	s.DisableHooks = s.DisableHooks || f.noHooks
	s.Wait = f.wait || f.waitForJobs || s.Atomic
	return s
}

// withoutEffect lists keys of Helm's client that are ignored, because this provider works differently: it repairs
// failures, prints nothing, sends no request that would check objects without applying them, and takes the
// location of charts and the access to them from the source and the ProviderConfig.
var withoutEffect = []string{ //nolint:gochecknoglobals // A constant table.
	"CaFile", "CertFile", "DependencyUpdate", "Devel", "DisableOpenAPIValidation", "HideNotes", "HideSecret",
	"InsecureSkipTLSverify", "IsUpgrade", "KeyFile", "Keyring", "PassCredentialsAll", "Password", "PlainHTTP", "Replace",
	"RepoURL", "SubNotes", "UseReleaseName", "Username", "Version",
}

// notDone maps unsupported keys to the reason. They are accepted only with a value that disables them.
var notDone = map[string]string{ //nolint:gochecknoglobals // A constant table.
	"APIVersions":  "the API versions of the target cluster are used",
	"ClientOnly":   "modules are always installed",
	"DryRun":       "modules are always installed",
	"DryRunOption": "modules are always installed",
	"EnableDNS":    "templates cannot access the network",
	"GenerateName": "the release name must be stable; set ReleaseName",
	"KubeVersion":  "the version of the target cluster is used",
	"NameTemplate": "the release name must be stable; set ReleaseName",
	"OutputDir":    "manifests are not written to files",
	"PostRenderer": "commands are not executed",
	"Verify":       "set verification in the ProviderConfig",
}

// read reads one key.
func (f *flags) read(key string, value any) error {
	if key == flagLabels {
		return f.labels(value)
	}
	text, ok := value.(string)
	if why, known := notDone[key]; known {
		if ok && (text == "" || text == "false" || text == "none" && key == "DryRunOption") {
			return nil
		}
		return errors.Errorf("is not supported: %s", why)
	}
	if !ok {
		return errors.New("must be a single value, not a list or a map")
	}
	if at := f.switches(key); at != nil {
		return parseBool(text, at)
	}
	return f.text(key, text)
}

// switches returns the field of a boolean key, or nil for other keys.
func (f *flags) switches(key string) *bool {
	return map[string]*bool{
		"Atomic":               &f.Atomic,
		"DisableHooks":         &f.DisableHooks,
		"Force":                &f.Force,
		"IncludeCRDs":          &f.include,
		"NoHooks":              &f.noHooks,
		"SkipCRDs":             &f.SkipCRDs,
		"SkipSchemaValidation": &f.SkipSchemaValidation,
		"TakeOwnership":        &f.TakeOwnership,
		"Wait":                 &f.wait,
		"WaitForJobs":          &f.waitForJobs,
	}[key]
}

// text sets a key that is not boolean.
func (f *flags) text(key, text string) (err error) {
	switch key {
	case "Namespace":
		if msgs := validation.IsDNS1123Label(text); text != "" && len(msgs) > 0 {
			return errors.Errorf("%q is not a valid namespace name", input.Line(text))
		}
		f.Namespace = text
	case "ReleaseName":
		if text != "" && chartutil.ValidateReleaseName(text) != nil {
			return errors.Errorf("invalid release name %q: must be a DNS subdomain with at most 53 characters", input.Line(text))
		}
		f.ReleaseName = text
	case "CreateNamespace":
		create := false
		err = parseBool(text, &create)
		f.CreateNamespace = &create
	case "Timeout":
		f.Timeout, err = parseTimeout(text)
	case "Description":
		if len(text) > maxDescription {
			return errors.Errorf("is longer than %d bytes", maxDescription)
		}
		f.Description = text
	default:
		if !slices.Contains(withoutEffect, key) {
			return errors.New("unknown key; the keys are the fields of Helm's install action")
		}
	}
	return err
}

// labels sets the labels of the release record, which Helm stores next to its own.
func (f *flags) labels(value any) error {
	in, ok := value.(map[string]any)
	if !ok {
		if value == "" {
			return nil
		}
		return errors.New(`must be a map, such as Labels.team=a, with \. for a dot in a name`)
	}
	f.Labels = make(map[string]string, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		text, ok := in[name].(string)
		switch {
		case !ok:
			return errors.Errorf(`%s must be a single value; write \. for a dot in a name`, input.Line(name))
		case driver.ContainsSystemLabels(map[string]string{name: text}):
			return errors.Errorf("label %s is reserved by Helm", input.Line(name))
		case len(validation.IsQualifiedName(name)) > 0:
			return errors.Errorf("%q is not a valid label name", input.Line(name))
		case len(validation.IsValidLabelValue(text)) > 0:
			return errors.Errorf("%q is not a valid label value", input.Line(text))
		}
		f.Labels[name] = text
	}
	return nil
}

func parseBool(text string, at *bool) error {
	if text != "true" && text != "false" {
		return errors.New("must be true or false")
	}
	*at = text == "true"
	return nil
}

// parseTimeout parses a duration such as 5m30s, or a plain number: seconds, or nanoseconds, as in Helm, if it is too
// large for seconds.
func parseTimeout(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if n, nerr := strconv.ParseInt(text, 10, 64); nerr == nil {
		unit := int64(1)
		if n <= maxSeconds {
			unit = int64(time.Second)
		}
		d, err = time.Duration(n*unit), nil
	}
	if err != nil || d < 0 || strings.HasPrefix(text, "-") {
		return 0, errors.New("must be a duration such as 5m30s, or a number of seconds")
	}
	return d, nil
}
