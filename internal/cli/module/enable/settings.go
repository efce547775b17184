// SPDX-License-Identifier: Apache-2.0

package enable

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
)

// settings holds the requested settings of modules. Empty fields leave a setting unchanged.
type settings struct {
	names   []string
	channel string
	policy  string
	// values replaces the values of the module; nil keeps the current ones, and an empty map removes them.
	values map[string]any
	// installs replaces the values of single charts in the same way, keyed by the name of the install.
	installs map[string]map[string]any
	// missing allows modules without a ModuleTemplate.
	missing bool
	force   bool
}

// An effect describes the changes that settings make to the modules of a Kyma.
type effect struct {
	outcomes []outcome
	warnings []string
}

// apply returns the modules of a Kyma with the settings applied. It returns an error if one of the named modules cannot be
// enabled. It does not modify the given slice.
func (s *settings) apply(k *v1alpha1.Kyma, modules []any, offer catalog.Releases) ([]any, *effect, error) {
	after, f := slices.Clone(modules), &effect{}
	changed := false
	for _, name := range s.names {
		i, result := catalog.IndexOf(after, name), resultUnchanged
		was := map[string]any{"name": name}
		if i < 0 {
			after, i, result = append(after, was), len(after), resultEnabled
		} else {
			was, _ = after[i].(map[string]any)
		}
		is := s.applyTo(was)
		if result == resultUnchanged && !reflect.DeepEqual(was, is) {
			result = resultChanged
		}
		after[i] = is
		changed = changed || result != resultUnchanged
		before, now := channelIn(was, k), channelIn(is, k)
		moves := result == resultEnabled || before != now
		warning, err := s.check(k, name, now, moves, offer)
		if err != nil {
			return nil, nil, err
		}
		if warning != "" {
			f.warnings = append(f.warnings, warning)
		}
		f.outcomes = append(f.outcomes, outcome{Name: name, Result: result, Channel: now})
	}
	if !changed {
		return modules, f, nil
	}
	if meta.WasDeleted(k) {
		return nil, nil, errors.Errorf("Kyma %s/%s is being deleted: no module can be enabled in it", k.Namespace, k.Name)
	}
	return after, f, owned(k, s.force)
}

// applyTo returns the entry of a module with the requested settings, and keeps all other fields.
func (s *settings) applyTo(was map[string]any) map[string]any {
	is := maps.Clone(was)
	if s.channel != "" {
		is["channel"] = s.channel
	}
	if s.policy != "" {
		is["customResourcePolicy"] = s.policy
	}
	switch {
	case s.values == nil:
	case len(s.values) == 0:
		delete(is, "values")
	default:
		is["values"] = s.values
	}
	if len(s.installs) > 0 {
		setInstalls(is, s.installs)
	}
	return is
}

// setInstalls sets the values of single charts in the entry of a module, and keeps the entries of other charts.
func setInstalls(is map[string]any, values map[string]map[string]any) {
	was, _ := is["installs"].([]any)
	after := slices.Clone(was)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := catalog.IndexOf(after, name)
		if i < 0 {
			after, i = append(after, map[string]any{"name": name}), len(after)
		}
		entry, _ := after[i].(map[string]any)
		entry = maps.Clone(entry)
		delete(entry, "values")
		if len(values[name]) > 0 {
			entry["values"] = values[name]
		}
		after[i] = entry
		if len(entry) == 1 {
			// Only the name is left.
			after = slices.Delete(after, i, i+1)
		}
	}
	if len(after) == 0 {
		delete(is, "installs")
		return
	}
	is["installs"] = after
}

// check returns an error if no ModuleTemplate offers a module in a channel, or a warning if the module does not change its
// channel (moves is false) or missing is set. It also warns about unresolved ModuleTemplates and versions lower than the
// installed one.
func (s *settings) check(k *v1alpha1.Kyma, name, channel string, moves bool, offer catalog.Releases) (warning string, err error) {
	r, err := offer.Find(name, channel)
	if err != nil {
		if moves && !s.missing {
			return "", err
		}
		return err.Error(), nil
	}
	if r.Resolved == "False" && r.Message != "" {
		return fmt.Sprintf("ModuleTemplate %s: %s", r.Template, r.Message), nil
	}
	status, _ := catalog.StatusOf(k, name)
	installed := status.Version
	if !moves || installed == "" || !catalog.Lowers(r.Version, installed) {
		return "", nil
	}
	return fmt.Sprintf("channel %s has version %s of module %s, which is lower than the installed version %s: the provider keeps the "+
		"installed version; to downgrade, annotate the Kyma with %s=%s@%s", channel, r.Version, name, installed,
		v1alpha1.AnnotationAllowDowngrade, name, r.Version), nil
}

// channelIn returns the channel of an entry: its own, or else the channel of the Kyma.
func channelIn(entry map[string]any, k *v1alpha1.Kyma) string {
	own, _ := entry["channel"].(string)
	return catalog.ChannelOf(own, k.Spec.ForProvider.Channel)
}

// without removes modules by name. It returns the remaining modules, and the results in the order of names.
func without(modules []any, names []string) ([]any, []outcome) {
	after := slices.Clone(modules)
	out := make([]outcome, 0, len(names))
	for _, name := range names {
		o := outcome{Name: name, Result: resultUnchanged}
		if i := catalog.IndexOf(after, name); i >= 0 {
			after, o.Result = slices.Delete(after, i, i+1), resultDisabled
		}
		out = append(out, o)
	}
	return after, out
}
