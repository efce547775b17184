// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// format is increased when the rules change, so that installed modules are checked against the new rules.
const format = 4

// namespaceKind is the kind of namespaces. systemNamespace is the namespace whose objects have cluster-wide permissions.
const (
	namespaceKind   = "Namespace"
	systemNamespace = "kube-system"
)

// New returns the confinement of a bundle, or nil if there are no restrictions.
func New(a *v1alpha1.ManifestAllowed) (*manifest.Confinement, error) {
	if a == nil || len(a.Namespaces) == 0 && len(a.Kinds) == 0 && a.ClusterAdmin == nil {
		return nil, nil //nolint:nilnil // As documented.
	}
	// The name of the ModuleTemplate is only used in messages.
	data, err := json.Marshal(a.Confinement)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode spec.forProvider.allowed")
	}
	sum := sha256.Sum256(append([]byte{format}, data...))
	r := &rules{allowed: &a.Confinement, origin: "spec.forProvider.allowed"}
	if a.ModuleTemplate != "" {
		r.origin = "spec.allowed of ModuleTemplate " + a.ModuleTemplate
	}
	return &manifest.Confinement{Digest: hex.EncodeToString(sum[:16]), Namespace: r.namespace, Object: r.object}, nil
}

// rules are the rules of a confinement.
type rules struct {
	allowed *v1alpha1.Confinement
	// origin is the field that contains the rules, for messages.
	origin string
}

// admin reports whether objects can grant cluster-wide permissions.
func (r *rules) admin() bool { return r.allowed.ClusterAdmin == nil || *r.allowed.ClusterAdmin }

// namespace returns an error if a module must not use a namespace.
func (r *rules) namespace(name string) error {
	switch {
	case len(r.allowed.Namespaces) > 0:
		if !slices.Contains(r.allowed.Namespaces, name) {
			return errors.Errorf("namespace %q is not allowed by %s: allowed namespaces are %s", name, r.origin, strings.Join(r.allowed.Namespaces, ", "))
		}
	case !r.admin() && name == systemNamespace:
		return r.grants("namespace "+systemNamespace, "ServiceAccounts and Secrets in this namespace have cluster-wide permissions")
	}
	return nil
}

// object returns an error if a module must not contain an object.
func (r *rules) object(u *unstructured.Unstructured) error {
	gk := u.GroupVersionKind().GroupKind()
	if len(r.allowed.Kinds) > 0 && !slices.ContainsFunc(r.allowed.Kinds, func(k string) bool { return matches(k, gk) }) {
		return errors.Errorf("kind %s is not allowed by %s: allowed kinds are %s", gk, r.origin, strings.Join(r.allowed.Kinds, ", "))
	}
	if gk == (schema.GroupKind{Kind: namespaceKind}) {
		if err := r.namespace(u.GetName()); err != nil {
			return errors.Wrap(err, "metadata.name")
		}
	}
	if r.admin() {
		return nil
	}
	return r.cluster(gk, u)
}

// matches reports whether a pattern, such as Deployment.apps or *.apps, matches a kind.
func matches(pattern string, gk schema.GroupKind) bool {
	kind, group, _ := strings.Cut(pattern, ".")
	return group == gk.Group && (kind == "*" || strings.EqualFold(kind, gk.Kind))
}

// grants returns an error about a field that grants cluster-wide permissions.
func (r *rules) grants(field, why string) error {
	return errors.Errorf("%s: %s, which is not allowed because clusterAdmin is false in %s", field, why, r.origin)
}
