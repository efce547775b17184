// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A Transform changes objects. It must be deterministic: its result must depend only on the object and Digest.
type Transform struct {
	// Digest identifies the behavior of the function, and must not be empty. If it changes, all objects are applied again.
	Digest string

	// Func changes an object in place. It must not change the kind. If it changes the name or namespace, the result is another
	// object.
	Func func(ctx context.Context, u *unstructured.Unstructured) error
}

// Transform applies all transforms of the bundle to objects, in their order.
func (b *Bundle) Transform(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for i := range b.Transforms {
		t := &b.Transforms[i]
		for _, u := range objects {
			gk, k := u.GroupVersionKind().GroupKind(), object.RefOf(u)
			err := t.call(ctx, u)
			if now := u.GroupVersionKind().GroupKind(); err == nil && now != gk {
				err = errors.Errorf("changed the kind to %s: a transform must not change the kind", now)
			}
			if err == nil && u.GetName() == "" {
				err = errors.New("removed metadata.name: a transform must not remove it")
			}
			if err != nil {
				return errors.Wrapf(err, "transform %s: %s", t.Digest, k)
			}
		}
	}
	return nil
}

func (t *Transform) call(ctx context.Context, u *unstructured.Unstructured) (err error) {
	defer recoverTo(&err)
	return t.Func(ctx, u)
}

// recoverTo converts a panic in a function of the caller to an error, because the process also works on other bundles.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = errors.New(text.OneLine(fmt.Sprintf("panic: %v", r)))
	}
}

func (b *Bundle) transformDigests() []string {
	out := make([]string, 0, len(b.Transforms))
	for i := range b.Transforms {
		out = append(out, b.Transforms[i].Digest)
	}
	return out
}
