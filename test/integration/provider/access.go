// SPDX-License-Identifier: Apache-2.0

package provider

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const settings = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  message: {{ .Values.message | default "hello" | quote }}
`

var _ = Describe("A Manifest that impersonates a ServiceAccount", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	as := func(namespace, name string) *v1alpha1.Impersonation {
		return &v1alpha1.Impersonation{ServiceAccount: v1alpha1.ServiceAccountReference{Namespace: namespace, Name: name}}
	}

	It("has only its permissions, also during the removal", func(ctx SpecContext) {
		meta := metav1.ObjectMeta{Namespace: s.Name, Name: "installer"}
		InTarget(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"*"}},
		}})
		binding := &rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "installer"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: s.Name, Name: "installer"}},
		}
		InTarget(ctx, binding)
		user := "system:serviceaccount:" + s.Name + ":installer"
		m := s.Manifest("web", s.InstallOf("web", NewChart("small", "1.0.0").With("templates/settings.yaml", settings).PushLayer(ctx), nil))
		m.Spec.ForProvider.Impersonate = as("", "installer")
		s.Install(ctx, m)
		Expect(s.MustConfigMap(ctx, "settings")).To(HaveData("message", "hello"))

		By("rejecting what the ServiceAccount is not allowed to do")
		wide := s.Manifest("wide", s.InstallOf("wide", v1alpha1.Source{
			Type: v1alpha1.SourceTypeRaw, Inline: "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + s.Name + "-wide}, rules: []}",
		}, nil))
		wide.Spec.ForProvider.Impersonate = as(s.Name, "installer")
		s.Create(ctx, wide)
		AwaitTrouble(ctx, s, "wide", "forbidden", user, "clusterroles")
		// The account can't even read whether the object exists, so the removal needs the permissions of the connection.
		s.Update(ctx, "wide", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Impersonate = nil })
		s.Remove(ctx, "wide")

		By("upgrading with its permissions, and watching with those of the connection")
		s.Update(ctx, "web", SetValues(Values{"message": "changed"}))
		s.AwaitMessage(ctx, "settings", "changed")
		Edit(ctx, s.MustConfigMap(ctx, "settings"), `{"data":{"message":"drift"}}`)
		s.AwaitMessage(ctx, "settings", "changed")
		s.AwaitReady(ctx, "web")

		By("reporting the ServiceAccount that lost its permissions, and removing without it")
		Expect(Env.TargetClient.Delete(ctx, binding)).To(Succeed())
		AwaitDenied(ctx, Env.TargetClient, user, authorizationv1.ResourceAttributes{Namespace: s.Name, Verb: "delete", Resource: "configmaps"})
		s.Delete(ctx, "web")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(NotSynced("forbidden", user))
		Expect(s.MustConfigMap(ctx, "settings")).To(HaveData("message", "changed"))
		s.Update(ctx, "web", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Impersonate = nil })
		s.AwaitGone(ctx, "web")
		Expect(Gone(s.ConfigMap)(ctx, "settings")).To(BeTrue())
	})

	It("cannot use a ServiceAccount other than the one that its ClusterProviderConfig specifies", func(ctx SpecContext) {
		s.Secret(ctx, "shared", corev1.SecretTypeOpaque, map[string][]byte{KubeconfigKey: Env.Target.Kubeconfig()})
		cpc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}
		cpc.Spec.Credentials = v1alpha1.Credentials{Source: v1alpha1.CredentialsSourceSecret, CredentialSelectors: v1alpha1.CredentialSelectors{
			SecretRef: &v1alpha1.SecretKeySelector{Namespace: s.Name, Name: "shared", Key: KubeconfigKey},
		}}
		cpc.Spec.Registries, cpc.Spec.Impersonate = Registries(), as("", "installer")
		s.Create(ctx, cpc)
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(Env.ControlClient.Delete(ctx, cpc))).To(Succeed()) })
		m := s.Manifest("web", s.InstallOf("web", NewChart("small", "1.0.0").With("templates/settings.yaml", settings).PushLayer(ctx), nil))
		m.Spec.ProviderConfigReference.Kind, m.Spec.ProviderConfigReference.Name = v1alpha1.ClusterProviderConfigKind, s.Name
		m.Spec.ForProvider.Impersonate = as("kube-system", "admin")
		s.Create(ctx, m)
		AwaitTrouble(ctx, s, "web", "spec.forProvider.impersonate", "requires system:serviceaccount:"+s.Name+":installer")
		s.Update(ctx, "web", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Impersonate = nil })
		AwaitTrouble(ctx, s, "web", "forbidden", "system:serviceaccount:"+s.Name+":installer")
		Eventually(func() error {
			if err := Env.ControlClient.Get(ctx, client.ObjectKeyFromObject(cpc), cpc); err != nil {
				return err
			}
			cpc.Spec.Impersonate = nil
			return Env.ControlClient.Update(ctx, cpc)
		}).WithContext(ctx).Should(Succeed())
		s.Remove(ctx, "web")
	})
})

var _ = Describe("The function lookup of a chart", func() {
	It("does not reveal Secrets in messages, and can be disabled", func(ctx SpecContext) {
		s := NewSpace(ctx)
		InTarget(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "passwords"}, Data: map[string][]byte{"password": []byte(Password)}})
		chart := NewChart("small", "1.0.0").With("templates/fail.yaml", `{{ fail (lookup "v1" "Secret" "`+s.Name+`" "passwords" | toJson) }}`)
		s.Create(ctx, s.Manifest("web", s.InstallOf("web", chart.PushLayer(ctx), nil)))
		AwaitTrouble(ctx, s, "web", "(hidden)")

		Configure(ctx, s, ConfigName, func(spec *v1alpha1.ProviderConfigSpec) { spec.Lookup = v1alpha1.LookupNoSecrets })
		AwaitTrouble(ctx, s, "web", "the template function lookup must not read Secrets", "ProviderConfig "+ConfigName)
		s.Remove(ctx, "web")
	})
})
