// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// generators checks the generators of ConfigMaps and Secrets.
func (f *kustomization) generators(k *types.Kustomization) error {
	for i, g := range k.ConfigMapGenerator {
		if err := f.pairs(fmt.Sprintf("configMapGenerator[%d]", i), g.GeneratorArgs); err != nil {
			return err
		}
	}
	for i, g := range k.SecretGenerator {
		if err := f.pairs(fmt.Sprintf("secretGenerator[%d]", i), g.GeneratorArgs); err != nil {
			return err
		}
	}
	return nil
}

// pairs checks the files of a generator. The name of a file may follow a key.
func (f *kustomization) pairs(field string, s types.GeneratorArgs) error {
	sources := make([]string, len(s.FileSources))
	for i, p := range s.FileSources {
		sources[i] = p
		if _, after, ok := strings.Cut(p, "="); ok {
			sources[i] = after
		}
	}
	if err := f.filesOf(field+".files", sources); err != nil {
		return err
	}
	return f.filesOf(field+".envs", s.EnvSources)
}

// patches checks the files of patches, replacements and configurations.
func (f *kustomization) patches(k *types.Kustomization) error {
	for i, p := range k.PatchesStrategicMerge { //nolint:staticcheck // It is still in use.
		if err := f.fileOrText(fmt.Sprintf("patchesStrategicMerge[%d]", i), string(p)); err != nil {
			return err
		}
	}
	for i, p := range k.Patches {
		if err := f.optional(fmt.Sprintf("patches[%d].path", i), p.Path); err != nil {
			return err
		}
	}
	for i, p := range k.PatchesJson6902 { //nolint:staticcheck // It is still in use.
		if err := f.optional(fmt.Sprintf("patchesJson6902[%d].path", i), p.Path); err != nil {
			return err
		}
	}
	if err := f.replacements("replacements", k.Replacements); err != nil {
		return err
	}
	return f.filesOf("configurations", k.Configurations)
}

func (f *kustomization) replacements(field string, list []types.ReplacementField) error {
	for i, r := range list {
		if err := f.optional(fmt.Sprintf("%s[%d].path", field, i), r.Path); err != nil {
			return err
		}
	}
	return nil
}

// optional checks the file at value, unless it is empty.
func (f *kustomization) optional(field, value string) error {
	if value == "" {
		return nil
	}
	_, err := f.file(field, value)
	return err
}

// isText reports whether a value is inline YAML, and not the name of a file.
func isText(value string) bool {
	return strings.Contains(value, "\n") || strings.HasPrefix(strings.TrimSpace(value), "{")
}

// fileOrText checks the file at value, unless the value is inline YAML.
func (f *kustomization) fileOrText(field, value string) error {
	if isText(value) {
		return nil
	}
	_, err := f.file(field, value)
	return err
}

// plugins checks the listed generators, transformers and validators. Only built-in ones are allowed, and their files
// are checked like those of the kustomization itself.
func (f *kustomization) plugins(k *types.Kustomization) error {
	for _, l := range []struct {
		field string
		list  []string
	}{{"generators", k.Generators}, {"transformers", k.Transformers}, {"validators", k.Validators}} {
		for i, p := range l.list {
			if err := f.pluginsIn(fmt.Sprintf("%s[%d]", l.field, i), p); err != nil {
				return err
			}
		}
	}
	return nil
}

// pluginsIn checks the plugins in the file at value, or in value itself if it is inline YAML. It reads them with the
// parser of kustomize.
func (f *kustomization) pluginsIn(field, value string) error {
	text := value
	if !isText(value) {
		name, err := f.file(field, value)
		if err != nil {
			return err
		}
		text = string(f.check.files.content["/"+name])
	}
	documents, err := (&kio.ByteReader{Reader: strings.NewReader(text), OmitReaderAnnotations: true, DisableUnwrapping: true}).Read()
	if err != nil {
		return errors.Errorf("%s: %s: %s", f.name, field, input.Line(err.Error()))
	}
	for _, d := range documents {
		if err := d.DeAnchor(); err != nil {
			return errors.Errorf("%s: %s: %s", f.name, field, input.Line(err.Error()))
		}
		object, err := d.Map()
		if err != nil {
			return errors.Errorf("%s: %s: %s", f.name, field, input.Line(err.Error()))
		}
		if err := f.plugin(field, object); err != nil {
			return err
		}
	}
	return nil
}

// pluginConfig has the fields of all built-in plugins that name files.
type pluginConfig struct {
	types.GeneratorArgs `json:",inline"`

	Path           string                   `json:"path"`
	Paths          []string                 `json:"paths"`
	TargetFilePath string                   `json:"targetFilePath"`
	Replacements   []types.ReplacementField `json:"replacements"`
}

// allowedPlugins lists the allowed plugins of kustomize. The plugin for Helm charts is missing, because it executes
// helm.
var allowedPlugins = []string{ //nolint:gochecknoglobals // Constant.
	"AnnotationsTransformer", "ConfigMapGenerator", "IAMPolicyGenerator", "HashTransformer", "ImageTagTransformer",
	"LabelTransformer", "NamespaceTransformer", "PatchJson6902Transformer", "PatchStrategicMergeTransformer",
	"PatchTransformer", "PrefixSuffixTransformer", "PrefixTransformer", "SuffixTransformer", "ReplicaCountTransformer",
	"SecretGenerator", "ValueAddTransformer", "ReplacementTransformer",
}

// plugin checks one plugin, or those in a list.
func (f *kustomization) plugin(field string, object map[string]any) error {
	version, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if strings.HasSuffix(kind, "List") {
		items, _ := object["items"].([]any)
		for _, item := range items {
			m, _ := item.(map[string]any)
			if err := f.plugin(field, m); err != nil {
				return err
			}
		}
		return nil
	}
	if version != konfig.BuiltinPluginApiVersion || !slices.Contains(allowedPlugins, kind) {
		return f.refuse(field, version+" "+kind, "is not a built-in plugin of kustomize; other plugins are not executed")
	}
	data, err := json.Marshal(object)
	if err != nil {
		return errors.Errorf("%s: %s: %s", f.name, field, input.Line(err.Error()))
	}
	var p pluginConfig
	if err := json.Unmarshal(data, &p); err != nil {
		return errors.Errorf("%s: %s: %s", f.name, field, input.Line(err.Error()))
	}
	return f.pluginFiles(field, &p)
}

func (f *kustomization) pluginFiles(field string, p *pluginConfig) error {
	if p.EnvSource != "" {
		p.EnvSources = append(p.EnvSources, p.EnvSource)
	}
	if err := f.pairs(field, p.GeneratorArgs); err != nil {
		return err
	}
	if err := f.optional(field+".path", p.Path); err != nil {
		return err
	}
	if err := f.optional(field+".targetFilePath", p.TargetFilePath); err != nil {
		return err
	}
	for _, at := range p.Paths {
		if err := f.fileOrText(field+".paths", at); err != nil {
			return err
		}
	}
	return f.replacements(field+".replacements", p.Replacements)
}
