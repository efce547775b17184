// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// lasting is how long a cluster must be unreachable before a Manifest is abandoned, so that a short outage leaves nothing
// behind, even if the annotation is set on all Manifests beforehand. For a cluster that responds but denies access to the
// inventory, the time is lastingDenied.
const (
	lasting       = 10 * time.Second
	lastingDenied = 5 * time.Minute
)

// hintAbandon and hintDenied are appended to the message of a removal that waits for a cluster, or for permissions in it.
const (
	hintAbandon = "; if the cluster no longer exists, annotate the Manifest with " + v1alpha1.AnnotationAbandon + "=true"
	hintDenied  = "; grant the permission, or, to leave all objects behind, annotate the Manifest with " + v1alpha1.AnnotationAbandon + "=true"
)

// missing reports whether an error says that a config or a Secret does not exist, so that it is unknown how to reach the cluster.
func missing(err error) bool {
	e := (*config.MissingError)(nil)
	return errors.As(err, &e)
}

// unreachable reports whether an error means that a cluster does not respond or rejects the credentials, or that a different
// server or cluster responds in its place. For any other error, retry.
func unreachable(err error) bool {
	if isWrongCluster(err) {
		return true
	}
	e, n, s := (*transport.UnreachableError)(nil), (*notfound.Error)(nil), (*transport.NotConnectedError)(nil)
	return errors.As(err, &e) || errors.As(err, &n) || errors.As(err, &s) || errors.As(err, &engine.InterruptedError{}) ||
		kerrors.IsUnauthorized(err) || errors.Is(err, context.DeadlineExceeded)
}

// isWrongCluster reports whether an error means that the cluster is not the one that the Manifest is installed in.
func isWrongCluster(err error) bool {
	e := (*engine.WrongClusterError)(nil)
	return errors.As(err, &e)
}

// reasonFor returns the reason of the condition Ready for an error: WrongCluster, or else the given one.
func reasonFor(err error, otherwise xpv2.ConditionReason) xpv2.ConditionReason {
	if isWrongCluster(err) {
		return v1alpha1.ReasonWrongCluster
	}
	return otherwise
}

// abandoned reports whether a user allows the Manifest to be deleted without removing its objects, and its cluster has been
// unreachable, or has denied access, for long enough.
func abandoned(mr *v1alpha1.Manifest, can removal) bool {
	since, enough := mr.GetCondition(xpv2.TypeReady).LastTransitionTime, lasting
	if can == denied {
		enough = lastingDenied
	}
	return mr.Annotations[v1alpha1.AnnotationAbandon] == "true" && time.Since(since.Time) >= enough
}

// leftBehind describes the objects of a Manifest in its cluster, as far as they are known without the cluster.
func leftBehind(mr *v1alpha1.Manifest) string {
	var out []string
	if r := mr.Status.AtProvider.Resources; r != nil {
		out = append(out, fmt.Sprintf("%d objects", r.Total))
	}
	out = append(out, "inventory Secret "+naming.InventoryOf(mr))
	versions := map[string]string{}
	for i := range mr.Status.AtProvider.Installs {
		in := &mr.Status.AtProvider.Installs[i]
		versions[in.Name] = in.Version
	}
	p := &mr.Spec.ForProvider
	installs := make([]string, 0, len(p.Installs))
	for i := range p.Installs {
		in := &p.Installs[i]
		installs = append(installs, strings.Join(strings.Fields("install "+in.Name+" "+versions[in.Name]+" in namespace "+cmp.Or(in.Namespace, "default")), " "))
	}
	if len(installs) > 0 {
		out = append(out, conditions.List(installs))
	}
	if p.CRDs != nil {
		out = append(out, "its CRDs")
	}
	if s := resourceName(mr); s != "" {
		out = append(out, "custom resource "+s)
	}
	return strings.Join(out, "; ")
}

// resourceName returns the name of the custom resource of a Manifest, if the provider owns it.
func resourceName(mr *v1alpha1.Manifest) string {
	p := &mr.Spec.ForProvider
	if p.Resource == nil || p.CustomResourcePolicy == v1alpha1.CustomResourcePolicyIgnore {
		return ""
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(p.Resource.Raw); err != nil {
		return ""
	}
	return strings.TrimSpace(u.GetKind() + " " + strings.TrimPrefix(u.GetNamespace()+"/"+u.GetName(), "/"))
}
