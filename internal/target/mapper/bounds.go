// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// These bound the memory that a mapper uses for its cluster, in bytes.
const (
	// mostOfVersion is the maximum size of the kinds of one version. A cluster that serves more is refused.
	mostOfVersion = 1 << 20
	// mostDiscovered and mostLearned are the maximum sizes of all versions and lessons. Older versions are discovered again, and
	// further lessons are ignored.
	mostDiscovered, mostLearned = 4 << 20, 1 << 20
	// overhead is the size of a mapping without its texts.
	overhead = 128
)

// served contains the kinds of a version, and counts their size.
type served struct {
	mappings map[string]cluster.Mapping
	size     int
}

// add adds a kind. It returns an error if there are too many.
func (k *served) add(kind string, m cluster.Mapping) error {
	k.mappings[kind] = m
	k.size += overhead + len(kind) + len(m.Resource)
	if k.size > mostOfVersion {
		return errors.Errorf("the API version has too many kinds: their names exceed %d MiB; delete unused CRDs", mostOfVersion>>20)
	}
	return nil
}

// sizeOfLesson returns the size of a learned mapping.
func sizeOfLesson(gvk schema.GroupVersionKind, m cluster.Mapping) int {
	return overhead + len(gvk.Group) + len(gvk.Version) + len(gvk.Kind) + len(m.Resource)
}

// bound removes the oldest versions, except one, until the others are small enough. The caller holds the mutex.
func (m *Mapper) bound(except *version) {
	size := except.size
	var others []schema.GroupVersion
	for gv, v := range m.versions {
		if v != except && v.size > 0 {
			size += v.size
			others = append(others, gv)
		}
	}
	if size <= mostDiscovered {
		return
	}
	slices.SortFunc(others, func(a, b schema.GroupVersion) int { return m.versions[a].asked.Compare(m.versions[b].asked) })
	for _, gv := range others {
		if size <= mostDiscovered {
			return
		}
		size -= m.versions[gv].size
		delete(m.versions, gv)
	}
}
