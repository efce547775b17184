// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// patched returns the JSON of an object after a patch.
func patched(t Target, kind types.PatchType, before, patch []byte) ([]byte, error) {
	switch {
	case kind == types.JSONPatchType:
		return applyJSONPatch(before, patch)
	case kind == types.MergePatchType:
		out, err := jsonpatch.MergePatch(before, patch)
		if err != nil {
			return nil, kerrors.NewBadRequest(err.Error())
		}
		return out, nil
	case kind == types.StrategicMergePatchType && t.Kind.Custom == nil:
		out, err := strategicpatch.StrategicMergePatch(before, patch, t.Kind.Type())
		if err != nil {
			return nil, kerrors.NewBadRequest(err.Error())
		}
		return out, nil
	}
	return nil, &kerrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + patchTypes(t),
	}}
}

func patchTypes(t Target) string {
	if t.Kind.Custom != nil {
		return "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
	}
	return "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"
}

func applyJSONPatch(before, patch []byte) ([]byte, error) {
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	out, err := p.Apply(before)
	if err != nil {
		return nil, kerrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return out, nil
}

func invalidPatch(after []byte, err error) error {
	return kerrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(after), err.Error())})
}
