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

// modulesPath is where a Kyma has its modules.
func modulesPath() []string { return []string{"spec", "forProvider", "modules"} }

// A modifier changes the modules of a Kyma as it is at the moment. It says whether something is to be written. It is
// called again when another writer was quicker.
type modifier func(k *v1alpha1.Kyma, modules []any) (after []any, changed bool, err error)

// modify the modules of a Kyma. It is written with the version that was read, so that of any number of writers at once
// none undoes what another one did, and as it was read, so that fields that are unknown here stay.
func modify(ctx context.Context, c client.Client, namespace, name string, change modifier) error {
	pause := wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 7, Cap: time.Second}
	for {
		conflict, err := try(ctx, c, types.NamespacedName{Namespace: namespace, Name: name}, change)
		if conflict == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return command.Ended(ctx, errors.Errorf("Kyma %s/%s was not changed: each time somebody else was quicker", namespace, name))
		case <-time.After(pause.Step()):
		}
	}
}

// try once. The first result is the conflict with another writer, if there was one.
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

// owned refuses to change what a composite resource would put back.
func owned(k *v1alpha1.Kyma, force bool) error {
	by := lookup.Composer(k)
	if by == "" || force {
		return nil
	}
	return errors.Errorf("Kyma %s/%s is composed by %s, which would undo the change: change the modules there, or use --force to do it all the same",
		k.Namespace, k.Name, by)
}
