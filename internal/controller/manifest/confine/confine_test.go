// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestKindsAndNamespaces(t *testing.T) {
	allowed := v1alpha1.Confinement{Namespaces: []string{"apps", "logs"}, Kinds: []string{"ConfigMap", "Namespace", "*.apps", "Job.batch"}}
	cases := map[string]struct {
		reason string
		object string
		want   string
	}{
		"Core":           {reason: "A kind of the core group has no group.", object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: apps}}"},
		"Group":          {reason: "All kinds of a group.", object: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: logs}}"},
		"Kind":           {reason: "One kind of a group.", object: "{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: logs}}"},
		"OtherKind":      {reason: "No other one.", object: "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a, namespace: logs}}", want: "kind CronJob.batch is not allowed by spec.allowed of ModuleTemplate web: allowed kinds are ConfigMap, Namespace, *.apps, Job.batch"},
		"OtherGroup":     {reason: "A kind of the same name in another group is another one.", object: "{apiVersion: example.org/v1, kind: ConfigMap, metadata: {name: a, namespace: logs}}", want: "kind ConfigMap.example.org is not allowed by spec.allowed of ModuleTemplate web: allowed kinds are ConfigMap, Namespace, *.apps, Job.batch"},
		"Namespace":      {reason: "A namespace that may be used may be created.", object: "{apiVersion: v1, kind: Namespace, metadata: {name: apps}}"},
		"OtherNamespace": {reason: "Labels of other namespaces must not change.", object: "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}", want: `metadata.name: namespace "kube-system" is not allowed by spec.allowed of ModuleTemplate web: allowed namespaces are apps, logs`},
	}
	c, err := New(&v1alpha1.ManifestAllowed{Confinement: allowed, ModuleTemplate: "web"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := c.Object(objectOf(t, tc.object)); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nObject(...): -want error, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if err := c.Namespace("logs"); err != nil {
		t.Errorf("an allowed namespace: %v", err)
	}
	if err := c.Namespace("default"); err == nil {
		t.Error("a namespace that is not allowed is used")
	}
}

// TestClusterAdmin checks objects that would give a module administrative permissions in the cluster.
func TestClusterAdmin(t *testing.T) {
	const suffix = ", which is not allowed because clusterAdmin is false in spec.forProvider.allowed"
	role := func(rest string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, " + rest + "}"
	}
	rule := func(group, resource, verb string) string {
		return role(`rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: ["` + group + `"], resources: ["` + resource + `"], verbs: ["` + verb + `"]}]`)
	}
	binding := func(role, subject string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, " +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + role + "}, subjects: [" + subject + "]}"
	}
	const account, rbac = "{kind: ServiceAccount, namespace: apps, name: a}", "rbac.authorization.k8s.io"
	group := func(name string) string { return "{kind: Group, apiGroup: " + rbac + ", name: '" + name + "'}" }
	cases := map[string]struct {
		reason string
		object string
		want   string
	}{
		"Operator":          {reason: "An operator has roles for what it manages.", object: rule("apps", "deployments", "create")},
		"Binding":           {reason: "And is bound to them.", object: binding("r", account)},
		"OwnNamespaceGroup": {reason: "As may be all ServiceAccounts of a namespace.", object: binding("r", group("system:serviceaccounts:apps"))},
		"AuthDelegator":     {reason: "An extension API server asks who a user is.", object: binding("system:auth-delegator", account)},
		"Role":              {reason: "A Role is about its namespace.", object: "{apiVersion: " + rbac + "/v1, kind: Role, metadata: {name: r, namespace: apps}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}"},
		"OneSecret":         {reason: "A Secret by name is not all of them.", object: role(`rules: [{apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [get]}]`)},
		"SecretOfOthers":    {reason: "A kind of another group that is called Secret is not a Secret.", object: rule("example.org", "secrets", "get")},
		"Verbs":             {reason: "All verbs include those that escalate.", object: rule("", "pods", "*"), want: `rules[1]: grants the verb "*"`},
		"Escalate":          {reason: "A role can be given any rules.", object: rule(rbac, "clusterroles", "escalate"), want: `rules[1]: grants the verb "escalate"`},
		"Bind":              {reason: "Any role can be bound.", object: rule(rbac, "clusterroles", "bind"), want: `rules[1]: grants the verb "bind"`},
		"Impersonate":       {reason: "Requests can be sent as any user.", object: rule("", "users", "impersonate"), want: `rules[1]: grants the verb "impersonate"`},
		"Resources":         {reason: "All resources of a group.", object: rule("", "*", "get"), want: "rules[1]: grants access to all resources of API groups [\"\"]"},
		"Groups":            {reason: "All groups.", object: rule("*", "pods", "get"), want: "rules[1]: grants access to all API groups"},
		"Secrets":           {reason: "Secrets hold tokens of administrators.", object: rule("", "secrets", "list"), want: "rules[1]: allows reading all Secrets"},
		"Tokens":            {reason: "So do requests for tokens.", object: rule("", "serviceaccounts/token", "create"), want: "rules[1]: allows creating tokens for all ServiceAccounts"},
		"NodesProxy":        {reason: "The kubelet runs commands in every Pod.", object: rule("", "nodes/proxy", "get"), want: "rules[1]: grants nodes/proxy, which allows running commands in all Pods"},
		"Webhooks":          {reason: "A webhook that is created later is one too.", object: rule("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "create"), want: "rules[1]: allows creating webhooks, admission policies or APIServices"},
		"Approval":          {reason: "A certificate is an identity.", object: rule("certificates.k8s.io", "certificatesigningrequests/approval", "update"), want: "rules[1]: allows issuing certificates for any user"},
		"Aggregated":        {reason: "Its rules are those of other roles.", object: role("aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}"), want: "aggregationRule: aggregation adds the rules of other roles"},
		"Aggregates":        {reason: "Its rules become those of other roles.", object: "{apiVersion: " + rbac + "/v1, kind: ClusterRole, metadata: {name: r, labels: {rbac.authorization.k8s.io/aggregate-to-admin: 'true'}}, rules: []}", want: "metadata.labels[rbac.authorization.k8s.io/aggregate-to-admin]: the label adds the rules to another role"},
		"BuiltInRole":       {reason: "Others are bound to it.", object: "{apiVersion: " + rbac + "/v1, kind: ClusterRole, metadata: {name: 'system:node'}, rules: []}", want: "metadata.name: the name is that of a built-in role, to which other subjects are bound"},
		"ClusterAdmin":      {reason: "The role of administrators.", object: binding("cluster-admin", account), want: "roleRef.name: binds the built-in role cluster-admin"},
		"Masters":           {reason: "The group of administrators.", object: binding("r", account+", "+group("system:masters")), want: "subjects[1]: binds the group system:masters"},
		"Everyone":          {reason: "All users.", object: binding("r", group("system:authenticated")), want: "subjects[0]: binds the group system:authenticated"},
		"SystemAccounts":    {reason: "The controllers of Kubernetes.", object: binding("r", group("system:serviceaccounts:kube-system")), want: "subjects[0]: binds the group system:serviceaccounts:kube-system"},
		"Webhook":           {reason: "A webhook changes requests of all users.", object: "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w}}", want: "kind: webhooks and admission policies can intercept requests of all users"},
		"OldVersion":        {reason: "Whatever the version.", object: "{apiVersion: admissionregistration.k8s.io/v1beta1, kind: ValidatingAdmissionPolicy, metadata: {name: w}}", want: "kind: webhooks and admission policies can intercept requests of all users"},
		"APIService":        {reason: "An APIService answers for a group.", object: "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.apps}}", want: "kind: APIServices handle requests for parts of the API of the cluster"},
		"Certificate":       {reason: "A certificate for system:masters.", object: "{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: c}}", want: "kind: CertificateSigningRequests can request certificates for any user"},
		"Package":           {reason: "In a control plane, a provider of Crossplane.", object: "{apiVersion: pkg.crossplane.io/v1, kind: Provider, metadata: {name: p}}", want: "kind: Crossplane gives packages access to all Secrets"},
		"Config":            {reason: "In a control plane, the credentials of this provider.", object: "{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: ClusterProviderConfig, metadata: {name: p}}", want: "kind: ClusterProviderConfigs give access to the credentials of the provider"},
		"SystemNamespace":   {reason: "The namespace of the controllers.", object: "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}", want: "metadata.name: namespace kube-system: ServiceAccounts and Secrets in this namespace have cluster-wide permissions"},
		"Unreadable":        {reason: "A role that cannot be read is not let through.", object: role("rules: x"), want: "rules: cannot be decoded"},
	}
	no, yes := false, true
	strict, err := New(&v1alpha1.ManifestAllowed{Confinement: v1alpha1.Confinement{ClusterAdmin: &no}})
	if err != nil {
		t.Fatal(err)
	}
	open, err := New(&v1alpha1.ManifestAllowed{Confinement: v1alpha1.Confinement{ClusterAdmin: &yes}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := objectOf(t, tc.object)
			if err := open.Object(u); err != nil {
				t.Errorf("\n%s\nObject(...) with clusterAdmin: true: %v", tc.reason, err)
			}
			want, got := "", ""
			if tc.want != "" {
				want = tc.want + suffix
			}
			if err := strict.Object(u); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nObject(...): -want error, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if err := strict.Namespace("kube-system"); err == nil {
		t.Error("objects of kube-system are allowed")
	}
	listed, err := New(&v1alpha1.ManifestAllowed{Confinement: v1alpha1.Confinement{ClusterAdmin: &no, Namespaces: []string{"kube-system"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := listed.Namespace("kube-system"); err != nil {
		t.Errorf("kube-system, which is listed: %v", err)
	}
}

func TestNew(t *testing.T) {
	no := false
	digest := func(a *v1alpha1.ManifestAllowed) string {
		t.Helper()
		c, err := New(a)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			return ""
		}
		return c.Digest
	}
	if digest(nil) != "" || digest(&v1alpha1.ManifestAllowed{ModuleTemplate: "web"}) != "" {
		t.Error("without restrictions, the digests of installed modules must stay the same")
	}
	strict := v1alpha1.Confinement{ClusterAdmin: &no}
	if a, b := digest(&v1alpha1.ManifestAllowed{Confinement: strict, ModuleTemplate: "a"}), digest(&v1alpha1.ManifestAllowed{Confinement: strict, ModuleTemplate: "b"}); a != b || a == "" {
		t.Errorf("the name of the ModuleTemplate must not change the digest: %q, %q", a, b)
	}
	if a, b := digest(&v1alpha1.ManifestAllowed{Confinement: strict}), digest(&v1alpha1.ManifestAllowed{Confinement: v1alpha1.Confinement{Kinds: []string{"A"}}}); a == b {
		t.Error("other restrictions must have another digest")
	}
}
