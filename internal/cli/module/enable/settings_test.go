// SPDX-License-Identifier: Apache-2.0

package enable

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestSettings(t *testing.T) {
	offer := catalog.Releases{
		{Name: "a", Channel: "fast", Version: "2.0.0", Template: "a-fast", Resolved: "True"},
		{Name: "a", Channel: "regular", Version: "1.0.0", Template: "a-regular", Resolved: "True"},
		{Name: "b", Channel: "regular", Template: "b-regular", Resolved: "False", Message: "no such registry"},
	}
	enabled := func(fields ...any) map[string]any {
		out := map[string]any{"name": "a"}
		for i := 0; i < len(fields); i += 2 {
			out[fields[i].(string)] = fields[i+1]
		}
		return out
	}
	kyma := func(change func(k *v1alpha1.Kyma)) *v1alpha1.Kyma {
		k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "k"}}
		change(k)
		return k
	}
	plain := kyma(func(*v1alpha1.Kyma) {})
	fast := kyma(func(k *v1alpha1.Kyma) {
		k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: "a", Version: "2.0.0"}}
	})
	deleted := kyma(func(k *v1alpha1.Kyma) { k.DeletionTimestamp = &metav1.Time{Time: time.Now()} })
	composed := kyma(func(k *v1alpha1.Kyma) { k.Labels = map[string]string{"crossplane.io/composite": "x"} })

	type args struct {
		settings settings
		kyma     *v1alpha1.Kyma
		modules  []any
	}
	type want struct {
		modules  []any
		outcomes []outcome
		warning  string
		code     command.ExitCode
		err      string
	}
	one := func(result, channel string) []outcome {
		return []outcome{{Name: "a", Result: result, Channel: channel}}
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"New": {
			reason: "A new module follows the channel of the Kyma.", args: args{settings: settings{names: []string{"a"}}, kyma: plain},
			want: want{modules: []any{enabled()}, outcomes: one(resultEnabled, "regular")},
		},
		"Unchanged": {
			reason: "Settings without a flag stay, and so do unknown fields.",
			args:   args{settings: settings{names: []string{"a"}}, kyma: plain, modules: []any{enabled("channel", "fast", "later", "x")}},
			want:   want{modules: []any{enabled("channel", "fast", "later", "x")}, outcomes: one(resultUnchanged, "fast")},
		},
		"Changed": {
			reason: "Settings with a flag are changed in place.",
			args:   args{settings: settings{names: []string{"a"}, policy: "Ignore", values: map[string]any{"b": "c"}}, kyma: plain, modules: []any{enabled()}},
			want: want{
				modules:  []any{enabled("customResourcePolicy", "Ignore", "values", map[string]any{"b": "c"})},
				outcomes: one(resultChanged, "regular"),
			},
		},
		"NoValues": {
			reason: "Empty values remove the current ones.",
			args:   args{settings: settings{names: []string{"a"}, values: map[string]any{}}, kyma: plain, modules: []any{enabled("values", map[string]any{"b": "c"})}},
			want:   want{modules: []any{enabled()}, outcomes: one(resultChanged, "regular")},
		},
		"Installs": {
			reason: "Values of single charts are set, replaced and removed; other entries and other fields are kept.",
			args: args{
				kyma:     plain,
				settings: settings{names: []string{"a"}, installs: map[string]map[string]any{"x": {"b": "c"}, "y": {}, "z": {}, "new": {"d": "e"}, "never": {}}},
				modules: []any{enabled("installs", []any{
					map[string]any{"name": "x", "values": map[string]any{"old": "1"}}, map[string]any{"name": "y", "values": map[string]any{"old": "2"}},
					map[string]any{"name": "z", "values": map[string]any{"old": "3"}, "valuesFrom": []any{"from"}}, map[string]any{"name": "kept"},
				})},
			},
			want: want{
				modules: []any{enabled("installs", []any{
					map[string]any{"name": "x", "values": map[string]any{"b": "c"}}, map[string]any{"name": "z", "valuesFrom": []any{"from"}},
					map[string]any{"name": "kept"}, map[string]any{"name": "new", "values": map[string]any{"d": "e"}},
				})},
				outcomes: one(resultChanged, "regular"),
			},
		},
		"NoInstalls": {
			reason: "Without values, no entry is left.",
			args: args{
				settings: settings{names: []string{"a"}, installs: map[string]map[string]any{"x": {}}}, kyma: plain,
				modules: []any{enabled("installs", []any{map[string]any{"name": "x", "values": map[string]any{"b": "c"}}})},
			},
			want: want{modules: []any{enabled()}, outcomes: one(resultChanged, "regular")},
		},
		"Lower": {
			reason: "A channel with a lower version causes a warning.",
			args:   args{settings: settings{names: []string{"a"}, channel: "regular"}, kyma: fast, modules: []any{enabled("channel", "fast")}},
			want:   want{modules: []any{enabled("channel", "regular")}, outcomes: one(resultChanged, "regular"), warning: "lower than the installed version 2.0.0"},
		},
		"Unresolved": {
			reason: "A template that cannot be resolved causes a warning.", args: args{settings: settings{names: []string{"b"}}, kyma: plain},
			want: want{
				modules:  []any{map[string]any{"name": "b"}},
				outcomes: []outcome{{Name: "b", Result: resultEnabled, Channel: "regular"}}, warning: "ModuleTemplate b-regular: no such registry",
			},
		},
		"None": {
			reason: "Nothing is changed if one of the modules is not offered.",
			args:   args{settings: settings{names: []string{"a", "nope"}}, kyma: plain},
			want:   want{code: command.ExitNotFound, err: `module "nope"`},
		},
		"Missing": {
			reason: "With --allow-missing, the template can be created later.", args: args{settings: settings{names: []string{"a"}, channel: "next", missing: true}, kyma: plain},
			want: want{modules: []any{enabled("channel", "next")}, outcomes: one(resultEnabled, "next"), warning: "no ModuleTemplate in channel"},
		},
		"Stays": {
			reason: "A module that stays in its channel needs no template.",
			args:   args{settings: settings{names: []string{"a"}, policy: "Ignore"}, kyma: plain, modules: []any{enabled("channel", "next")}},
			want: want{
				modules:  []any{enabled("channel", "next", "customResourcePolicy", "Ignore")},
				outcomes: one(resultChanged, "next"), warning: "no ModuleTemplate in channel",
			},
		},
		"Deleted": {
			reason: "A Kyma that is being deleted is not changed.", args: args{settings: settings{names: []string{"a"}}, kyma: deleted},
			want: want{code: command.ExitFailure, err: "is being deleted"},
		},
		"Composed": {
			reason: "A Kyma of a composition, which would revert the change, is not changed.", args: args{settings: settings{names: []string{"a"}}, kyma: composed},
			want: want{code: command.ExitFailure, err: "composed by composite resource x"},
		},
		"Forced": {
			reason: "A Kyma of a composition is changed if the user forces it.", args: args{settings: settings{names: []string{"a"}, force: true}, kyma: composed},
			want: want{modules: []any{enabled()}, outcomes: one(resultEnabled, "regular")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			modules, f, err := tc.args.settings.apply(tc.args.kyma, tc.args.modules, offer)
			if diff := cmp.Diff(tc.want.code, command.CodeOf(err)); diff != "" {
				t.Fatalf("\n%s\napply(...): %v: -want, +got:\n%s", tc.reason, err, diff)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tc.want.err) {
					t.Errorf("\n%s\napply(...): want an error with %q, got %v", tc.reason, tc.want.err, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want.modules, modules); diff != "" {
				t.Errorf("\n%s\napply(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.outcomes, f.outcomes); diff != "" {
				t.Errorf("\n%s\napply(...): -want, +got:\n%s", tc.reason, diff)
			}
			warning := strings.Join(f.warnings, "\n")
			if (tc.want.warning == "") != (warning == "") || !strings.Contains(warning, tc.want.warning) {
				t.Errorf("\n%s\napply(...): want a warning with %q, got %q", tc.reason, tc.want.warning, warning)
			}
		})
	}
}

func TestWithout(t *testing.T) {
	a, b := map[string]any{"name": "a"}, map[string]any{"name": "b", "channel": "fast"}
	type want struct {
		modules  []any
		outcomes []outcome
	}
	cases := map[string]struct {
		reason string
		names  []string
		want   want
	}{
		"One":  {"The others stay as they are.", []string{"a"}, want{[]any{b}, []outcome{{Name: "a", Result: resultDisabled}}}},
		"None": {"A module that is not enabled is unchanged.", []string{"c"}, want{[]any{a, b}, []outcome{{Name: "c", Result: resultUnchanged}}}},
		"All": {"The outcomes are in the order of the names.", []string{"b", "a"}, want{
			[]any{}, []outcome{{Name: "b", Result: resultDisabled}, {Name: "a", Result: resultDisabled}},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			modules, outcomes := without([]any{a, b}, tc.names)
			if diff := cmp.Diff(tc.want, want{modules, outcomes}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nwithout(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
