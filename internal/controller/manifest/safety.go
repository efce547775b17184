// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Reasons of events about objects that were replaced, kept, or deleted although others made them.
const (
	reasonRecreated event.Reason = "Recreated"
	reasonKept      event.Reason = "Kept"
	reasonForced    event.Reason = "RemovalForced"
)

// tellReplaced tells what Apply deleted to create it anew, and what it did not delete.
func (e *external) tellReplaced(mr *v1alpha1.Manifest, r engine.Result) {
	if len(r.Recreated) > 0 {
		e.record.Event(mr, event.Normal(reasonRecreated,
			"Deleted, to be created anew with fields that cannot be changed: "+names(r.Recreated)))
	}
	e.tellKept(mr, r.Kept)
}

// tellRemoved tells what a step of the removal did not delete, and what it deleted that others made.
func (e *external) tellRemoved(mr *v1alpha1.Manifest, r engine.Removal) {
	e.tellKept(mr, r.Kept)
	e.tellLeft(mr, r.LeftBehind)
	if len(r.Forced) > 0 {
		e.record.Event(mr, event.Warning(reasonForced, errors.Errorf(
			"deleted, as annotation %s asks for, what others made: %s", v1alpha1.AnnotationForceRemoval, names(r.Forced))))
	}
}

// tellLeft tells what is no longer part of the module, and stays, as it is not what was installed.
func (e *external) tellLeft(mr *v1alpha1.Manifest, left []cluster.ObjectRef) {
	if len(left) > 0 {
		e.record.Event(mr, event.Warning(reasonLeft, errors.New("Left behind, as it was replaced or belongs to others: "+names(left))))
	}
}

func (e *external) tellKept(mr *v1alpha1.Manifest, kept []cluster.ObjectRef) {
	if len(kept) > 0 {
		e.record.Event(mr, event.Normal(reasonKept, "Kept, as helm.sh/resource-policy asks for, and no longer part of the module: "+names(kept)))
	}
}
