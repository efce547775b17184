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

// A wish is how modules are to be enabled. What it does not say stays as it is.
type wish struct {
	names   []string
	channel string
	policy  string
	// values replace those of the module; nil keeps them, and empty ones take them out.
	values map[string]any
	// missing allows modules that have no ModuleTemplate yet.
	missing bool
	force   bool
}

// A fulfilment of a wish, as it was written.
type fulfilment struct {
	outcomes []outcome
	warnings []string
}

// fulfil the wish for a Kyma. Nothing is changed where one of the modules cannot be enabled.
func (w *wish) fulfil(k *v1alpha1.Kyma, modules []any, offer catalog.Releases) ([]any, *fulfilment, error) {
	after, f := slices.Clone(modules), &fulfilment{}
	changed := false
	for _, name := range w.names {
		i, result := catalog.IndexOf(after, name), resultUnchanged
		was := map[string]any{"name": name}
		if i < 0 {
			after, i, result = append(after, was), len(after), resultEnabled
		} else {
			was, _ = after[i].(map[string]any)
		}
		is := w.applied(was)
		if result == resultUnchanged && !reflect.DeepEqual(was, is) {
			result = resultChanged
		}
		after[i] = is
		changed = changed || result != resultUnchanged
		before, now := channelIn(was, k), channelIn(is, k)
		moves := result == resultEnabled || before != now
		warning, err := w.check(k, name, now, moves, offer)
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
		return nil, nil, errors.Errorf("Kyma %s/%s is being deleted: nothing can be enabled in it", k.Namespace, k.Name)
	}
	return after, f, owned(k, w.force)
}

// applied to one module, of which no field is lost.
func (w *wish) applied(was map[string]any) map[string]any {
	is := maps.Clone(was)
	if w.channel != "" {
		is["channel"] = w.channel
	}
	if w.policy != "" {
		is["customResourcePolicy"] = w.policy
	}
	switch {
	case w.values == nil:
	case len(w.values) == 0:
		delete(is, "values")
	default:
		is["values"] = w.values
	}
	return is
}

// check that there is what is wished for. Of a module that stays in its channel it only warns, as it changes nothing.
func (w *wish) check(k *v1alpha1.Kyma, name, channel string, moves bool, offer catalog.Releases) (warning string, err error) {
	r, err := offer.Find(name, channel)
	if err != nil {
		if moves && !w.missing {
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
	return fmt.Sprintf("channel %s has version %s of module %s, which is lower than %s that is installed: the provider goes on with that one; "+
		"to go back, annotate the Kyma with %s=%s@%s", channel, r.Version, name, installed,
		v1alpha1.AnnotationAllowDowngrade, name, r.Version), nil
}

// channelIn which an entry of a Kyma gets its module.
func channelIn(entry map[string]any, k *v1alpha1.Kyma) string {
	own, _ := entry["channel"].(string)
	return catalog.ChannelOf(own, k.Spec.ForProvider.Channel)
}

// without modules by name.
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
