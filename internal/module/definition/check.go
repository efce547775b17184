// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// Patterns of names and versions of a module. isName is the strict form of OCM, which readers of the loose form also
// accept.
var (
	isName = regexp.MustCompile(`^[a-z][-a-z0-9]*([.][a-z][-a-z0-9]*)*[.][a-z]{2,}(/[a-z][-a-z0-9_]*([.][a-z][-a-z0-9_]*)*)+$`)
	// The first part is as in OCM, the rest as specified by semver.org.
	isVersion = regexp.MustCompile(`^v?(0|[1-9]\d*)(\.(0|[1-9]\d*)){0,2}` +
		`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
		`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)
	isChannel = regexp.MustCompile(`^[a-z][a-z0-9-]{1,30}[a-z0-9]$`)
	isInstall = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	isModule  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	isSource  = regexp.MustCompile(`^[a-z0-9]([-_+a-z0-9]*[a-z0-9])?$`)
	isCommit  = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

const (
	maxText    = 255
	maxModule  = 63
	maxInstall = 53
	maxCEL     = 4096
	// maxItems bounds the number of entries of each list.
	maxItems = 200
)

// CheckName returns an error if a name is not a valid name of a component.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("name is missing: set the name of the component, such as example.org/module/greeter")
	case len(name) > maxText, !isName.MatchString(name):
		return errors.Errorf("name: invalid value %.300q: must be a lowercase domain and path such as "+
			"example.org/module/greeter, with at most %d characters",
			name, maxText)
	}
	return nil
}

// CheckVersion returns an error if a version is not a valid version of a component.
func CheckVersion(version string) error {
	switch {
	case version == "":
		return errors.New("version is missing: set a semantic version such as 1.2.3")
	case len(version) > maxText, !isVersion.MatchString(version):
		return errors.Errorf("version: invalid value %.140q: must be a semantic version such as 1.2.3", version)
	}
	_, err := ocm.Tag(version)
	return err
}

// ChannelForm describes the valid names of channels in messages.
const ChannelForm = "3 to 32 lowercase letters, digits or '-', beginning with a letter and not ending with '-'"

// IsChannel reports whether a name is a valid name of a channel.
func IsChannel(name string) bool { return isChannel.MatchString(name) }

// CheckChannel returns an error if a name is not a valid name of a channel.
func CheckChannel(channel string) error {
	if !IsChannel(channel) {
		return errors.Errorf("channel: invalid value %.100q: must be "+ChannelForm, channel)
	}
	return nil
}

// CheckInstall returns an error if a name is not a valid name of an install.
func CheckInstall(name string) error {
	if len(name) < 2 || len(name) > maxInstall || !isInstall.MatchString(name) {
		return errors.Errorf("invalid install name %.100q: must consist of 2 to %d lowercase letters, digits or '-'", name, maxInstall)
	}
	return nil
}

// Check checks that the definition is complete and valid, without reading its files.
func (d *Definition) Check() error {
	for _, check := range []func() error{d.checkIdentity, d.checkContents, d.checkConfig, d.checkReadiness, d.checkSources, d.checkLabels} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Definition) checkIdentity() error {
	if err := CheckName(d.Name); err != nil {
		return err
	}
	if err := CheckVersion(d.Version); err != nil {
		return err
	}
	if d.Channel != "" {
		if err := CheckChannel(d.Channel); err != nil {
			return err
		}
	}
	if len(d.Provider) > maxText || strings.ContainsFunc(d.Provider, control) {
		return errors.Errorf("provider: invalid value %.100q: must be a single line of at most %d characters", d.Provider, maxText)
	}
	if base := path.Base(d.Name); d.Labels[v1alpha1.LabelModuleName] == "" && (len(base) > maxModule || !isModule.MatchString(base)) {
		return errors.Errorf("name: invalid value %.300q: the last element is the name of the module and must consist of "+
			"at most %d lowercase letters, digits, '-' or '.'; change it, or set labels[%s]", d.Name, maxModule, v1alpha1.LabelModuleName)
	}
	return nil
}

func (d *Definition) checkContents() error {
	installs := map[string]string{}
	for _, in := range d.installs() {
		if err := in.check(installs); err != nil {
			return err
		}
	}
	for i, c := range d.Charts {
		if !slices.Contains([]string{"", FormatLayer, FormatHelm}, c.Format) {
			return errors.Errorf("charts[%d].format: invalid value %.100q: must be %s or %s", i, c.Format, FormatLayer, FormatHelm)
		}
	}
	for i, p := range d.CRDs {
		if err := checkPath(fmt.Sprintf("crds[%d]", i), p); err != nil {
			return err
		}
	}
	for _, n := range []int{len(d.Charts), len(d.Manifests), len(d.Kustomizations), len(d.CRDs), len(d.Sources)} {
		if n > maxItems {
			return errors.Errorf("charts, manifests, kustomizations, crds and sources must have at most %d entries each", maxItems)
		}
	}
	if d.DefaultCustomResource == "" {
		return nil
	}
	return checkPath("defaultCustomResource", d.DefaultCustomResource)
}

// An install is a chart or plain YAML. The name is optional.
type install struct {
	field, name, path string
	chart             bool
}

func (d *Definition) installs() []install {
	var out []install
	for i, c := range d.Charts {
		out = append(out, install{field: fmt.Sprintf("charts[%d]", i), name: c.Name, path: c.Path, chart: true})
	}
	for i, m := range d.Manifests {
		out = append(out, install{field: fmt.Sprintf("manifests[%d]", i), name: m.Name, path: m.Path})
	}
	for i, k := range d.Kustomizations {
		out = append(out, install{field: fmt.Sprintf("kustomizations[%d]", i), name: k.Name, path: k.Path})
	}
	return out
}

// check checks an install, and adds its name to names.
func (in install) check(names map[string]string) error {
	if err := checkPath(in.field+".path", in.path); err != nil || in.name == "" {
		return err
	}
	if Reserved(in.name) && (in.chart || in.name != RawManifest) {
		return errors.Errorf("%s.name: %q is reserved: use another name", in.field, in.name)
	}
	if err := CheckInstall(in.name); err != nil {
		return errors.Wrapf(err, "%s.name", in.field)
	}
	if other, ok := names[in.name]; ok {
		return errors.Errorf("%s.name: %q is also the name of %s: rename one of them", in.field, in.name, other)
	}
	names[in.name] = in.field
	return nil
}

// checkPath returns an error if a path leaves the directory of the definition.
func checkPath(field, p string) error {
	switch {
	case p == "":
		return errors.Errorf("%s is missing", field)
	case path.IsAbs(p), strings.Contains(p, `\`), strings.ContainsFunc(p, control), slices.Contains(strings.Split(p, "/"), ".."),
		!fs.ValidPath(path.Clean(p)):
		return errors.Errorf("%s: invalid value %.300q: must be a path relative to the directory of the module, with slashes and without ..", field, p)
	}
	return nil
}

func (d *Definition) checkConfig() error {
	c := d.Config
	if c == nil {
		return nil
	}
	switch {
	case c.Path != "" && len(c.Configs) > 0:
		return errors.New("config.path and config.configs are mutually exclusive")
	case c.Path == "" && len(c.Configs) == 0:
		return errors.New("config must have either path or configs")
	case c.Path != "":
		return checkPath("config.path", c.Path)
	}
	seen := map[string]bool{}
	for i, e := range c.Configs {
		field := fmt.Sprintf("config.configs[%d].name", i)
		switch {
		case e.Name == "":
			return errors.Errorf("%s is missing", field)
		case seen[e.Name]:
			return errors.Errorf("%s: duplicate value %q", field, e.Name)
		}
		seen[e.Name] = true
	}
	return nil
}

func (d *Definition) checkReadiness() error {
	for i, r := range d.Readiness {
		field := fmt.Sprintf("readiness[%d]", i)
		switch {
		case r.CEL == "":
			return errors.Errorf("%s.cel is missing", field)
		case len(r.CEL) > maxCEL:
			return errors.Errorf("%s.cel is longer than %d characters", field, maxCEL)
		case r.For != nil && (r.For.APIVersion == "" || r.For.Kind == ""):
			return errors.Errorf("%s.for: apiVersion and kind are required", field)
		}
	}
	return nil
}

func (d *Definition) checkSources() error {
	seen := map[string]bool{}
	for i, s := range d.Sources {
		field := fmt.Sprintf("sources[%d]", i)
		switch {
		case len(s.Name) < 2 || len(s.Name) > maxText || !isSource.MatchString(s.Name):
			return errors.Errorf("%s.name: invalid value %.100q: must consist of two or more lowercase letters, digits, '-', '_' or '+'", field, s.Name)
		case seen[s.Name]:
			return errors.Errorf("%s.name: duplicate value %q", field, s.Name)
		case s.Commit != "" && !isCommit.MatchString(s.Commit):
			return errors.Errorf("%s.commit: invalid value %.100q: must be 7 to 64 hexadecimal digits", field, s.Commit)
		case len(s.Ref) > maxText || strings.ContainsFunc(s.Ref, func(r rune) bool { return r == ' ' || control(r) }):
			return errors.Errorf("%s.ref: invalid value %.100q: must be a branch or a tag", field, s.Ref)
		}
		seen[s.Name] = true
		if err := checkRepository(s.Repository); err != nil {
			return errors.Wrapf(err, "%s.repository", field)
		}
	}
	return nil
}

// checkRepository checks the URL of a repository. Its errors never contain the URL, which may include a password.
func checkRepository(repository string) error {
	u, err := url.Parse(repository)
	switch {
	case repository == "":
		return errors.New("is missing")
	case err != nil || u.Host == "" || len(repository) > 2048 || strings.ContainsFunc(repository, control):
		return errors.New("must be the URL of a git repository, such as https://git.example.org/team/greeter")
	case u.Scheme == "ssh" && u.User != nil && u.User.String() == "git":
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return errors.New("must not contain credentials, a query or a fragment, because everyone who has the module can read them")
	case !slices.Contains([]string{"https", "http", "ssh", "git"}, u.Scheme):
		return errors.New("must be the URL of a git repository that begins with https://, http://, ssh:// or git://")
	}
	return nil
}

func (d *Definition) checkLabels() error {
	for _, key := range sortedKeys(d.Labels) {
		if msgs := validation.IsQualifiedName(key); len(msgs) > 0 {
			return errors.Errorf("labels[%.300s]: invalid label name: %s", oneLine(key), msgs[0])
		}
		if msgs := validation.IsValidLabelValue(d.Labels[key]); len(msgs) > 0 {
			return errors.Errorf("labels[%s]: invalid value %.100q: %s", key, d.Labels[key], msgs[0])
		}
	}
	return nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }
