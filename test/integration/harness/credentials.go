// SPDX-License-Identifier: Apache-2.0

package harness

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

// Password is a secret that must not appear in a status, an event or a log. Specs use it as the value of secrets.
const Password = "hunter2-is-a-secret"

// AwaitTrouble waits until a Manifest reports an error that contains all parts of says. Its messages must be single lines
// without secrets.
func AwaitTrouble(ctx context.Context, s *Space, name string, says ...string) {
	GinkgoHelper()
	Eventually(s.Get).WithContext(ctx).WithArguments(name).Should(SatisfyAll(
		NotReady(says...), HaveState(v1alpha1.StateError, says...)))
	m := Must(s.Get(ctx, name))
	AddReportEntry(name+" says", m.Status.AtProvider.Message, ReportEntryVisibilityFailureOrVerbose)
	texts := append([]string{m.Status.AtProvider.Message}, Must(Events(ctx, s, name))...)
	for _, c := range m.Status.Conditions {
		texts = append(texts, c.Message)
	}
	for _, i := range m.Status.AtProvider.Installs {
		texts = append(texts, i.Message)
	}
	for _, text := range texts {
		Expect(text).NotTo(ContainSubstring("\n"), "a message must be one line")
		for _, secret := range secretsIn(ctx, s) {
			Expect(text).NotTo(ContainSubstring(secret), "a message must not show a secret")
		}
	}
}

// secretsIn returns the password and all values of Secrets of the space in the control plane, plain and in base64.
func secretsIn(ctx context.Context, s *Space) []string {
	GinkgoHelper()
	list := &corev1.SecretList{}
	Expect(Env.ControlClient.List(ctx, list)).To(Succeed())
	out := []string{Password, base64.StdEncoding.EncodeToString([]byte(Password)), "PRIVATE KEY"}
	for i := range list.Items {
		if list.Items[i].Namespace != s.Name {
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

// Web returns a Manifest of the web chart without a workload, which becomes Ready with nothing but an API server. The password
// is one of its values.
func Web(s *Space, source v1alpha1.Source) *v1alpha1.Manifest {
	GinkgoHelper()
	return s.Manifest("web", s.InstallOf("web", source, Values{"workload": false, "password": Password}))
}

// With sets the ProviderConfig of a Manifest, and returns the Manifest.
func With(m *v1alpha1.Manifest, config string) *v1alpha1.Manifest {
	m.Spec.ProviderConfigReference.Name = config
	return m
}

// Configure changes a ProviderConfig of the space.
func Configure(ctx context.Context, s *Space, name string, edit func(spec *v1alpha1.ProviderConfigSpec)) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) error {
		pc := &v1alpha1.ProviderConfig{}
		if err := Env.ControlClient.Get(ctx, s.Key(name), pc); err != nil {
			return err
		}
		edit(&pc.Spec)
		return Env.ControlClient.Update(ctx, pc)
	}).WithContext(ctx).Should(Succeed())
}

// Handwritten returns a kubeconfig as a person would write it. cluster and user are its fields in YAML.
func Handwritten(cluster, user string) []byte {
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

// SecretGone deletes a Secret of the space in the control plane.
func SecretGone(ctx context.Context, s *Space, name string) {
	GinkgoHelper()
	Expect(Env.ControlClient.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name}})).To(Succeed())
}
