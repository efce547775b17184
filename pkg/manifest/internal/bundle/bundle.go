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

// A Bundle is all that one module wants in one cluster. The engine only reads it, so that several calls can share one.
type Bundle struct {
	// Name of the inventory, a DNS subdomain. It identifies the bundle in the cluster and must never change.
	Name string

	// Owner names the owner of the bundle for people who find its inventory, for example Manifest team-a/web. A bundle with the
	// same name and another owner is refused unless it adopts, so the owner should not change. An empty owner is not compared, for
	// example to remove a bundle of which only the name is known.
	Owner string

	// Labels that each object gets in addition to those of the engine.
	Labels map[string]string

	// CRDs come first and go last; nil for none.
	CRDs *source.Layer

	// Installs in the order in which they are applied.
	Installs []Install

	// Config has flags and values of installs by name, in the form of Kyma's config layers; nil for none. It is one YAML document
	// with a list configs of entries name, clientConfig and overrides, the last two in the grammar of helm --set:
	// clientConfig has fields of Helm's install action (Namespace, CreateNamespace, ReleaseName, SkipCRDs, DisableHooks,
	// Timeout, Atomic, Wait, TakeOwnership, Force and more), overrides has values below those of the install. An entry for
	// no install is an error of all installs, a wrong entry of its own.
	Config *source.Layer

	// Resource is the custom resource of the module; nil for none. The engine creates it once, and changes it later only if this
	// field changes. Fields that users set stay theirs, and a resource that users deleted is not created again. If this field
	// becomes nil, the resource stays in the cluster and is no longer part of the bundle.
	Resource *unstructured.Unstructured

	// Readiness rules in addition to what kstatus knows.
	Readiness []Rule

	// Adopt takes over objects that exist already.
	Adopt bool

	// Transforms change each object after it was rendered and before it is applied, in this order.
	Transforms []Transform

	// Drift says what Apply does with objects that others changed or deleted; by default it repairs them.
	Drift DriftPolicy

	// Recreate allows the engine to delete an object and create it again where an immutable field would have to change. Without
	// it, only objects with the annotation AnnotationRecreate allow that; for others it is an error.
	Recreate bool
}

// A DriftPolicy says what Apply does about objects that others changed or deleted.
type DriftPolicy string

// The policies for drift.
const (
	// DriftRepair puts back what was changed or deleted.
	DriftRepair DriftPolicy = ""
	// DriftReport leaves it, and Observe returns the fields that differ.
	DriftReport DriftPolicy = "Report"
	// DriftIgnore leaves it, and Observe returns no fields. It still reports a deleted object as missing.
	DriftIgnore DriftPolicy = "Ignore"
)

// ID returns the ID of the ApplySet, as KEP-3659 derives it from the parent Secret in a namespace.
func (b *Bundle) ID(namespace string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{b.Name, namespace, "Secret", ""}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// Parts returns the parts of the bundle in the order in which they are applied, with the digests of their inputs. The error says
// what is wrong with the bundle.
func (b *Bundle) Parts() ([]Part, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	out := b.Outline()
	for i := range out {
		d, err := out[i].digestOf(b)
		if err != nil {
			return nil, err
		}
		out[i].Digest = d
	}
	return out, nil
}

// Outline returns the parts without digests, which is enough to remove a bundle whose sources cannot be resolved any more.
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
