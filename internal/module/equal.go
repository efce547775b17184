// SPDX-License-Identifier: Apache-2.0

package module

import (
	"encoding/json"
	"reflect"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// EqualParameters reports whether parameters have the same meaning. Embedded objects may have different encodings.
func EqualParameters(a, b *v1alpha1.ManifestParameters) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	va, erra := decode(a)
	vb, errb := decode(b)
	return erra == nil && errb == nil && value.Equals(value.NewValueInterface(va), value.NewValueInterface(vb))
}

// decode decodes parameters into maps, slices and scalars. It does not round large integers.
func decode(p *v1alpha1.ManifestParameters) (any, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var v any
	err = kjson.UnmarshalCaseSensitivePreserveInts(b, &v)
	return v, err
}
