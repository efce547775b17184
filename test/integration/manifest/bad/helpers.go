// SPDX-License-Identifier: Apache-2.0

package bad

import (
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A trouble is a Manifest that cannot be installed.
type trouble struct {
	manifest *v1alpha1.Manifest
	// says holds parts of the message that the user must see.
	says []string
	// The function that ends the trouble, or nil if it cannot be ended.
	fix func(ctx SpecContext)
	// twinless is true if a second Manifest with the same trouble is impossible, or costs too much.
	twinless bool
}

// suffer creates a problem and checks that it is reported in one clear line, that a Manifest with the problem can be removed,
// and that another Manifest becomes Ready once the cause is fixed, without a restart of the provider.
func suffer(ctx SpecContext, s *Space, t trouble) {
	GinkgoHelper()
	logged := len(Env.Provider.Log())
	if !t.twinless {
		s.Create(ctx, twinOf(t.manifest))
	}
	s.Create(ctx, t.manifest)
	AwaitTrouble(ctx, s, t.manifest.Name, t.says...)
	if !t.twinless {
		AwaitTrouble(ctx, s, twin, ofTwin(t.says)...)
		s.Remove(ctx, twin)
		Expect(s.Leftovers(ctx, Env.Target)).NotTo(ContainElement(ContainSubstring(twin)))
	}
	if t.fix != nil {
		t.fix(ctx)
		s.AwaitReady(ctx, t.manifest.Name)
	}
	s.Remove(ctx, t.manifest.Name)
	Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	Expect(strings.Contains(Env.Provider.Log()[logged:], Password)).To(BeFalse(), "the log shows a secret")
}

// twin is the name of the Manifest that is removed while it still has the trouble.
const twin = "twin"

func twinOf(m *v1alpha1.Manifest) *v1alpha1.Manifest {
	out := m.DeepCopy()
	out.Name = twin
	for i := range out.Spec.ForProvider.Installs {
		out.Spec.ForProvider.Installs[i].Name += "-" + twin
	}
	return out
}

// ofTwin returns the parts of the message of the twin.
func ofTwin(says []string) []string {
	out := make([]string, len(says))
	for i, part := range says {
		out[i] = strings.ReplaceAll(part, "web:", "web-"+twin+":")
	}
	return out
}

// fixSource returns a function that fixes a Manifest by another source.
func fixSource(s *Space, name string) func(ctx SpecContext) {
	return func(ctx SpecContext) {
		source := WebChart().PushLayer(ctx)
		s.Update(ctx, name, SetSource(source))
	}
}
