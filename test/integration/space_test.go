// SPDX-License-Identifier: Apache-2.0

package integration

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
	// configName is the name of the ProviderConfig that each space has, and of the Secret with the kubeconfig.
	configName = "target"
	// kubeconfigKey is the key of a kubeconfig in its Secret.
	kubeconfigKey = "kubeconfig"
)

// A space is what belongs to one spec: two namespaces of one name, one in the control plane and one in the target.
type space struct {
	name string
}

// newSpace with a ProviderConfig for the target, which the administrator is the user of. At the end of the spec all
// Manifests of the space are deleted, and must go.
func newSpace(ctx context.Context) *space {
	GinkgoHelper()
	s := &space{name: fmt.Sprintf("spec-%08x", rand.Uint32())}
	namespace := func() *corev1.Namespace { return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}} }
	Expect(env.controlClient.Create(ctx, namespace())).To(Succeed())
	Expect(env.targetClient.Create(ctx, namespace())).To(Succeed())
	DeferCleanup(s.clean)
	s.config(ctx, configName, env.target.Kubeconfig())
	return s
}

// clean up after a spec. What a failed spec left is forced to go, so that it does not make other specs fail.
func (s *space) clean(ctx SpecContext) {
	failed := CurrentSpecReport().Failed()
	if failed {
		s.report(ctx)
	}
	// Kymas go first: they would bring their Manifests back.
	err := client.IgnoreNotFound(env.controlClient.DeleteAllOf(ctx, &v1alpha1.Kyma{}, client.InNamespace(s.name)))
	if !failed {
		Expect(err).NotTo(HaveOccurred())
		Eventually(s.kymas).WithContext(ctx).Should(BeEmpty())
	}
	err = client.IgnoreNotFound(env.controlClient.DeleteAllOf(ctx, &v1alpha1.Manifest{}, client.InNamespace(s.name)))
	if !failed {
		Expect(err).NotTo(HaveOccurred())
		Eventually(s.manifests).WithContext(ctx).Should(BeEmpty())
	}
	if failed {
		s.force(ctx)
	}
	Expect(env.controlClient.DeleteAllOf(ctx, &v1alpha1.ModuleTemplate{}, client.MatchingLabels{labelSpec: s.name})).To(Succeed())
	Expect(env.controlClient.DeleteAllOf(ctx, &v1alpha1.ProviderConfig{}, client.InNamespace(s.name))).To(Or(Succeed(), beNotFound()))
	for _, c := range []client.Client{env.controlClient, env.targetClient} {
		Expect(client.IgnoreNotFound(c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}))).To(Succeed())
	}
}

// force Kymas and Manifests to go that do not go by themselves.
func (s *space) force(ctx context.Context) {
	_ = InterceptGomegaFailures(func() {
		Eventually(s.kymas).WithContext(ctx).WithTimeout(patience / 4).Should(BeEmpty())
		Eventually(s.manifests).WithContext(ctx).WithTimeout(patience / 4).Should(BeEmpty())
	})
	kymas := &v1alpha1.KymaList{}
	if err := env.controlClient.List(ctx, kymas, client.InNamespace(s.name)); err != nil {
		return
	}
	for i := range kymas.Items {
		_ = env.controlClient.Patch(ctx, &kymas.Items[i], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	}
	left := &v1alpha1.ManifestList{}
	if err := env.controlClient.List(ctx, left, client.InNamespace(s.name)); err != nil {
		return
	}
	for i := range left.Items {
		m := &left.Items[i]
		_ = env.controlClient.Patch(ctx, m, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	}
}

// manifests of the space, by name.
func (s *space) manifests(ctx context.Context) ([]string, error) {
	list := &v1alpha1.ManifestList{}
	err := env.controlClient.List(ctx, list, client.InNamespace(s.name))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name+": "+describe(&list.Items[i]))
	}
	return names, err
}

// create an object in the control plane.
func (s *space) create(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(env.controlClient.Create(ctx, o)).To(Succeed())
}

// secret in the control plane, created or replaced.
func (s *space) secret(ctx context.Context, name string, kind corev1.SecretType, data map[string][]byte) {
	GinkgoHelper()
	want := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}, Type: kind, Data: data}
	err := env.controlClient.Create(ctx, want.DeepCopy())
	if err == nil {
		return
	}
	Expect(env.controlClient.Update(ctx, want)).To(Succeed(), "%v", err)
}

// config makes a ProviderConfig, and a Secret of the same name with its kubeconfig. The registry of the suite is the only
// one that it allows, unless it is edited.
func (s *space) config(ctx context.Context, name string, kubeconfig []byte, edit ...func(*v1alpha1.ProviderConfigSpec)) {
	GinkgoHelper()
	s.secret(ctx, name, corev1.SecretTypeOpaque, map[string][]byte{kubeconfigKey: kubeconfig})
	pc := &v1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name},
		Spec: v1alpha1.ProviderConfigSpec{
			Credentials: v1alpha1.Credentials{
				Source: v1alpha1.CredentialsSourceSecret,
				CredentialSelectors: v1alpha1.CredentialSelectors{
					SecretRef: &v1alpha1.SecretKeySelector{Name: name, Key: kubeconfigKey},
				},
			},
			Registries: registries(),
		},
	}
	for _, e := range edit {
		e(&pc.Spec)
	}
	s.create(ctx, pc)
}

// registries are those of the suite.
func registries() []v1alpha1.Registry {
	return []v1alpha1.Registry{{Host: env.registry.Host(), PlainHTTP: true}}
}

// get a Manifest of the space.
func (s *space) get(ctx context.Context, name string) (*v1alpha1.Manifest, error) {
	m := &v1alpha1.Manifest{}
	return m, env.controlClient.Get(ctx, s.key(name), m)
}

// key of an object in the namespace, of either cluster.
func (s *space) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.name, Name: name}
}

// update a Manifest.
func (s *space) update(ctx context.Context, name string, edit func(m *v1alpha1.Manifest)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		m, err := s.get(ctx, name)
		if err != nil {
			return err
		}
		edit(m)
		return env.controlClient.Update(ctx, m)
	})).To(Succeed())
}

// delete a Manifest. It is gone only later.
func (s *space) delete(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(env.controlClient.Delete(ctx, &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}})).To(Succeed())
}

// remove a Manifest, and wait until it is gone.
func (s *space) remove(ctx context.Context, name string) {
	GinkgoHelper()
	s.delete(ctx, name)
	s.awaitGone(ctx, name)
}

// awaitGone waits until a Manifest is gone.
func (s *space) awaitGone(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(gone(s.get)).WithContext(ctx).WithArguments(name).Should(BeTrue(), func() string {
		m, err := s.get(ctx, name)
		return fmt.Sprintf("Manifest %s is still there: %s (%v)", name, describe(m), err)
	})
}

// awaitReady waits until a Manifest is Ready in its present generation.
func (s *space) awaitReady(ctx context.Context, name string) *v1alpha1.Manifest {
	GinkgoHelper()
	Eventually(s.get).WithContext(ctx).WithArguments(name).Should(beReady())
	m, err := s.get(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	return m
}

// install a Manifest, and wait until it is Ready.
func (s *space) install(ctx context.Context, m *v1alpha1.Manifest) *v1alpha1.Manifest {
	GinkgoHelper()
	s.create(ctx, m)
	return s.awaitReady(ctx, m.Name)
}

// user makes a user of the target who has all rights, and returns their kubeconfig with a client certificate.
func (s *space) user(ctx context.Context, name string) []byte {
	GinkgoHelper()
	grant(ctx, name)
	config, err := env.target.User(name)
	Expect(err).NotTo(HaveOccurred())
	return kubeconfigOf(env.target, config)
}

// kubeconfigOf a user of a cluster.
func kubeconfigOf(c *controlplane.Cluster, config *rest.Config) []byte {
	GinkgoHelper()
	kubeconfig, err := c.KubeconfigOf(config)
	Expect(err).NotTo(HaveOccurred())
	return kubeconfig
}
