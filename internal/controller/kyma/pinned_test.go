// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestPinned(t *testing.T) {
	read := newKyma()
	read.ResourceVersion = "1"
	c := pinningClient{Client: &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
		o.SetResourceVersion("2")
		return nil
	}}}
	ctx := pinned(t.Context(), read)
	version := func(ctx context.Context, o client.Object, name string) string {
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
			t.Fatal(err)
		}
		return o.GetResourceVersion()
	}
	if got := version(ctx, &v1alpha1.Manifest{}, read.Name); got != "2" {
		t.Errorf("Get(...): another kind must be read, got version %s", got)
	}
	if got := version(ctx, &v1alpha1.Kyma{}, "other"); got != "2" {
		t.Errorf("Get(...): another Kyma must be read, got version %s", got)
	}
	if got := version(ctx, &v1alpha1.Kyma{}, read.Name); got != "1" {
		t.Errorf("Get(...): the first time it must be what was pinned, got version %s", got)
	}
	if got := version(ctx, &v1alpha1.Kyma{}, read.Name); got != "2" {
		t.Errorf("Get(...): later it must be read, got version %s", got)
	}
	if got := version(t.Context(), &v1alpha1.Kyma{}, read.Name); got != "2" {
		t.Errorf("Get(...): without a pin it must be read, got version %s", got)
	}
}
