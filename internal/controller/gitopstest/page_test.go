// SPDX-License-Identifier: Apache-2.0

package gitopstest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReasons checks that the rules in the documentation name reasons that exist, and that the rule for Argo CD has those for Flux.
func TestReasons(t *testing.T) {
	expressions, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	troubleshooting, err := os.ReadFile(strings.Replace(page, "gitops", "troubleshooting", 1))
	if err != nil {
		t.Fatal(err)
	}
	var inFlux, inArgoCD []string
	for _, e := range expressions {
		for _, found := range regexp.MustCompile(`'([A-Z]\w+[a-z]\w*)'[,\]]`).FindAllStringSubmatch(e.Failed, -1) {
			inFlux = append(inFlux, found[1])
		}
	}
	for _, found := range regexp.MustCompile(`(\w+) = true`).FindAllStringSubmatch(string(data), -1) {
		inArgoCD = append(inArgoCD, found[1])
	}
	if len(inFlux) < 7 || len(inArgoCD) < 7 {
		t.Fatalf("the rules name %d and %d reasons: are they found?", len(inFlux), len(inArgoCD))
	}
	for _, reason := range inFlux {
		if !slices.Contains(inArgoCD, reason) {
			t.Errorf("%s is failed for Flux, and not for Argo CD", reason)
		}
	}
	for _, reason := range inArgoCD {
		if !strings.Contains(string(troubleshooting), "\n### "+reason+"\n") {
			t.Errorf("%s is not a reason", reason)
		}
	}
}
