// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// maxName is the maximum length of the name of an object.
const maxName = 253

// separator ends the namespace at the beginning of the name of an inventory. The name of a namespace cannot contain it.
const separator = "."

// InventoryOf returns the external name of a Manifest, which is the name of its inventory in the target cluster.
func InventoryOf(mr *v1alpha1.Manifest) string {
	if n := meta.GetExternalName(mr); n != "" {
		return n
	}
	n := mr.Namespace + separator + mr.Name
	if len(n) <= maxName {
		return n
	}
	sum := sha256.Sum256([]byte(n))
	suffix := "." + hex.EncodeToString(sum[:8])
	return strings.TrimRight(n[:maxName-len(suffix)], ".-") + suffix
}

// OwnerOf returns a description of a Manifest as the owner of its inventory, for users who read the inventory.
func OwnerOf(mr *v1alpha1.Manifest) string {
	return v1alpha1.ManifestKind + " " + mr.Namespace + "/" + mr.Name
}

// InNamespace reports whether the name of an inventory begins with the namespace of its Manifest.
func InNamespace(mr *v1alpha1.Manifest) bool {
	return strings.HasPrefix(InventoryOf(mr), mr.Namespace+separator)
}

// Allowed lists the inventories that Manifests can use even if their names don't begin with the namespace of the Manifest, as
// patterns for path.Match in the form NAMESPACE/NAME.
type Allowed []string

// Validate returns an error if a pattern is invalid.
func (a Allowed) Validate() error {
	for _, p := range a {
		if _, err := path.Match(p, ""); err != nil || strings.Count(p, "/") != 1 {
			return errors.Errorf("invalid value %q: must have the form NAMESPACE/NAME, where * matches any characters", p)
		}
	}
	return nil
}

// Check returns an error if a Manifest is not allowed to use the inventory that its annotation names.
func (a Allowed) Check(mr *v1alpha1.Manifest) error {
	if InNamespace(mr) {
		return nil
	}
	name := InventoryOf(mr)
	for _, p := range a {
		if ok, err := path.Match(p, mr.Namespace+"/"+name); ok && err == nil {
			return nil
		}
	}
	return errors.Errorf("annotation %s: invalid value %q: must begin with %q; correct it, or start the provider with --allow-external-names",
		meta.AnnotationKeyExternalName, name, mr.Namespace+separator)
}

// ConfigOf returns the kind and name of the ProviderConfig of a Manifest, for messages.
func ConfigOf(mr *v1alpha1.Manifest) string {
	ref := mr.GetProviderConfigReference()
	if ref == nil {
		return "an unknown ProviderConfig"
	}
	if ref.Kind == v1alpha1.ProviderConfigKind {
		return ref.Kind + " " + mr.Namespace + "/" + ref.Name
	}
	return ref.Kind + " " + ref.Name
}

// HadInventory reports whether the inventory of a Manifest was seen in its cluster. The UID of the cluster is only recorded then, and is
// unknown with some credentials.
func HadInventory(mr *v1alpha1.Manifest) bool {
	at := &mr.Status.AtProvider
	return at.ClusterUID != "" || at.Resources != nil && at.Resources.Total > 0
}
