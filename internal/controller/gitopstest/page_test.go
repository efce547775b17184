// SPDX-License-Identifier: Apache-2.0

package gitopstest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRule checks that the documented rule for Argo CD works with the conditions that the provider sets.
func TestRule(t *testing.T) {
	data, err := os.ReadFile("../../../docs/gitops.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rule, found := strings.Cut(string(data), "health.lua: |")
	rule, _, closed := strings.Cut(rule, "```")
	if !found || !closed {
		t.Fatal("want a rule for Argo CD in docs/gitops.md")
	}
	var types []string
	for _, found := range regexp.MustCompile(`c\.type == "(\w+)"`).FindAllStringSubmatch(rule, -1) {
		types = append(types, found[1])
	}
	slices.Sort(types)
	if diff := cmp.Diff([]string{"Ready", "Stalled", "Synced"}, types); diff != "" {
		t.Errorf("the rule must go by these conditions: -want, +got:\n%s", diff)
	}
}
