// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
)

// TestManyLargeSecrets checks that many large Secrets of a tenant don't make the process larger than the limit.
func TestManyLargeSecrets(t *testing.T) {
	r := NewReader(&test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, obj client.Object) error {
		obj.(*metav1.PartialObjectMetadata).ObjectMeta = metav1.ObjectMeta{UID: types.UID(k.Name), ResourceVersion: "1"}
		return nil
	}}, &test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, obj client.Object) error {
		s := obj.(*corev1.Secret)
		s.UID, s.ResourceVersion, s.Data = types.UID(k.Name), "1", map[string][]byte{"k": make([]byte, 1<<20)}
		return nil
	}})
	before := heaptest.Bytes()
	for i := range 300 {
		if _, err := r.Get(t.Context(), "hostile", strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heaptest.Bytes() - before; grown > maxBytes+4<<20 {
		t.Errorf("want at most %d bytes, got %d", maxBytes, grown)
	}
	runtime.KeepAlive(r)
}
