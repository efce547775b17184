// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// A Bundle contains everything that one module installs in one cluster. The engine only reads it, so several calls can share one.
type Bundle struct {
	// Name is the name of the inventory, a DNS subdomain. It identifies the bundle in the cluster and must never change.
	Name string

	// Owner names the owner of the bundle for people who find its inventory, for example Manifest team-a/web. It should not change:
	// a bundle with the same name and another owner is refused unless it adopts. An empty owner is not compared. Leave it empty, for
	// example, to remove a bundle if you know only its name.
	Owner string

	// OwnerUID is the UID of the object that owns the bundle, or empty. The inventory records it. Bundles with different owner
	// UIDs share no state that the engine caches between calls.
	OwnerUID string

	// Planned means that the owner may have applied nothing yet, because it only plans. Remove then deletes nothing if the inventory has the
	// UID of an earlier owner, for example one whose objects were detached, and returns an *OwnedError.
	Planned bool

	// ControlPlane contains UIDs that identify the cluster that contains the owner, for example that of its namespace
	// kube-system. The inventory records them. A bundle with the same owner but without any of these UIDs is refused, because
	// two control planes would revert each other's changes. If the bundle or the inventory has no UIDs, control planes are not
	// compared.
	ControlPlane []string

	// Predecessors contains UIDs of control planes that no longer exist. The bundle takes over the inventories of its owner in
	// these control planes.
	Predecessors []string

	// OwnerRequired makes the engine refuse inventories without an owner, like inventories of another owner. By default, an
	// inventory without an owner belongs to every bundle with its name.
	OwnerRequired bool

	// Tenant is shared by bundles that share resources of the engine: a Renderer with processes gives one tenant at most half of them. It
	// may be empty.
	Tenant string

	// ClusterUID is the UID of the cluster that contains the bundle, as Observation.ClusterUID returned it. In any other
	// cluster, each call returns a *WrongClusterError and changes nothing, unless NewClusterUID is the UID of this cluster. If
	// ClusterUID is empty, it is not compared.
	ClusterUID, NewClusterUID string

	// Installed means that the bundle was installed before and not removed since, as Observation.Exists returned it. If there is no
	// inventory, it was lost then: Apply and Remove find the objects of the bundle by their label, and rebuild the inventory. Without
	// it, a bundle that has no inventory is a new one.
	Installed bool

	// Labels are added to each object, along with the labels of the engine.
	Labels map[string]string

	// CRDs are applied first and deleted last. Nil means that there are none.
	CRDs *source.Layer

	// Installs are applied in this order.
	Installs []Install

	// Config contains flags and values of installs by name, in the format of Kyma's config layers; nil for none. It is one YAML
	// document with a list configs, whose entries have the fields name, clientConfig and overrides. The last two use the syntax of
	// helm --set: clientConfig sets fields of Helm's install action (Namespace, CreateNamespace, ReleaseName, SkipCRDs,
	// DisableHooks, Timeout, Atomic, Wait, TakeOwnership, Force and more), and overrides sets values, over which the values of the
	// install take precedence. An entry that names no install makes all installs fail; an invalid entry makes only its own install
	// fail.
	Config *source.Layer

	// Resource is the custom resource of the module; nil for none. The engine creates it once, and changes it later only if this
	// field changes. Fields that users set belong to the users, and a resource that users deleted is not created again. If this
	// field becomes nil, the resource stays in the cluster and is no longer part of the bundle.
	Resource *unstructured.Unstructured

	// Readiness contains rules in addition to the rules of kstatus.
	Readiness []Rule

	// Adopt makes the engine take over existing objects, including objects of other owners. A CRD of another bundle is taken over only
	// if it cannot be used as it is.
	Adopt bool

	// Transforms change each object between rendering and applying, in this order.
	Transforms []Transform

	// Confinement restricts the objects of the bundle; nil for no restriction.
	Confinement *Confinement

	// Drift determines what Apply does with objects that other clients changed or deleted; by default it repairs them.
	Drift DriftPolicy

	// Recreate allows the engine to delete an object and create it again if an immutable field has to change. Without it, only
	// the config of an install or the annotation AnnotationRecreate on an object allows that; otherwise the change is an error.
	Recreate bool
}

// A DriftPolicy determines what Apply does with objects that other clients changed or deleted.
type DriftPolicy string

// Policies for drift.
const (
	// DriftRepair restores what was changed or deleted.
	DriftRepair DriftPolicy = ""
	// DriftReport does not repair drift, and Observe returns the fields that differ.
	DriftReport DriftPolicy = "Report"
	// DriftIgnore does not repair drift, and Observe returns no fields. Observe still reports a deleted object as missing.
	DriftIgnore DriftPolicy = "Ignore"
)

// ID returns the ID of the ApplySet, derived from the parent Secret in the given namespace as specified in KEP-3659.
func (b *Bundle) ID(namespace string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{b.Name, namespace, "Secret", ""}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// Parts returns the parts of the bundle in the order in which they are applied, with the digests of their inputs. It returns an
// error if the bundle is invalid.
func (b *Bundle) Parts() ([]Part, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	out := b.Outline()
	for i := range out {
		d, err := out[i].digestsOf(b)
		if err != nil {
			return nil, err
		}
		out[i].Digest, out[i].Content = d.Digest, d.Content
	}
	return out, nil
}

// Outline returns the parts without digests. With it, a bundle whose sources can no longer be resolved can be removed.
func (b *Bundle) Outline() []Part {
	var out []Part
	if b.CRDs != nil {
		out = append(out, Part{Name: object.PartCRDs, CRDs: b.CRDs})
	}
	for i := range b.Installs {
		out = append(out, Part{Name: object.PartOf(b.Installs[i].Name), Install: &b.Installs[i], Config: b.Config})
	}
	if b.Resource != nil {
		out = append(out, Part{Name: object.PartResource, Resource: b.Resource})
	}
	return out
}
