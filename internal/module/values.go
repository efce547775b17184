// SPDX-License-Identifier: Apache-2.0

package module

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// setValues sets the values of each chart: the module's values for all installs, overridden by those for this install.
func setValues(installs []v1alpha1.Install, m *v1alpha1.Module) error {
	if err := checkInstalls(installs, m); err != nil {
		return err
	}
	for i := range installs {
		in := &installs[i]
		// Only charts have values.
		if !source.IsChart(in.Source) {
			continue
		}
		own := v1alpha1.ModuleInstall{}
		if at := slices.IndexFunc(m.Installs, func(o v1alpha1.ModuleInstall) bool { return o.Name == in.Name }); at >= 0 {
			own = m.Installs[at]
		}
		in.ValuesFrom = valuesFrom(m.ValuesFrom, own.ValuesFrom)
		var err error
		if in.Values, err = mergeValues(m.Values, own.Values); err != nil {
			return errors.Wrapf(err, "installs[%q]", in.Name)
		}
	}
	return nil
}

// checkInstalls returns an error if m has values for an install that does not exist, or that is not a chart.
func checkInstalls(installs []v1alpha1.Install, m *v1alpha1.Module) error {
	for i := range m.Installs {
		name := m.Installs[i].Name
		at := slices.IndexFunc(installs, func(in v1alpha1.Install) bool { return in.Name == name })
		if at < 0 {
			return errors.Errorf("the module has no install %q: correct installs[%q]; %s", name, name, list(installs))
		}
		if !source.IsChart(installs[at].Source) {
			return errors.Errorf("install %q is not a chart and has no values: remove installs[%q]", name, name)
		}
	}
	return nil
}

// list returns a clause that lists the names of installs.
func list(installs []v1alpha1.Install) string {
	if len(installs) == 0 {
		return "the module has no installs"
	}
	names := make([]string, 0, len(installs))
	for i := range installs {
		names = append(names, strconv.Quote(installs[i].Name))
	}
	return "the module has " + strings.Join(names, ", ")
}

// valuesFrom returns the references of the module, and then those of the install, with their defaults. Later ones take
// precedence.
func valuesFrom(module, install []v1alpha1.ValuesReference) []v1alpha1.ValuesReference {
	out := append(slices.Clone(module), install...)
	for i := range out {
		if out[i].Key == "" {
			out[i].Key = defaultKey
		}
	}
	return out
}

// mergeValues returns base overridden by over. If one of them is nil, it returns the other unchanged.
func mergeValues(base, over *runtime.RawExtension) (*runtime.RawExtension, error) {
	if base == nil || over == nil {
		if base == nil {
			base = over
		}
		return base, nil
	}
	var b, o map[string]any
	// Numbers are preserved: a large one is not exact as a float.
	if kjson.UnmarshalCaseSensitivePreserveInts(base.Raw, &b) != nil || kjson.UnmarshalCaseSensitivePreserveInts(over.Raw, &o) != nil {
		return nil, errors.New("values must be an object")
	}
	raw, err := json.Marshal(render.MergeValues(b, o))
	return &runtime.RawExtension{Raw: raw}, errors.Wrap(err, "values cannot be encoded")
}
