// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// aggregation is part of the labels that add the rules of a ClusterRole to other ClusterRoles, such as
// rbac.authorization.k8s.io/aggregate-to-admin.
const aggregation = "/aggregate-to-"

// powerful contains kinds whose objects always grant cluster-wide permissions, with the reasons.
var powerful = map[schema.GroupKind]string{ //nolint:gochecknoglobals // Constant.
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     webhook,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   webhook,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          webhook,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   webhook,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        webhook,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: webhook,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                             "APIServices handle requests for parts of the API of the cluster",
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}:                 "CertificateSigningRequests can request certificates for any user",
	{Group: v1alpha1.Group, Kind: v1alpha1.ClusterProviderConfigKind}:                 "ClusterProviderConfigs give access to the credentials of the provider",
}

// webhook is the reason for several kinds.
const webhook = "webhooks and admission policies can intercept requests of all users"

// packageGroup is the API group of Crossplane's packages. Crossplane runs what any of its kinds installs.
const packageGroup = "pkg.crossplane.io"

// delegates contains the API groups whose objects make Crossplane or this provider install something with permissions that the
// module itself does not have, with the reasons. Composite resources do this too, but their API groups are not known.
var delegates = map[string]string{ //nolint:gochecknoglobals // Constant.
	"apiextensions.crossplane.io": "make Crossplane create and change objects with its own permissions",
	"ops.crossplane.io":           "make Crossplane create and change objects with its own permissions",
	v1alpha1.Group:                "make the provider install modules without these restrictions",
}

// cluster returns an error if an object grants cluster-wide permissions.
func (r *rules) cluster(gk schema.GroupKind, u *unstructured.Unstructured) error {
	if why, ok := powerful[gk]; ok {
		return r.grants("kind", why)
	}
	if gk.Group == packageGroup {
		return r.grants("kind", "Crossplane gives packages access to all Secrets")
	}
	if why, ok := delegates[gk.Group]; ok && !r.lists(gk) {
		return errors.Errorf("%w; to allow this kind, list %s in kinds", r.grants("kind", "objects of "+gk.Group+" "+why), gk)
	}
	if gk.Group == rbacv1.GroupName {
		return r.rbac(gk.Kind, u)
	}
	return nil
}

// lists reports whether the allowed kinds contain a kind by name. A pattern for a whole group does not count.
func (r *rules) lists(gk schema.GroupKind) bool {
	return slices.ContainsFunc(r.allowed.Kinds, func(k string) bool { return !strings.HasPrefix(k, "*") && matches(k, gk) })
}

// rbac returns an error if an object of the RBAC API group grants cluster-wide permissions.
func (r *rules) rbac(kind string, u *unstructured.Unstructured) error {
	switch kind {
	case "Role":
		o := &rbacv1.Role{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o); err != nil {
			return r.grants("rules", "cannot be decoded")
		}
		return r.role(o)
	case "ClusterRole":
		o := &rbacv1.ClusterRole{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o); err != nil {
			return r.grants("rules", "cannot be decoded")
		}
		return r.clusterRole(o)
	case "ClusterRoleBinding":
		o := &rbacv1.ClusterRoleBinding{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o); err != nil {
			return r.grants("roleRef", "cannot be decoded")
		}
		return r.clusterRoleBinding(o)
	}
	return nil
}

// role returns an error if a Role, whose other permissions are limited to its namespace, names an API group for whose objects the provider
// installs something, possibly elsewhere. A Role for all API groups is that of an operator in its own namespace.
func (r *rules) role(o *rbacv1.Role) error {
	for i := range o.Rules {
		if why := delegated(&o.Rules[i]); why != "" {
			return r.grants(fmt.Sprintf("rules[%d]", i), why)
		}
	}
	return nil
}

func (r *rules) clusterRole(o *rbacv1.ClusterRole) error {
	if builtIn(o.Name) {
		return r.grants("metadata.name", "the name is that of a built-in role, to which other subjects are bound")
	}
	if o.AggregationRule != nil {
		return r.grants("aggregationRule", "aggregation adds the rules of other roles")
	}
	for key := range o.Labels {
		if strings.Contains(key, aggregation) {
			return r.grants("metadata.labels["+key+"]", "the label adds the rules to another role")
		}
	}
	for i := range o.Rules {
		if why := excess(&o.Rules[i]); why != "" {
			return r.grants(fmt.Sprintf("rules[%d]", i), why)
		}
	}
	return nil
}

// builtIn reports whether a ClusterRole is created by Kubernetes.
func builtIn(name string) bool {
	return slices.Contains([]string{"cluster-admin", "admin", "edit", "view"}, name) || strings.HasPrefix(name, "system:")
}

// harmless contains the built-in ClusterRoles to which extension API servers and operators are usually bound.
var harmless = []string{"system:auth-delegator", "system:discovery", "system:basic-user", "system:public-info-viewer"} //nolint:gochecknoglobals // Constant.

func (r *rules) clusterRoleBinding(o *rbacv1.ClusterRoleBinding) error {
	if builtIn(o.RoleRef.Name) && !slices.Contains(harmless, o.RoleRef.Name) {
		return r.grants("roleRef.name", "binds the built-in role "+o.RoleRef.Name)
	}
	for i, s := range o.Subjects {
		if s.Kind == rbacv1.GroupKind && strings.HasPrefix(s.Name, "system:") && !strings.HasPrefix(s.Name, "system:serviceaccounts:") {
			return r.grants(fmt.Sprintf("subjects[%d]", i), "binds the group "+s.Name)
		}
		if s.Kind == rbacv1.GroupKind && s.Name == "system:serviceaccounts:"+systemNamespace {
			return r.grants(fmt.Sprintf("subjects[%d]", i), "binds the group "+s.Name)
		}
	}
	return nil
}

// has returns the first of the names that is in the list, or an empty string.
func has(list []string, names ...string) string {
	for _, n := range names {
		if slices.Contains(list, n) {
			return n
		}
	}
	return ""
}

// covers reports whether a rule names one of the resources, or its subresource for all resources, such as */token.
func covers(p *rbacv1.PolicyRule, resources ...string) bool {
	return slices.ContainsFunc(resources, func(r string) bool {
		_, subresource, ok := strings.Cut(r, "/")
		return has(p.Resources, r) != "" || ok && has(p.Resources, "*/"+subresource) != ""
	})
}

// excess returns the reason why a rule grants administrative permissions in the cluster, or an empty string.
func excess(p *rbacv1.PolicyRule) string {
	if v := has(p.Verbs, "*", "escalate", "bind", "impersonate"); v != "" {
		return fmt.Sprintf("grants the verb %q", v)
	}
	if has(p.Resources, "*", "*/*") != "" {
		return fmt.Sprintf("grants access to all resources of API groups %q", p.APIGroups)
	}
	if has(p.APIGroups, "*") != "" {
		return "grants access to all API groups"
	}
	if slices.Contains(p.APIGroups, "") {
		if why := coreExcess(p); why != "" {
			return why
		}
	}
	if has(p.Verbs, "create", "update", "patch") == "" {
		return ""
	}
	if has(p.APIGroups, "admissionregistration.k8s.io", "apiregistration.k8s.io") != "" {
		return "allows creating webhooks, admission policies or APIServices"
	}
	if slices.Contains(p.APIGroups, "certificates.k8s.io") && covers(p, "certificatesigningrequests/approval", "certificatesigningrequests/status") {
		return "allows issuing certificates for any user"
	}
	return delegated(p)
}

// delegated returns the reason why a rule allows having Crossplane or this provider install something, or an empty string.
func delegated(p *rbacv1.PolicyRule) string {
	if has(p.Verbs, "*", "create", "update", "patch") == "" {
		return ""
	}
	if i := slices.IndexFunc(p.APIGroups, delegating); i >= 0 {
		return "allows creating or changing objects of " + p.APIGroups[i]
	}
	return ""
}

// delegating reports whether Crossplane or this provider installs something for objects of an API group.
func delegating(group string) bool {
	_, ok := delegates[group]
	return ok || group == packageGroup
}

// coreExcess is like excess, for a rule about the core API group.
func coreExcess(p *rbacv1.PolicyRule) string {
	switch {
	case has(p.Verbs, "get", "list", "watch") != "" && covers(p, "secrets") && len(p.ResourceNames) == 0:
		return "allows reading all Secrets"
	case covers(p, "nodes/proxy"):
		return "grants nodes/proxy, which allows running commands in all Pods"
	case has(p.Verbs, "create", "update", "patch") != "" && covers(p, "serviceaccounts/token"):
		return "allows creating tokens for all ServiceAccounts"
	}
	return ""
}
