// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	applyconfigurations "k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// table lists the built-in kinds: version, kind, resource, and then n for namespaced, s for the subresource status, c for scale, g for
// a generation, u for unconditional updates, r for responses with deleted objects, short names, the category all as *,
// and api-extensions as +.
const table = `
v1 Namespace namespaces sur ns
v1 ConfigMap configmaps nu cm
v1 Secret secrets nu
v1 Service services nsur svc *
v1 ServiceAccount serviceaccounts nur sa
v1 Pod pods nsgur po *
v1 PersistentVolumeClaim persistentvolumeclaims nsur pvc
v1 Endpoints endpoints nu ep
v1 LimitRange limitranges nu limits
v1 ResourceQuota resourcequotas nsur quota
v1 Event events nu ev
v1 Node nodes su no
apps/v1 Deployment deployments nscgu deploy *
apps/v1 StatefulSet statefulsets nscgu sts *
apps/v1 DaemonSet daemonsets nsgu ds *
apps/v1 ReplicaSet replicasets nscgu rs *
batch/v1 Job jobs nsgu *
batch/v1 CronJob cronjobs nsgu cj *
autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers nsu hpa *
policy/v1 PodDisruptionBudget poddisruptionbudgets nsg pdb
networking.k8s.io/v1 Ingress ingresses nsgu ing
networking.k8s.io/v1 IngressClass ingressclasses gu
networking.k8s.io/v1 NetworkPolicy networkpolicies ngu netpol
rbac.authorization.k8s.io/v1 Role roles nu
rbac.authorization.k8s.io/v1 RoleBinding rolebindings nu
rbac.authorization.k8s.io/v1 ClusterRole clusterroles u
rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings u
scheduling.k8s.io/v1 PriorityClass priorityclasses gu pc
storage.k8s.io/v1 StorageClass storageclasses ur sc
coordination.k8s.io/v1 Lease leases n
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration validatingwebhookconfigurations g +
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mutatingwebhookconfigurations g +
apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions sg crd,crds +
`

// scheme returns the Go types of the built-in kinds.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // The types do not depend on anything.
		}
	}
	return s
})

// builtinTypes returns the types of the fields of built-in kinds.
var builtinTypes = sync.OnceValue(func() managedfields.TypeConverter {
	return crdTypes{applyconfigurations.NewTypeConverter(scheme())}
})

// Builtin returns the kinds that every cluster serves.
var Builtin = sync.OnceValue(func() *Set {
	var all []*Kind
	for line := range strings.Lines(strings.TrimSpace(table)) {
		all = append(all, parse(strings.Fields(line)))
	}
	return (*Set)(nil).With(all)
})

// IsUnimplemented reports whether a path belongs to an API of Kubernetes that is missing here: to a resource or, for an empty resource,
// to a version.
func IsUnimplemented(p Path) bool {
	if Builtin().Find(p) != nil {
		return false
	}
	if p.Resource == "" {
		return scheme().IsVersionRegistered(p.GroupVersion)
	}
	for kind := range scheme().KnownTypes(p.GroupVersion) {
		if plural, _ := meta.UnsafeGuessKindToResource(p.WithKind(kind)); plural.Resource == p.Resource {
			return true
		}
	}
	return false
}

// parse returns the kind of a line of the table.
func parse(columns []string) *Kind {
	gv, err := schema.ParseGroupVersion(columns[0])
	if err != nil {
		panic(err) // The table is constant.
	}
	k := &Kind{GroupVersionKind: gv.WithKind(columns[1]), Resource: columns[2], Singular: strings.ToLower(columns[1]), List: columns[1] + "List"}
	for _, c := range columns[3:] {
		switch {
		case c == "*":
			k.Categories = []string{"all"}
		case c == "+":
			k.Categories = []string{"api-extensions"}
		case strings.Trim(c, "nscgur") == "" && !k.flagged():
			k.Namespaced, k.HasStatus = strings.Contains(c, "n"), strings.Contains(c, "s")
			k.HasScale, k.HasGeneration = strings.Contains(c, "c"), strings.Contains(c, "g")
			k.Unconditional, k.ReturnsDeleted = strings.Contains(c, "u"), strings.Contains(c, "r")
		default:
			k.ShortNames = strings.Split(c, ",")
		}
	}
	return k
}

func (k *Kind) flagged() bool {
	return k.Namespaced || k.HasStatus || k.HasScale || k.HasGeneration || k.Unconditional
}

// builtinCanonical decodes an object of a built-in kind into its Go type, sets the defaults, and encodes it.
func (k *Kind) builtinCanonical(object map[string]any) (map[string]any, error) {
	typed, err := k.Decode(object)
	if err != nil {
		return nil, err
	}
	SetDefaults(typed)
	return k.Encode(typed)
}

// Decode decodes an object of a built-in kind into its Go type.
func (k *Kind) Decode(object map[string]any) (runtime.Object, error) {
	typed := k.Type()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, typed); err != nil {
		return nil, err
	}
	typed.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
	return typed, nil
}

// Encode encodes an object of a Go type.
func (k *Kind) Encode(typed runtime.Object) (map[string]any, error) {
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode")
	}
	out["apiVersion"], out["kind"] = k.GroupVersion().String(), k.Kind
	return out, nil
}

// Type returns a new object of the Go type of a built-in kind.
func (k *Kind) Type() runtime.Object {
	o, err := scheme().New(k.GroupVersionKind)
	if err != nil {
		panic(err) // The table contains only kinds with a type.
	}
	return o
}

// IsBuiltinGroup reports whether an API group belongs to Kubernetes.
func IsBuiltinGroup(group string) bool { return scheme().IsGroupRegistered(group) }
