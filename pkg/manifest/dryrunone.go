// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// dryRun asks the API server what applying an object would make of it, and changes nothing. Live is the object as get
// read it, nil where there is none. Returned are the paths at which the result differs from it, sorted and all of them;
// none means that applying it would change nothing, or that it would be created. No path has a value in it, except for
// the names of items of lists. What only the server writes (status, generation, managedFields, …) does not count.
//
// Errors are those of the request, which the server also refuses as it would refuse to apply: use explain for their text.
// A namespace that does not exist is known by namespaceMissing, a kind that does not by isNoKind.
func (w *work) dryRun(ctx context.Context, o *object.Desired, live *unstructured.Unstructured) ([]string, error) {
	after, err := w.wouldBe(ctx, o, live == nil)
	if err != nil || live == nil {
		return nil, err
	}
	return fieldset.Differences(live.Object, after.Object), nil
}

// wouldBe is what an object would be once it is applied, by a dry run. With create there must be none.
func (w *work) wouldBe(ctx context.Context, o *object.Desired, create bool) (*unstructured.Unstructured, error) {
	b, err := w.sendDryRun(ctx, o, create, acceptJSON)
	if err != nil {
		return nil, err
	}
	after := &unstructured.Unstructured{}
	return after, errors.Wrapf(after.UnmarshalJSON(b), "%s: cannot read the answer", o.Ref)
}
