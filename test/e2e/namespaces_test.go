// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// secretName is the name of the Secret with the kubeconfig of the target, and of the ProviderConfig that a spec can create.
	secretName = "target"
	// kubeconfigKey is the key of a kubeconfig in its Secret.
	kubeconfigKey = "kubeconfig"
	// labelSpec is a label of each ModuleTemplate. Its value is the name of the space: ModuleTemplates are cluster-scoped.
	labelSpec = "example.org/spec"
	// removeFinalizers is a merge patch that removes the finalizers of an object.
	removeFinalizers = `{"metadata":{"finalizers":null}}`
)

// A space is the pair of namespaces of one spec, with the same name in the control plane and in the target.
type space struct {
	name string
}

// newSpace creates a space with the Secret of the target. Everything in it is deleted at the end of the spec, and must be gone.
func newSpace(ctx context.Context) *space {
	GinkgoHelper()
	s := &space{name: fmt.Sprintf("spec-%08x", rand.Uint32())}
	Expect(env.controlClient.Create(ctx, namespaceOf(s.name))).To(Succeed())
	Expect(env.targetClient.Create(ctx, namespaceOf(s.name))).To(Succeed())
	DeferCleanup(s.clean)
	s.create(ctx, s.secret())
	return s
}

// secret returns a Secret with the kubeconfig of the target, without creating it.
func (s *space) secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: secretName},
		Data:       map[string][]byte{kubeconfigKey: env.target.Kubeconfig()},
	}
}

// config returns a ProviderConfig for the target, without creating it.
func (s *space) config() *v1alpha1.ProviderConfig {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: secretName}}
	pc.Spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
	pc.Spec.Credentials.SecretRef = &v1alpha1.SecretKeySelector{Name: secretName, Key: kubeconfigKey}
	pc.Spec.Registries = []v1alpha1.Registry{{Host: env.registry.Host(), PlainHTTP: true}}
	return pc
}

// kyma returns a Kyma with the ProviderConfig of the space, without creating it.
func (s *space) kyma(name string, modules ...v1alpha1.Module) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}}
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: secretName}
	k.Spec.ForProvider.Modules = modules
	return k
}

// enable creates a Kyma, and its ProviderConfig if there is none, waits until the Kyma is Ready, and returns it.
func (s *space) enable(ctx context.Context, k *v1alpha1.Kyma) *v1alpha1.Kyma {
	GinkgoHelper()
	Expect(client.IgnoreAlreadyExists(env.controlClient.Create(ctx, s.config()))).To(Succeed())
	s.create(ctx, k)
	Eventually(s.getKyma).WithContext(ctx).WithArguments(k.Name).Should(beReady())
	return must(s.getKyma(ctx, k.Name))
}

// create creates an object in the control plane.
func (s *space) create(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(env.controlClient.Create(ctx, o)).To(Succeed())
}

// delete deletes an object in the control plane, without waiting until it is gone.
func (s *space) delete(ctx context.Context, o client.Object, options ...client.DeleteOption) {
	GinkgoHelper()
	Expect(env.controlClient.Delete(ctx, o, options...)).To(Succeed())
}

// remove deletes an object in the control plane, and waits until it is gone.
func (s *space) remove(ctx context.Context, o client.Object) {
	GinkgoHelper()
	s.delete(ctx, o)
	Eventually(absent(env.controlClient, client.ObjectKeyFromObject(o), o)).WithContext(ctx).Should(BeTrue(), o.GetName()+" is gone")
}

// key returns the key of an object in the namespace, for either cluster.
func (s *space) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.name, Name: name}
}

// getKyma returns a Kyma of the space.
func (s *space) getKyma(ctx context.Context, name string) (*v1alpha1.Kyma, error) {
	return fetched(ctx, env.controlClient, s.key(name), &v1alpha1.Kyma{})
}

// getManifest returns a Manifest of the space.
func (s *space) getManifest(ctx context.Context, name string) (*v1alpha1.Manifest, error) {
	return fetched(ctx, env.controlClient, s.key(name), &v1alpha1.Manifest{})
}

// configMap returns a ConfigMap of the space in the target.
func (s *space) configMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	return fetched(ctx, env.targetClient, s.key(name), &corev1.ConfigMap{})
}

// update edits an object of the control plane, and retries on conflicts.
func update[T client.Object](ctx context.Context, o T, edit func(o T)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := env.controlClient.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		edit(o)
		return env.controlClient.Update(ctx, o)
	})).To(Succeed())
}

// annotate sets an annotation of an object, or removes it if the value is empty.
func annotate(ctx context.Context, o client.Object, key, value string) {
	GinkgoHelper()
	update(ctx, o, func(o client.Object) {
		all := map[string]string{key: value}
		for k, v := range o.GetAnnotations() {
			if k != key {
				all[k] = v
			}
		}
		if value == "" {
			delete(all, key)
		}
		o.SetAnnotations(all)
	})
}

// listOf returns an empty list for objects of a kind.
func listOf(group, version, kind string) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind + "List"})
	return l
}

// kinds returns empty lists of the kinds that a spec can leave in its namespace. Kinds that create others come first.
func kinds() []*unstructured.UnstructuredList {
	platform, ours := platformGroup, v1alpha1.Group
	return []*unstructured.UnstructuredList{
		listOf(platform, "v1alpha1", claimKind), listOf(platform, "v1alpha1", environmentKind),
		listOf(ours, "v1alpha1", v1alpha1.KymaKind), listOf(ours, "v1alpha1", v1alpha1.ManifestKind),
		listOf(ours, "v1alpha1", v1alpha1.ProviderConfigKind),
	}
}

// left returns the objects of a kind in the namespace, or nothing if the kind is not served.
func (s *space) left(ctx context.Context, list *unstructured.UnstructuredList) []unstructured.Unstructured {
	if err := env.controlClient.List(ctx, list, client.InNamespace(s.name)); err != nil {
		return nil
	}
	return list.Items
}

// clean cleans up after a spec. It removes the leftovers of a failed spec by force, so that other specs do not fail.
func (s *space) clean(ctx SpecContext) {
	failed := CurrentSpecReport().Failed()
	if failed {
		s.report(ctx)
	}
	for _, list := range kinds() {
		for _, o := range s.left(ctx, list) {
			Expect(client.IgnoreNotFound(env.controlClient.Delete(ctx, &o))).To(Succeed())
		}
		gone := func(ctx context.Context) []unstructured.Unstructured { return s.left(ctx, list) }
		if !failed {
			Eventually(gone).WithContext(ctx).Should(BeEmpty())
			continue
		}
		_ = InterceptGomegaFailures(func() { Eventually(gone).WithContext(ctx).WithTimeout(patience / 6).Should(BeEmpty()) })
		for _, o := range s.left(ctx, list) {
			_ = env.controlClient.Patch(ctx, &o, client.RawPatch("application/merge-patch+json", []byte(removeFinalizers)))
		}
	}
	// After the last spec, our kinds are not served.
	Expect(env.controlClient.DeleteAllOf(ctx, &v1alpha1.ModuleTemplate{}, client.MatchingLabels{labelSpec: s.name})).To(Or(Succeed(), beNotFound()))
	for _, c := range []client.Client{env.controlClient, env.targetClient} {
		Expect(client.IgnoreNotFound(c.Delete(ctx, namespaceOf(s.name)))).To(Succeed())
	}
}

// count returns the number of objects of all kinds in the namespace.
func (s *space) count(ctx context.Context) (int, error) {
	n := 0
	for _, list := range kinds() {
		if err := env.controlClient.List(ctx, list, client.InNamespace(s.name)); err != nil {
			return 0, err
		}
		n += len(list.Items)
	}
	return n, nil
}
