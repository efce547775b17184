// SPDX-License-Identifier: Apache-2.0

package install

import (
	"io"
	"os"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// A valueArg is a value of --set or --set-string.
type valueArg struct {
	text     string
	asString bool
}

// values returns the values for the chart: those of files, then --image and --in-cluster, then --set. Errors are usage errors.
func (o *options) values(in io.Reader, version, namespace string) (map[string]any, error) {
	out, err := o.valuesOfFiles(in)
	if err != nil {
		return nil, err
	}
	if o.image != "" {
		image, err := imageValues(o.image)
		if err != nil {
			return nil, err
		}
		out = render.MergeValues(out, image)
	}
	if o.inCluster {
		out = render.MergeValues(out, map[string]any{"inCluster": map[string]any{"enabled": true}})
	}
	for _, s := range o.sets() {
		if err := config.Set(out, s.text, s.asString); err != nil {
			return nil, command.WithCode(command.ExitUsage, errors.Wrap(err, s.flag()))
		}
	}
	if !released(version) && !has(out, "image", "tag") && !has(out, "image", "digest") {
		return nil, command.Usagef("this build of kymactl (%s) has no released image of the provider: use --image", version)
	}
	if o.inCluster && !has(out, "inCluster", "namespaces") {
		// Users who can create objects in this namespace can already use the identity of the provider.
		return out, command.WithCode(command.ExitUsage, unstructured.SetNestedSlice(out, []any{namespace}, "inCluster", "namespaces"))
	}
	return out, nil
}

// valuesOfFiles returns the values of --values. Later files have precedence.
func (o *options) valuesOfFiles(in io.Reader) (map[string]any, error) {
	out := map[string]any{}
	for _, path := range o.files {
		values, err := readValues(in, path)
		if err != nil {
			return nil, command.WithCode(command.ExitUsage, errors.Wrapf(err, "--values %s", path))
		}
		out = render.MergeValues(out, values)
	}
	return out, nil
}

// sets returns the values of --set and then those of --set-string, in the order of Helm.
func (o *options) sets() []valueArg {
	var out []valueArg
	for _, s := range o.set {
		out = append(out, valueArg{text: s})
	}
	for _, s := range o.setStrings {
		out = append(out, valueArg{text: s, asString: true})
	}
	return out
}

func (v valueArg) flag() string {
	if v.asString {
		return "--set-string"
	}
	return "--set"
}

// has reports whether values contain a value that is not empty.
func has(values map[string]any, path ...string) bool {
	v, ok, err := unstructured.NestedFieldNoCopy(values, path...)
	if list, isList := v.([]any); isList {
		return len(list) > 0
	}
	return ok && err == nil && v != nil && v != ""
}

// readValues reads a file with values, or stdin if path is -.
func readValues(in io.Reader, path string) (map[string]any, error) {
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // The user names their own file.
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, input.MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > input.MaxFile {
		return nil, errors.Errorf("is larger than %d bytes", input.MaxFile)
	}
	out := map[string]any{}
	return out, yamldoc.Decode(data, &out)
}

// imageValues returns the values for the value of --image.
func imageValues(image string) (map[string]any, error) {
	r, err := oci.ParseReference(image)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, errors.Wrap(err, "--image"))
	}
	if r.Tag == "" && r.Digest == "" {
		return nil, command.Usagef("--image %s: add a tag or a digest", image)
	}
	return map[string]any{"image": map[string]any{"repository": r.Repository, "tag": r.Tag, "digest": r.Digest}}, nil
}

// checkStdin returns a usage error if more than one file is stdin.
func (o *options) checkStdin() error {
	if i := slices.Index(o.files, "-"); i >= 0 && slices.Contains(o.files[i+1:], "-") {
		return command.Usagef("--values - can only be used once, because stdin can only be read once")
	}
	return nil
}
