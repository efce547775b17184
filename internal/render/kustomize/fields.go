// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// generators checks the generators of ConfigMaps and Secrets.
func (f *kustomization) generators(k *types.Kustomization) error {
	for i, g := range k.ConfigMapGenerator {
		if err := f.pairs(fmt.Sprintf("configMapGenerator[%d]", i), "ConfigMap", g.GeneratorArgs); err != nil {
			return err
		}
	}
	for i, g := range k.SecretGenerator {
		if err := f.pairs(fmt.Sprintf("secretGenerator[%d]", i), "Secret", g.GeneratorArgs); err != nil {
			return err
		}
	}
	return nil
}

// pairs checks the files and literals of a generator, and counts its object.
func (f *kustomization) pairs(field, kind string, s types.GeneratorArgs) error {
	size := 0
	for _, l := range s.LiteralSources {
		size += len(l)
	}
	for i, p := range s.FileSources {
		at := fmt.Sprintf("%s.files[%d]", field, i)
		if _, after, ok := strings.Cut(p, "="); ok {
			p = after
		}
		_, data, err := f.file(at, p)
		if err != nil {
			return err
		}
		size += len(data)
		f.check.text = append(f.check.text, data...)
	}
	for i, p := range s.EnvSources {
		_, data, err := f.file(fmt.Sprintf("%s.envs[%d]", field, i), p)
		if err != nil {
			return err
		}
		size += len(data)
		f.check.text = append(f.check.text, data...)
	}
	for _, l := range s.LiteralSources {
		f.check.text = append(f.check.text, l...)
	}
	if b := types.NewGenerationBehavior(s.Behavior); b != types.BehaviorMerge && b != types.BehaviorReplace {
		f.check.named(kind, s.Name, f.renames)
	}
	return f.check.count(kind, size)
}

// patches checks the patches and replacements.
func (f *kustomization) patches(k *types.Kustomization) error {
	for i, p := range k.PatchesStrategicMerge { //nolint:staticcheck // It is still in use.
		field := fmt.Sprintf("patchesStrategicMerge[%d]", i)
		if err := f.pathOrText(field, string(p), func(text string) error { return f.patch(field, text, false) }); err != nil {
			return err
		}
	}
	for i, p := range k.Patches {
		if p.Options != nil && p.Options.AllowNameChange {
			f.renamed(fmt.Sprintf("patches[%d].options.allowNameChange", i))
		}
		if err := f.patchOf(fmt.Sprintf("patches[%d]", i), p.Path, p.Patch, p.Target != nil); err != nil {
			return err
		}
	}
	for i, p := range k.PatchesJson6902 { //nolint:staticcheck // It is still in use.
		if err := f.patchOf(fmt.Sprintf("patchesJson6902[%d]", i), p.Path, p.Patch, p.Target != nil); err != nil {
			return err
		}
	}
	for i, r := range k.Replacements {
		if err := f.replacement(fmt.Sprintf("replacements[%d]", i), r); err != nil {
			return err
		}
	}
	return nil
}

// patchOf checks the patch in a file, in text, or both.
func (f *kustomization) patchOf(field, file, text string, many bool) error {
	if file != "" {
		_, data, err := f.file(field+".path", file)
		if err != nil {
			return err
		}
		if err := f.patch(field+".path", string(data), many); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	return f.patch(field+".patch", text, many)
}

// replacement checks and collects a replacement, or those in its file.
func (f *kustomization) replacement(field string, r types.ReplacementField) error {
	list := []types.Replacement{r.Replacement}
	if r.Path != "" {
		data, err := f.parsed(field+".path", r.Path)
		if err != nil {
			return err
		}
		// Like kustomize, accept either a list or a single replacement.
		if err := (yamlsize.Limits{Bytes: input.MaxFile}).Unmarshal(data, &list); err != nil {
			list = make([]types.Replacement, 1)
			if err := (yamlsize.Limits{Bytes: input.MaxFile}).Unmarshal(data, &list[0]); err != nil {
				return errors.Errorf("%s: %s.path: %s", f.name, field, input.Line(err.Error()))
			}
		}
	}
	for _, r := range list {
		if slices.Contains(r.Targets, nil) {
			return f.refuse(field, "", "target must not be empty")
		}
	}
	f.check.replacements = append(f.check.replacements, list...)
	for _, r := range list {
		for _, t := range r.Targets {
			if t.FieldPaths == nil || slices.ContainsFunc(t.FieldPaths, writesName) {
				f.renamed(field)
			}
			f.check.steps += max(len(t.FieldPaths), 1)
		}
	}
	return nil
}

// pathOrText calls text with the content of the file at value, or with value itself if it is inline YAML.
func (f *kustomization) pathOrText(field, value string, text func(string) error) error {
	if strings.Contains(value, "\n") || strings.HasPrefix(strings.TrimSpace(value), "{") {
		return text(value)
	}
	_, data, err := f.file(field, value)
	if err != nil {
		return err
	}
	return text(string(data))
}

// plugins checks the listed generators, transformers and validators. Only built-in ones are allowed, and their files
// are checked like those of the kustomization itself.
func (f *kustomization) plugins(k *types.Kustomization) error {
	for _, l := range []struct {
		field string
		list  []string
	}{{"generators", k.Generators}, {"transformers", k.Transformers}, {"validators", k.Validators}} {
		for i, p := range l.list {
			field := fmt.Sprintf("%s[%d]", l.field, i)
			if err := f.pathOrText(field, p, func(text string) error { return f.plugin(field, text) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// pluginConfig has the fields of all built-in plugins except those that only name and label objects.
type pluginConfig struct {
	types.GeneratorArgs `json:",inline"`

	APIVersion     string                   `json:"apiVersion"`
	Kind           string                   `json:"kind"`
	Path           string                   `json:"path"`
	Paths          []string                 `json:"paths"`
	Patch          string                   `json:"patch"`
	Patches        string                   `json:"patches"`
	JSONOp         string                   `json:"jsonOp"`
	TargetFilePath string                   `json:"targetFilePath"`
	Target         any                      `json:"target"`
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

func (f *kustomization) plugin(field, text string) error {
	nodes, err := f.check.nodes(f.name+": "+field, []byte(text))
	if err != nil {
		return err
	}
	for _, n := range nodes {
		var p pluginConfig
		if err := (yamlsize.Limits{Bytes: input.MaxFile}).Unmarshal(n.json, &p); err != nil {
			return errors.Errorf("%s: %s: %s", f.name, field, input.Line(err.Error()))
		}
		if p.APIVersion != konfig.BuiltinPluginApiVersion || !slices.Contains(allowedPlugins, p.Kind) {
			return f.refuse(field, p.APIVersion+" "+p.Kind, "is not a built-in plugin of kustomize; other plugins are not executed")
		}
		if err := f.pluginFiles(field, &p, len(n.json)); err != nil {
			return err
		}
	}
	return nil
}

func (f *kustomization) pluginFiles(field string, p *pluginConfig, size int) error {
	if p.EnvSource != "" {
		p.EnvSources = append(p.EnvSources, p.EnvSource)
	}
	if kind, ok := strings.CutSuffix(p.Kind, "Generator"); ok {
		if err := f.pairs(field, kind, p.GeneratorArgs); err != nil {
			return err
		}
	}
	if strings.Contains(p.Kind, "fix") || strings.Contains(p.Kind, "Patch") {
		f.renamed(field)
	}
	if p.TargetFilePath != "" {
		if _, err := f.parsed(field+".targetFilePath", p.TargetFilePath); err != nil {
			return err
		}
	}
	// The text determines both the number of labels and the number of places that they are written to.
	f.check.perObject += size * (8 + size/16)
	return f.pluginPatches(field, p)
}

func (f *kustomization) pluginPatches(field string, p *pluginConfig) error {
	if err := f.patchOf(field, p.Path, p.Patch+p.JSONOp, true); err != nil {
		return err
	}
	if p.Patches != "" {
		if err := f.patch(field+".patches", p.Patches, true); err != nil {
			return err
		}
	}
	for _, at := range p.Paths {
		if err := f.pathOrText(field+".paths", at, func(text string) error { return f.patch(field+".paths", text, true) }); err != nil {
			return err
		}
	}
	for _, r := range p.Replacements {
		if err := f.replacement(field+".replacements", r); err != nil {
			return err
		}
	}
	return nil
}
