// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// canonicalMetadata returns metadata in the form of its Go type.
func canonicalMetadata(in map[string]any) (map[string]any, error) {
	m := &metav1.ObjectMeta{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in, m); err != nil {
		return nil, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(m)
}
