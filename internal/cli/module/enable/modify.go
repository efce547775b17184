// SPDX-License-Identifier: Apache-2.0

package enable

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// modulesPath returns the path of the modules in a Kyma.
func modulesPath() []string { return []string{"spec", "forProvider", "modules"} }

// A modifier returns the modules of a Kyma after a change, and whether the Kyma must be written. It must not rely on earlier
// calls: after a conflict with another client, it is called again with the current Kyma.
type modifier func(k *v1alpha1.Kyma, modules []any) (after []any, changed bool, err error)

// modify changes the modules of a Kyma, and retries conflicts until ctx ends. The update contains the resourceVersion that was
// read, so concurrent changes are not lost, and the whole object that was read, so unknown fields are kept.
func modify(ctx context.Context, c client.Client, namespace, name string, change modifier) error {
	pause := wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 7, Cap: time.Second}
	for {
		conflict, err := try(ctx, c, types.NamespacedName{Namespace: namespace, Name: name}, change)
		if conflict == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return command.Ended(ctx, errors.Errorf("Kyma %s/%s was not changed: each attempt conflicted with another client", namespace, name))
		case <-time.After(pause.Step()):
		}
	}
}

// try makes one attempt to change the modules. conflict is the conflict with another client, or nil.
func try(ctx context.Context, c client.Client, key types.NamespacedName, change modifier) (conflict, err error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(v1alpha1.KymaGroupVersionKind)
	if err := c.Get(ctx, key, u); err != nil {
		return nil, lookup.ExplainGet(err, key.Namespace, key.Name)
	}
	k := &v1alpha1.Kyma{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, k); err != nil {
		return nil, errors.Wrapf(err, "cannot read Kyma %s", key)
	}
	before, _, err := unstructured.NestedSlice(u.Object, modulesPath()...)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read the modules of Kyma %s", key)
	}
	after, changed, err := change(k, before)
	if err != nil || !changed {
		return nil, err
	}
	if err := unstructured.SetNestedSlice(u.Object, after, modulesPath()...); err != nil {
		return nil, errors.Wrapf(err, "cannot set the modules of Kyma %s", key)
	}
	switch err := c.Update(ctx, u, client.FieldOwner(command.FieldManager)); {
	case kerrors.IsConflict(err):
		return err, nil
	case notfound.Is(err):
		return nil, lookup.NoKyma(key.Namespace, key.Name)
	default:
		return nil, errors.Wrapf(err, "cannot change Kyma %s", key)
	}
}

// owned returns an error if the Kyma belongs to a composite resource, which would revert a change. If force is set, it returns
// nil.
func owned(k *v1alpha1.Kyma, force bool) error {
	by := lookup.Composer(k)
	if by == "" || force {
		return nil
	}
	return errors.Errorf("Kyma %s/%s is composed by %s, which would revert the change: change the modules there, or use --force to change "+
		"them here", k.Namespace, k.Name, by)
}
