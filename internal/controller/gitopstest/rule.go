// SPDX-License-Identifier: Apache-2.0

package gitopstest

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// PlatformGroup is the group of the composite resources and claims of the configuration package.
const PlatformGroup = "platform.kyma.crossplane.io"

// groups lists the groups that need a rule.
var groups = []string{v1alpha1.Group, PlatformGroup} //nolint:gochecknoglobals // Constant.

// customizations matches the YAML block in docs/gitops.md that configures Argo CD.
var customizations = regexp.MustCompile("(?s)```yaml\n([^`]*resource\\.customizations:[^`]*)```")

// documentedRules returns the rules for Argo CD in docs/gitops.md, by the group of the objects.
func documentedRules(t *testing.T) map[string]string {
	t.Helper()
	// Tests run in the directory of their package: an internal/controller/NAME.
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "gitops.md"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := rulesIn(page)
	if err != nil {
		t.Fatalf("docs/gitops.md: %v", err)
	}
	return rules
}

// rulesIn returns the rules in a page by group, read as Argo CD reads its ConfigMap.
func rulesIn(page []byte) (map[string]string, error) {
	block := customizations.FindSubmatch(page)
	if block == nil {
		return nil, errors.New("the page contains no ConfigMap with the key resource.customizations")
	}
	config := struct {
		Data map[string]string `json:"data"`
	}{}
	if err := (yamlsize.Limits{}).Unmarshal(block[1], &config); err != nil {
		return nil, errors.Wrap(err, "cannot decode the ConfigMap")
	}
	rules := map[string]map[string]string{}
	if err := (yamlsize.Limits{}).Unmarshal([]byte(config.Data["resource.customizations"]), &rules); err != nil {
		return nil, errors.Wrap(err, "cannot decode resource.customizations")
	}
	out := map[string]string{}
	for _, group := range groups {
		rule := rules[group+"/*"]["health.lua"]
		if rule == "" {
			return nil, errors.Errorf("resource.customizations has no health.lua for %s/*", group)
		}
		out[group] = rule
	}
	return out, nil
}

// runRule returns the health and the message of an object according to a rule, as Argo CD runs it: with the libraries base and table, and
// not for objects that are being deleted. ctx limits its time: Argo CD stops a rule after a second, which is too short on a busy machine.
func runRule(ctx context.Context, rule string, u *unstructured.Unstructured) (string, string, error) {
	if u.GetDeletionTimestamp() != nil {
		return progressing, "", nil
	}
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	l.SetContext(ctx)
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return "", "", errors.Wrapf(err, "cannot open library %q", name)
		}
	}
	l.SetGlobal("obj", luaValue(l, u.Object))
	if err := l.DoString(rule); err != nil {
		return "", "", errors.Wrap(err, "cannot run the rule")
	}
	out, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", errors.Errorf("the rule returned %s, not a table", l.Get(-1).Type())
	}
	status := lua.LVAsString(out.RawGetString("status"))
	if !slices.Contains([]string{healthy, progressing, degraded, suspended}, status) {
		return "", "", errors.Errorf("the rule returned the status %q", status)
	}
	return status, lua.LVAsString(out.RawGetString("message")), nil
}

// luaValue returns decoded JSON as a Lua value.
func luaValue(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case map[string]any:
		out := l.NewTable()
		for key, item := range v {
			out.RawSetString(key, luaValue(l, item))
		}
		return out
	case []any:
		out := l.NewTable()
		for _, item := range v {
			out.Append(luaValue(l, item))
		}
		return out
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	}
	return lua.LNil
}
