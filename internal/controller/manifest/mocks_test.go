// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

func tracker(f func() error) resource.ModernTrackerFn {
	return func(context.Context, resource.ModernManaged) error { return f() }
}

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}
