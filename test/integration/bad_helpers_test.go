// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// password is what must never be seen in a status, an event or a log. Specs put it where secrets are.
const password = "hunter2-is-a-secret"

// A trouble is a Manifest that cannot be installed.
type trouble struct {
	manifest *v1alpha1.Manifest
	// says are parts of the message that the user must see.
	says []string
	// fix ends the trouble.
	cure func(ctx SpecContext)
	// twinless is set where a second Manifest with the same trouble is impossible, or costs too much.
	twinless bool
}

// suffer lets a trouble happen: it must be shown in one clear line, a Manifest that has it can be removed, and another
// one becomes Ready once the cause is gone, without a restart of the provider.
func (s *space) suffer(ctx SpecContext, t trouble) {
	GinkgoHelper()
	logged := len(env.provider.log())
	if !t.twinless {
		s.create(ctx, twinOf(t.manifest))
	}
	s.create(ctx, t.manifest)
	s.awaitTrouble(ctx, t.manifest.Name, t.says...)
	if !t.twinless {
		s.awaitTrouble(ctx, twin, ofTwin(t.says)...)
		s.remove(ctx, twin)
		Expect(s.leftovers(ctx, env.target)).NotTo(ContainElement(ContainSubstring(twin)))
	}
	if t.cure != nil {
		t.cure(ctx)
		s.awaitReady(ctx, t.manifest.Name)
	}
	s.remove(ctx, t.manifest.Name)
	Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	Expect(strings.Contains(env.provider.log()[logged:], password)).To(BeFalse(), "the log shows a secret")
}

// twin is the name of the Manifest that is removed while it has the trouble.
const twin = "twin"

func twinOf(m *v1alpha1.Manifest) *v1alpha1.Manifest {
	out := m.DeepCopy()
	out.Name = twin
	for i := range out.Spec.ForProvider.Installs {
		out.Spec.ForProvider.Installs[i].Name += "-" + twin
	}
	return out
}

// ofTwin is what a twin says instead.
func ofTwin(says []string) []string {
	out := make([]string, len(says))
	for i, part := range says {
		out[i] = strings.ReplaceAll(part, "web:", "web-"+twin+":")
	}
	return out
}

// awaitTrouble waits until a Manifest says what is wrong, in one line and without secrets.
func (s *space) awaitTrouble(ctx context.Context, name string, says ...string) {
	GinkgoHelper()
	Eventually(s.get).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
		notReady(says...), haveState(v1alpha1.StateError, says...)))
	m := must(s.get(ctx, name))
	AddReportEntry(name+" says", m.Status.AtProvider.Message, ReportEntryVisibilityFailureOrVerbose)
	texts := append([]string{m.Status.AtProvider.Message}, must(s.events(ctx, name))...)
	for _, c := range m.Status.Conditions {
		texts = append(texts, c.Message)
	}
	for _, i := range m.Status.AtProvider.Installs {
		texts = append(texts, i.Message)
	}
	for _, text := range texts {
		Expect(text).NotTo(ContainSubstring("\n"), "a message must be one line")
		for _, secret := range s.secrets(ctx) {
			Expect(text).NotTo(ContainSubstring(secret), "a message must not show a secret")
		}
	}
}

// secrets that the space has in the control plane, as they are and as they may be written.
func (s *space) secrets(ctx context.Context) []string {
	GinkgoHelper()
	list := &corev1.SecretList{}
	Expect(env.controlClient.List(ctx, list)).To(Succeed())
	out := []string{password, base64.StdEncoding.EncodeToString([]byte(password)), "PRIVATE KEY"}
	for i := range list.Items {
		if list.Items[i].Namespace != s.name {
			continue
		}
		for _, data := range list.Items[i].Data {
			if text := strings.TrimSpace(string(data)); text != "" {
				out = append(out, text, base64.StdEncoding.EncodeToString(data))
			}
		}
	}
	return out
}

// web is a Manifest of the web chart without a workload, which needs nothing but an API server to become Ready. The
// password is one of its values.
func (s *space) web(source v1alpha1.Source) *v1alpha1.Manifest {
	GinkgoHelper()
	return s.manifest("web", s.installOf("web", source, values{"workload": false, "password": password}))
}

// with another ProviderConfig.
func with(m *v1alpha1.Manifest, config string) *v1alpha1.Manifest {
	m.Spec.ProviderConfigReference.Name = config
	return m
}

// fix a Manifest by another source.
func (s *space) mend(name string) func(ctx SpecContext) {
	return func(ctx SpecContext) {
		source := webChart().pushLayer(ctx)
		s.update(ctx, name, setSource(source))
	}
}

// configure changes a ProviderConfig of the space.
func (s *space) configure(ctx context.Context, name string, edit func(spec *v1alpha1.ProviderConfigSpec)) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) error {
		pc := &v1alpha1.ProviderConfig{}
		if err := env.controlClient.Get(ctx, s.key(name), pc); err != nil {
			return err
		}
		edit(&pc.Spec)
		return env.controlClient.Update(ctx, pc)
	}).WithContext(ctx).Should(Succeed())
}

// target of a kubeconfig, as YAML that a test has written by hand.
func handwritten(cluster, user string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: main
contexts:
- {name: main, context: {cluster: main, user: main}}
clusters:
- name: main
  cluster: %s
users:
- name: main
  user: %s
`, cluster, user)
}

// secretGone deletes a Secret of the space in the control plane.
func (s *space) secretGone(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(env.controlClient.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}})).To(Succeed())
}
