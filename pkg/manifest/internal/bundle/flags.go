// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// Flags of Helm's install action for one install. The zero value changes nothing.
type Flags struct {
	// ReleaseName instead of the name of the install.
	ReleaseName string
	// CreateNamespace false does not create a missing namespace; by default it is created.
	CreateNamespace *bool
	// SkipCRDs leaves out the directory crds of the chart.
	SkipCRDs bool
	// DisableHooks runs none of the chart.
	DisableHooks bool
	// Timeout of each hook; by default that of Helm, 5 minutes.
	Timeout time.Duration
	// Wait for the install to be ready before the next one is applied.
	Wait bool
	// SkipSchemaValidation of the values.
	SkipSchemaValidation bool
}

// ConfigOf returns the flags of installs, by their names, as the Config of a Bundle.
func ConfigOf(flags map[string]Flags) source.Layer {
	type entry struct {
		Name         string `json:"name"`
		ClientConfig string `json:"clientConfig"`
	}
	all := struct {
		Configs []entry `json:"configs"`
	}{Configs: make([]entry, 0, len(flags))}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		f := flags[name]
		all.Configs = append(all.Configs, entry{Name: name, ClientConfig: f.text()})
	}
	text, _ := json.Marshal(all) //nolint:errchkjson // Texts can be encoded.
	return source.YAML(text)
}

// text in the grammar of helm --set.
func (f *Flags) text() string {
	var out []string
	if f.ReleaseName != "" {
		out = append(out, "ReleaseName="+strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(f.ReleaseName))
	}
	if f.CreateNamespace != nil {
		out = append(out, "CreateNamespace="+strconv.FormatBool(*f.CreateNamespace))
	}
	if f.Timeout != 0 {
		out = append(out, "Timeout="+f.Timeout.String())
	}
	for _, s := range []struct {
		name string
		on   bool
	}{
		{"SkipCRDs", f.SkipCRDs},
		{"DisableHooks", f.DisableHooks},
		{"Wait", f.Wait},
		{"SkipSchemaValidation", f.SkipSchemaValidation},
	} {
		if s.on {
			out = append(out, s.name+"=true")
		}
	}
	return strings.Join(out, ",")
}
