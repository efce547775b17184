// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// ProviderVerbs returns the verbs that the RBAC manager of Crossplane grants providers on their own kinds.
func ProviderVerbs() []string { return []string{"get", "list", "watch", "update", "patch", "create"} }

// Restricted returns the path of a kubeconfig for a user of the control plane with the permissions that the RBAC manager of
// Crossplane grants providers. They are revoked at the end of the spec.
func Restricted(ctx context.Context, s *Space) string {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: s.Name}, Rules: rulesOf(ProviderVerbs())}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: s.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.Name}},
	}
	for _, o := range []client.Object{role, binding} {
		s.Create(ctx, o)
		DeferCleanup(func(ctx SpecContext) { Expect(Env.ControlClient.Delete(ctx, o)).To(Succeed()) })
	}
	file := filepath.Join(Env.Dir, s.Name+".kubeconfig")
	Expect(os.WriteFile(file, KubeconfigOf(Env.Control, Must(Env.Control.User(s.Name))), 0o600)).To(Succeed())
	return file
}

// Allow restricts the permissions of the user to these verbs.
func Allow(ctx context.Context, s *Space, verbs ...string) {
	GinkgoHelper()
	setRules(ctx, s, rulesOf(verbs))
}

// AllowMore grants the user more than what providers have.
func AllowMore(ctx context.Context, s *Space, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	setRules(ctx, s, slices.Concat(rulesOf(ProviderVerbs()), rules))
}

// AwaitDenied waits until an API server denies a user a request. Its authorizer learns a little later than clients that a binding or a role has changed.
func AwaitDenied(ctx context.Context, c client.Client, user string, request authorizationv1.ResourceAttributes) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) (bool, error) {
		r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &request}}
		err := c.Create(ctx, r)
		return r.Status.Allowed, err
	}).WithContext(ctx).Should(BeFalse())
}

func setRules(ctx context.Context, s *Space, rules []rbacv1.PolicyRule) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(Env.ControlClient.Get(ctx, client.ObjectKey{Name: s.Name}, role)).To(Succeed())
	role.Rules = rules
	Expect(Env.ControlClient.Update(ctx, role)).To(Succeed())
}

func rulesOf(verbs []string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.Group}, Resources: []string{"*"}, Verbs: verbs},
		{APIGroups: []string{"", "coordination.k8s.io"}, Resources: []string{"secrets", "configmaps", "events", "leases"}, Verbs: []string{"*"}},
	}
}
