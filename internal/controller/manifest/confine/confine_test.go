// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"strings"
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
		"Group":          {reason: "All kinds of a group can be allowed.", object: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: logs}}"},
		"Kind":           {reason: "A single kind of a group can be allowed.", object: "{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: logs}}"},
		"OtherKind":      {reason: "Other kinds of the group are not allowed.", object: "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a, namespace: logs}}", want: "kind CronJob.batch is not allowed by spec.allowed of ModuleTemplate web: allowed kinds are ConfigMap, Namespace, *.apps, Job.batch"},
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
		"Operator":          {reason: "A role is for what the operator manages.", object: rule("apps", "deployments", "create")},
		"Binding":           {reason: "A ServiceAccount of the module can be bound to a role.", object: binding("r", account)},
		"OwnNamespaceGroup": {reason: "All ServiceAccounts of an allowed namespace can be bound to a role.", object: binding("r", group("system:serviceaccounts:apps"))},
		"AuthDelegator":     {reason: "An extension API server delegates authentication.", object: binding("system:auth-delegator", account)},
		"Role":              {reason: "A Role only grants permissions in its namespace.", object: "{apiVersion: " + rbac + "/v1, kind: Role, metadata: {name: r, namespace: apps}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}"},
		"OneSecret":         {reason: "Access to a single Secret by name is not access to all Secrets.", object: role(`rules: [{apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [get]}]`)},
		"SecretOfOthers":    {reason: "A kind of another group that is called Secret is not a Secret.", object: rule("example.org", "secrets", "get")},
		"Verbs":             {reason: "All verbs include those that escalate.", object: rule("", "pods", "*"), want: `rules[1]: grants the verb "*"`},
		"Escalate":          {reason: "A role can be given any rules.", object: rule(rbac, "clusterroles", "escalate"), want: `rules[1]: grants the verb "escalate"`},
		"Bind":              {reason: "Any role can be bound.", object: rule(rbac, "clusterroles", "bind"), want: `rules[1]: grants the verb "bind"`},
		"Impersonate":       {reason: "Requests can be sent as any user.", object: rule("", "users", "impersonate"), want: `rules[1]: grants the verb "impersonate"`},
		"Resources":         {reason: "Access to all resources of a group is rejected.", object: rule("", "*", "get"), want: "rules[1]: grants access to all resources of API groups [\"\"]"},
		"Groups":            {reason: "Access to all groups is rejected.", object: rule("*", "pods", "get"), want: "rules[1]: grants access to all API groups"},
		"Secrets":           {reason: "Secrets hold tokens of administrators.", object: rule("", "secrets", "list"), want: "rules[1]: allows reading all Secrets"},
		"Tokens":            {reason: "Tokens of all ServiceAccounts must not be created.", object: rule("", "serviceaccounts/token", "create"), want: "rules[1]: allows creating tokens for all ServiceAccounts"},
		"NodesProxy":        {reason: "The kubelet runs commands in every Pod.", object: rule("", "nodes/proxy", "get"), want: "rules[1]: grants nodes/proxy, which allows running commands in all Pods"},
		"Webhooks":          {reason: "A webhook that the workload creates later has the same effect.", object: rule("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "create"), want: "rules[1]: allows creating webhooks, admission policies or APIServices"},
		"Approval":          {reason: "A certificate is an identity.", object: rule("certificates.k8s.io", "certificatesigningrequests/approval", "update"), want: "rules[1]: allows issuing certificates for any user"},
		"AnyToken":          {reason: "A subresource of all resources includes that of ServiceAccounts.", object: rule("", "*/token", "create"), want: "rules[1]: allows creating tokens for all ServiceAccounts"},
		"AnyProxy":          {reason: "A subresource of all resources includes that of nodes.", object: rule("", "*/proxy", "get"), want: "rules[1]: grants nodes/proxy, which allows running commands in all Pods"},
		"AnyApproval":       {reason: "A subresource of all resources includes that of CertificateSigningRequests.", object: rule("certificates.k8s.io", "*/approval", "update"), want: "rules[1]: allows issuing certificates for any user"},
		"AnyStatus":         {reason: "A certificate in the status can be signed with any key.", object: rule("certificates.k8s.io", "*/status", "patch"), want: "rules[1]: allows issuing certificates for any user"},
		"AnyScale":          {reason: "Other subresources of all resources are allowed.", object: rule("apps", "*/scale", "patch")},
		"AnyOtherStatus":    {reason: "The subresources of another group are allowed.", object: rule("apps", "*/status", "update")},
		"Aggregated":        {reason: "An aggregated role has the rules of other roles.", object: role("aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}"), want: "aggregationRule: aggregation adds the rules of other roles"},
		"Aggregates":        {reason: "The rules of the role are added to other roles.", object: "{apiVersion: " + rbac + "/v1, kind: ClusterRole, metadata: {name: r, labels: {rbac.authorization.k8s.io/aggregate-to-admin: 'true'}}, rules: []}", want: "metadata.labels[rbac.authorization.k8s.io/aggregate-to-admin]: the label adds the rules to another role"},
		"BuiltInRole":       {reason: "Other subjects are bound to a built-in role.", object: "{apiVersion: " + rbac + "/v1, kind: ClusterRole, metadata: {name: 'system:node'}, rules: []}", want: "metadata.name: the name is that of a built-in role, to which other subjects are bound"},
		"ClusterAdmin":      {reason: "The role cluster-admin must not be bound.", object: binding("cluster-admin", account), want: "roleRef.name: binds the built-in role cluster-admin"},
		"Masters":           {reason: "The group system:masters must not be bound.", object: binding("r", account+", "+group("system:masters")), want: "subjects[1]: binds the group system:masters"},
		"Everyone":          {reason: "A role must not be bound to all users.", object: binding("r", group("system:authenticated")), want: "subjects[0]: binds the group system:authenticated"},
		"SystemAccounts":    {reason: "The controllers of Kubernetes must not get a role.", object: binding("r", group("system:serviceaccounts:kube-system")), want: "subjects[0]: binds the group system:serviceaccounts:kube-system"},
		"Webhook":           {reason: "A webhook changes requests of all users.", object: "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w}}", want: "kind: webhooks and admission policies can intercept requests of all users"},
		"OldVersion":        {reason: "Admission policies are rejected in any version.", object: "{apiVersion: admissionregistration.k8s.io/v1beta1, kind: ValidatingAdmissionPolicy, metadata: {name: w}}", want: "kind: webhooks and admission policies can intercept requests of all users"},
		"APIService":        {reason: "An APIService handles requests for a group.", object: "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.apps}}", want: "kind: APIServices handle requests for parts of the API of the cluster"},
		"Certificate":       {reason: "A certificate can be requested for system:masters.", object: "{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: c}}", want: "kind: CertificateSigningRequests can request certificates for any user"},
		"Package":           {reason: "In a control plane, a Provider installs a package of Crossplane.", object: "{apiVersion: pkg.crossplane.io/v1, kind: Provider, metadata: {name: p}}", want: "kind: Crossplane gives packages access to all Secrets"},
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

// TestDelegates checks objects for which Crossplane or this provider installs something with permissions that the module itself does
// not have, and roles for creating them.
func TestDelegates(t *testing.T) {
	const (
		crossplane = "kind: objects of apiextensions.crossplane.io make Crossplane create and change objects with its own permissions"
		operations = "kind: objects of ops.crossplane.io make Crossplane create and change objects with its own permissions"
		provider   = "kind: objects of kyma.m.crossplane.io make the provider install modules without these restrictions"
		packages   = "kind: Crossplane gives packages access to all Secrets"
		suffix     = ", which is not allowed because clusterAdmin is false in spec.allowed of ModuleTemplate web"
	)
	object := func(version, kind string) string {
		return "{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: a}}"
	}
	list := func(kind string) string { return suffix + "; to allow this kind, list " + kind + " in kinds" }
	role := func(group, resource, verb string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [" + group +
			"], resources: [" + resource + "], verbs: [" + verb + "]}]}"
	}
	namespaced := func(role string) string { return strings.Replace(role, "kind: ClusterRole", "kind: Role", 1) }
	cases := map[string]struct {
		reason string
		kinds  []string
		object string
		want   string
	}{
		"Kyma":                  {reason: "A Kyma installs modules.", object: object("kyma.m.crossplane.io/v1alpha1", "Kyma"), want: provider + list("Kyma.kyma.m.crossplane.io")},
		"Manifest":              {reason: "A Manifest installs anything.", object: object("kyma.m.crossplane.io/v1alpha1", "Manifest"), want: provider + list("Manifest.kyma.m.crossplane.io")},
		"ModuleTemplate":        {reason: "A ModuleTemplate decides what every Kyma installs.", object: object("kyma.m.crossplane.io/v1alpha1", "ModuleTemplate"), want: provider + list("ModuleTemplate.kyma.m.crossplane.io")},
		"ProviderConfig":        {reason: "A ProviderConfig selects credentials.", object: object("kyma.m.crossplane.io/v1alpha1", "ProviderConfig"), want: provider + list("ProviderConfig.kyma.m.crossplane.io")},
		"LaterVersion":          {reason: "The version does not matter.", object: object("kyma.m.crossplane.io/v1", "Manifest"), want: provider + list("Manifest.kyma.m.crossplane.io")},
		"LaterKind":             {reason: "Kinds that the group gets later are refused too.", object: object("kyma.m.crossplane.io/v1alpha1", "KymaSet"), want: provider + list("KymaSet.kyma.m.crossplane.io")},
		"ClusterProviderConfig": {reason: "A ClusterProviderConfig can use the credentials of the provider, so naming its kind is not enough.", kinds: []string{"ClusterProviderConfig.kyma.m.crossplane.io"}, object: object("kyma.m.crossplane.io/v1alpha1", "ClusterProviderConfig"), want: "kind: ClusterProviderConfigs give access to the credentials of the provider" + suffix},
		"Composition":           {reason: "A Composition creates objects of any kind.", object: object("apiextensions.crossplane.io/v1", "Composition"), want: crossplane + list("Composition.apiextensions.crossplane.io")},
		"CompositionRevision":   {reason: "A composite resource uses a revision of it.", object: object("apiextensions.crossplane.io/v1", "CompositionRevision"), want: crossplane + list("CompositionRevision.apiextensions.crossplane.io")},
		"XRD":                   {reason: "Crossplane gets permissions for what an XRD defines.", object: object("apiextensions.crossplane.io/v2", "CompositeResourceDefinition"), want: crossplane + list("CompositeResourceDefinition.apiextensions.crossplane.io")},
		"ActivationPolicy":      {reason: "A ManagedResourceActivationPolicy installs CRDs of providers.", object: object("apiextensions.crossplane.io/v1alpha1", "ManagedResourceActivationPolicy"), want: crossplane + list("ManagedResourceActivationPolicy.apiextensions.crossplane.io")},
		"Operation":             {reason: "An Operation runs functions that change objects.", object: object("ops.crossplane.io/v1alpha1", "Operation"), want: operations + list("Operation.ops.crossplane.io")},
		"CronOperation":         {reason: "A CronOperation runs functions on a schedule.", object: object("ops.crossplane.io/v1alpha1", "CronOperation"), want: operations + list("CronOperation.ops.crossplane.io")},
		"WatchOperation":        {reason: "A WatchOperation runs functions when objects change.", object: object("ops.crossplane.io/v1alpha1", "WatchOperation"), want: operations + list("WatchOperation.ops.crossplane.io")},
		"Provider":              {reason: "A package runs with the permissions that it asks for, so naming it is not enough.", kinds: []string{"Provider.pkg.crossplane.io"}, object: object("pkg.crossplane.io/v1", "Provider"), want: packages + suffix},
		"ProviderRevision":      {reason: "A revision installs a package as well.", object: object("pkg.crossplane.io/v1", "ProviderRevision"), want: packages + suffix},
		"Configuration":         {reason: "A Configuration depends on providers.", object: object("pkg.crossplane.io/v1", "Configuration"), want: packages + suffix},
		"Function":              {reason: "A Function decides what Compositions create.", object: object("pkg.crossplane.io/v1", "Function"), want: packages + suffix},
		"ImageConfig":           {reason: "An ImageConfig replaces images of packages.", object: object("pkg.crossplane.io/v1beta1", "ImageConfig"), want: packages + suffix},
		"RuntimeConfig":         {reason: "A DeploymentRuntimeConfig changes the Deployments of packages.", object: object("pkg.crossplane.io/v1beta1", "DeploymentRuntimeConfig"), want: packages + suffix},
		"Lock":                  {reason: "A Lock lists packages to install.", object: object("pkg.crossplane.io/v1beta1", "Lock"), want: packages + suffix},
		"Named":                 {reason: "A kind that is named is intended.", kinds: []string{"ConfigMap", "composition.apiextensions.crossplane.io"}, object: object("apiextensions.crossplane.io/v1", "Composition")},
		"OtherNamed":            {reason: "Other kinds of the same group are not allowed.", kinds: []string{"Kyma.kyma.m.crossplane.io"}, object: object("kyma.m.crossplane.io/v1alpha1", "Manifest"), want: "kind Manifest.kyma.m.crossplane.io is not allowed by spec.allowed of ModuleTemplate web: allowed kinds are Kyma.kyma.m.crossplane.io"},
		"Wildcard":              {reason: "All kinds of a group do not name a kind.", kinds: []string{"*.apiextensions.crossplane.io"}, object: object("apiextensions.crossplane.io/v1", "Composition"), want: crossplane + list("Composition.apiextensions.crossplane.io")},
		"Usage":                 {reason: "A Usage only prevents deletions.", object: object("protection.crossplane.io/v1beta1", "Usage")},
		"OtherGroup":            {reason: "The Manifest of another group installs nothing here.", object: object("example.org/v1", "Manifest")},
		"OfAModule":             {reason: "The custom resource of a module is not a Kyma.", object: object("operator.kyma-project.io/v1alpha1", "Sample")},
		"Role":                  {reason: "A workload must not create Manifests later.", object: role("kyma.m.crossplane.io", "manifests", "create"), want: "rules[0]: allows creating or changing objects of kyma.m.crossplane.io" + suffix},
		"RoleOfPackages":        {reason: "A workload must not create packages later.", object: role("pkg.crossplane.io", "providers", "patch"), want: "rules[0]: allows creating or changing objects of pkg.crossplane.io" + suffix},
		"RoleOfCompositions":    {reason: "A workload must not create Compositions later.", object: role("apiextensions.crossplane.io", "compositions", "update"), want: "rules[0]: allows creating or changing objects of apiextensions.crossplane.io" + suffix},
		"RoleOfOperations":      {reason: "A workload must not create Operations later.", object: role("ops.crossplane.io", "operations", "create"), want: "rules[0]: allows creating or changing objects of ops.crossplane.io" + suffix},
		"NamespacedRole":        {reason: "A Role is enough for a kind with a namespace.", object: namespaced(role("kyma.m.crossplane.io", "manifests", "create")), want: "rules[0]: allows creating or changing objects of kyma.m.crossplane.io" + suffix},
		"NamespacedVerbs":       {reason: "The wildcard for verbs includes create.", object: namespaced(role("kyma.m.crossplane.io", "kymas", "'*'")), want: "rules[0]: allows creating or changing objects of kyma.m.crossplane.io" + suffix},
		"NamespacedAll":         {reason: "This is how operators administer their namespace.", object: namespaced(role("'*'", "'*'", "'*'"))},
		"NamespacedOther":       {reason: "The permissions of other Roles end with their namespace.", object: namespaced(role("apps", "'*'", "'*'"))},
		"NamespacedReading":     {reason: "Reading them installs nothing.", object: namespaced(role("kyma.m.crossplane.io", "kymas", "get, list, watch"))},
		"ReadingRole":           {reason: "Reading them installs nothing.", object: role("kyma.m.crossplane.io", "kymas", "get, list, watch")},
	}
	no := false
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := New(&v1alpha1.ManifestAllowed{Confinement: v1alpha1.Confinement{ClusterAdmin: &no, Kinds: tc.kinds}, ModuleTemplate: "web"})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := c.Object(objectOf(t, tc.object)); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nObject(...): -want error, +got:\n%s", tc.reason, diff)
			}
		})
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
