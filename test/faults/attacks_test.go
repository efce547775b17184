// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"regexp"
	"strconv"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/render/attacktest"
)

// attacks returns ten charts of attacktest, with a regular expression for the error of each of them. FromYAML has no error.
func attacks() map[string]string {
	const (
		stopped  = `rendering was stopped: the (CPU time|memory usage) exceeds the limit of `
		tooLarge = stopped + `|the rendered objects (are larger|have more) than `
	)
	return map[string]string{
		"Uniq": stopped, "Regex": stopped, "Range": stopped, "Doubling": stopped, "Memory": stopped, "Calls": stopped,
		"Output": tooLarge, "Documents": tooLarge,
		// On a slow machine, the CPU time is exceeded first.
		"Recursion": stopped + `|templates call each other recursively too many times`,
		"FromYAML":  "",
	}
}

// attackCharts creates a hostile tenant with a Manifest for each chart of attacks, all at once.
func attackCharts(ctx SpecContext) *Space {
	GinkgoHelper()
	s := NewSpace(ctx)
	charts := attacktest.Charts()
	for name := range attacks() {
		name, files := strings.ToLower(name), charts[name]
		c := NewChart(name, "1.0.0")
		for path, content := range files {
			c = c.With(path, content)
		}
		s.Create(ctx, s.Manifest(name, s.InstallOf(name, c.PushLayer(ctx), nil)))
	}
	return s
}

// awaitAttacks waits until each Manifest of attackCharts reports its error in one line.
func awaitAttacks(ctx SpecContext, s *Space) {
	GinkgoHelper()
	for name, says := range attacks() {
		name := strings.ToLower(name)
		if says == "" {
			// Templates get the error as a value.
			Eventually(s.Get).WithContext(ctx).WithArguments(name).WithTimeout(2 * Patience).Should(BeReady())
			continue
		}
		line := MatchRegexp(`^[^\n]*chart ` + regexp.QuoteMeta(strconv.Quote(name)) + `[^\n]*: (` + says + `)[^\n]*$`)
		Eventually(s.Get).WithContext(ctx).WithArguments(name).WithTimeout(2 * Patience).
			Should(SatisfyAll(HaveCondition(xpv2.TypeReady, corev1.ConditionFalse, line), HaveCondition(xpv2.TypeSynced, corev1.ConditionFalse, line)))
		GinkgoWriter.Println(Must(s.Get(ctx, name)).GetCondition(xpv2.TypeReady).Message)
	}
}

var _ = Describe("A tenant with ten charts that never end or take all memory", func() {
	It("gets an error for each chart, and affects no other tenant", Label("short"), func(ctx SpecContext) {
		shipped(ctx, "--render-cpu=2s")
		t := newTenant(ctx)
		t.beside(ctx, func() func() {
			s := attackCharts(ctx)
			return func() { awaitAttacks(ctx, s) }
		})
	})

	It("hardly delays the installs of another tenant", func(ctx SpecContext) {
		shipped(ctx, "--render-cpu=5s")
		t := newTenant(ctx)
		before := t.fastest(ctx)
		s := attackCharts(ctx)
		Eventually(s.Get).WithContext(ctx).WithArguments("uniq").WithTimeout(2 * Patience).Should(NotReady("the CPU time exceeds the limit of 5s"))
		(&hostile{Space: s}).edit(ctx)
		t.expectHardlyDelayed(ctx, before, "a tenant whose charts never end", unprepared)
	})
})
