// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// ConfigName is the name of the ProviderConfig of each space, and of the Secret with its kubeconfig.
	ConfigName = "target"
	// KubeconfigKey is the key of a kubeconfig in its Secret.
	KubeconfigKey = "kubeconfig"
)

// A Space is the pair of namespaces of one spec, with the same name in the control plane and in the target.
type Space struct {
	Name string
}

// NewSpace creates a space with a ProviderConfig that connects to the target as administrator. At the end of the spec, all
// Manifests of the space are deleted, and must be gone.
func NewSpace(ctx context.Context) *Space {
	GinkgoHelper()
	s := &Space{Name: fmt.Sprintf("spec-%08x", rand.Uint32())}
	namespace := func() *corev1.Namespace { return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}} }
	Expect(Env.ControlClient.Create(ctx, namespace())).To(Succeed())
	Expect(Env.TargetClient.Create(ctx, namespace())).To(Succeed())
	DeferCleanup(s.Clean)
	s.Config(ctx, ConfigName, Env.Target.Kubeconfig())
	return s
}

// Clean cleans up after a spec. It removes the leftovers of a failed spec by force, so that other specs do not fail.
func (s *Space) Clean(ctx SpecContext) {
	failed := CurrentSpecReport().Failed()
	if failed {
		report(ctx, s)
	}
	// Kymas are deleted first, because they would create their Manifests again.
	err := client.IgnoreNotFound(Env.ControlClient.DeleteAllOf(ctx, &v1alpha1.Kyma{}, client.InNamespace(s.Name)))
	if !failed {
		Expect(err).NotTo(HaveOccurred())
		Eventually(s.Kymas).WithContext(ctx).Should(BeEmpty())
	}
	err = client.IgnoreNotFound(Env.ControlClient.DeleteAllOf(ctx, &v1alpha1.Manifest{}, client.InNamespace(s.Name)))
	if !failed {
		Expect(err).NotTo(HaveOccurred())
		Eventually(s.Manifests).WithContext(ctx).Should(BeEmpty())
	}
	if failed {
		s.force(ctx)
	}
	Expect(Env.ControlClient.DeleteAllOf(ctx, &v1alpha1.ModuleTemplate{}, client.MatchingLabels{LabelSpec: s.Name})).To(Succeed())
	Expect(Env.ControlClient.DeleteAllOf(ctx, &v1alpha1.ProviderConfig{}, client.InNamespace(s.Name))).To(Or(Succeed(), BeNotFound()))
	for _, c := range []client.Client{Env.ControlClient, Env.TargetClient} {
		Expect(client.IgnoreNotFound(c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}))).To(Succeed())
	}
}

// force removes the finalizers of Kymas and Manifests that are not deleted in time.
func (s *Space) force(ctx context.Context) {
	_ = InterceptGomegaFailures(func() {
		Eventually(s.Kymas).WithContext(ctx).WithTimeout(Patience / 4).Should(BeEmpty())
		Eventually(s.Manifests).WithContext(ctx).WithTimeout(Patience / 4).Should(BeEmpty())
	})
	kymas := &v1alpha1.KymaList{}
	if err := Env.ControlClient.List(ctx, kymas, client.InNamespace(s.Name)); err != nil {
		return
	}
	for i := range kymas.Items {
		_ = Env.ControlClient.Patch(ctx, &kymas.Items[i], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	}
	left := &v1alpha1.ManifestList{}
	if err := Env.ControlClient.List(ctx, left, client.InNamespace(s.Name)); err != nil {
		return
	}
	for i := range left.Items {
		m := &left.Items[i]
		_ = Env.ControlClient.Patch(ctx, m, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	}
}

// Manifests returns the name and description of each Manifest of the space.
func (s *Space) Manifests(ctx context.Context) ([]string, error) {
	list := &v1alpha1.ManifestList{}
	err := Env.ControlClient.List(ctx, list, client.InNamespace(s.Name))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name+": "+describe(&list.Items[i]))
	}
	return names, err
}

// Create creates an object in the control plane.
func (s *Space) Create(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(Env.ControlClient.Create(ctx, o)).To(Succeed())
}

// Secret creates or replaces a Secret in the control plane.
func (s *Space) Secret(ctx context.Context, name string, kind corev1.SecretType, data map[string][]byte) {
	GinkgoHelper()
	want := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name}, Type: kind, Data: data}
	err := Env.ControlClient.Create(ctx, want.DeepCopy())
	if err == nil {
		return
	}
	Expect(Env.ControlClient.Update(ctx, want)).To(Succeed(), "%v", err)
}

// Config creates a ProviderConfig, and a Secret of the same name with its kubeconfig. It allows only the registry of the suite,
// unless it is edited.
func (s *Space) Config(ctx context.Context, name string, kubeconfig []byte, edit ...func(*v1alpha1.ProviderConfigSpec)) {
	GinkgoHelper()
	s.Secret(ctx, name, corev1.SecretTypeOpaque, map[string][]byte{KubeconfigKey: kubeconfig})
	pc := &v1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name},
		Spec: v1alpha1.ProviderConfigSpec{
			Credentials: v1alpha1.Credentials{
				Source: v1alpha1.CredentialsSourceSecret,
				CredentialSelectors: v1alpha1.CredentialSelectors{
					SecretRef: &v1alpha1.SecretKeySelector{Name: name, Key: KubeconfigKey},
				},
			},
			Registries: Registries(),
		},
	}
	for _, e := range edit {
		e(&pc.Spec)
	}
	s.Create(ctx, pc)
}

// Registries returns the allowed registries: the registry of the suite.
func Registries() []v1alpha1.Registry {
	return []v1alpha1.Registry{{Host: Env.Registry.Host(), PlainHTTP: true}}
}

// Get returns a Manifest of the space.
func (s *Space) Get(ctx context.Context, name string) (*v1alpha1.Manifest, error) {
	m := &v1alpha1.Manifest{}
	return m, Env.ControlClient.Get(ctx, s.Key(name), m)
}

// Key returns the key of an object in the namespace, for either cluster.
func (s *Space) Key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.Name, Name: name}
}

// Update edits a Manifest, and retries on conflicts.
func (s *Space) Update(ctx context.Context, name string, edit func(m *v1alpha1.Manifest)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		m, err := s.Get(ctx, name)
		if err != nil {
			return err
		}
		edit(m)
		return Env.ControlClient.Update(ctx, m)
	})).To(Succeed())
}

// Delete deletes a Manifest, without waiting until it is gone.
func (s *Space) Delete(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(Env.ControlClient.Delete(ctx, &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name}})).To(Succeed())
}

// Remove deletes a Manifest, and waits until it is gone.
func (s *Space) Remove(ctx context.Context, name string) {
	GinkgoHelper()
	s.Delete(ctx, name)
	s.AwaitGone(ctx, name)
}

// AwaitGone waits until a Manifest is gone.
func (s *Space) AwaitGone(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(Gone(s.Get)).WithContext(ctx).WithArguments(name).Should(BeTrue(), func() string {
		m, err := s.Get(ctx, name)
		return fmt.Sprintf("Manifest %s is still there: %s (%v)", name, describe(m), err)
	})
}

// AwaitReady waits until a Manifest is Ready in its current generation, and returns it.
func (s *Space) AwaitReady(ctx context.Context, name string) *v1alpha1.Manifest {
	GinkgoHelper()
	Eventually(s.Get).WithContext(ctx).WithArguments(name).Should(BeReady())
	m, err := s.Get(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	return m
}

// Install creates a Manifest, waits until it is Ready, and returns it.
func (s *Space) Install(ctx context.Context, m *v1alpha1.Manifest) *v1alpha1.Manifest {
	GinkgoHelper()
	s.Create(ctx, m)
	return s.AwaitReady(ctx, m.Name)
}

// User grants a user all permissions in the target, and returns a kubeconfig with a client certificate.
func (s *Space) User(ctx context.Context, name string) []byte {
	GinkgoHelper()
	grant(ctx, name)
	config, err := Env.Target.User(name)
	Expect(err).NotTo(HaveOccurred())
	return KubeconfigOf(Env.Target, config)
}

// KubeconfigOf returns the kubeconfig of a user of a cluster.
func KubeconfigOf(c *controlplane.Cluster, config *rest.Config) []byte {
	GinkgoHelper()
	kubeconfig, err := c.KubeconfigOf(config)
	Expect(err).NotTo(HaveOccurred())
	return kubeconfig
}

// Own is the name of a ProviderConfig that does not work.
const Own = "own"

// PutKubeconfig replaces the kubeconfig of the ProviderConfig Own.
func (s *Space) PutKubeconfig(ctx context.Context, data []byte) {
	GinkgoHelper()
	s.Secret(ctx, Own, corev1.SecretTypeOpaque, map[string][]byte{KubeconfigKey: data})
}

// At returns a function that returns a kubeconfig for another server than the target.
func At(server string) func() []byte {
	return func() []byte { return Handwritten("{server: "+server+"}", "{token: "+Password+"}") }
}
