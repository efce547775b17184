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

// Flags configures Helm's install action for one install. The zero value changes nothing.
type Flags struct {
	// ReleaseName is the name of the Helm release. The default is the name of the install.
	ReleaseName string
	// CreateNamespace is false to prevent the engine from creating a missing namespace. By default the engine creates it.
	CreateNamespace *bool
	// SkipCRDs makes the engine ignore the crds directory of the chart.
	SkipCRDs bool
	// DisableHooks prevents all hooks of the chart from running.
	DisableHooks bool
	// Timeout limits each hook. The default is Helm's, 5 minutes.
	Timeout time.Duration
	// Wait makes the engine wait until the install is ready before it applies the next one.
	Wait bool
	// SkipSchemaValidation disables the validation of values against the schema of the chart.
	SkipSchemaValidation bool
}

// ConfigOf encodes flags as the Config of a Bundle. The keys of the map are the names of the installs.
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

// text returns the flags in the syntax of helm --set.
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
