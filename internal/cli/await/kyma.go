// SPDX-License-Identifier: Apache-2.0

package await

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// A Kyma waits for a Kyma, or for some of its modules.
type Kyma struct {
	Environment *command.Environment
	Client      client.WithWatch
	Namespace   string
	Name        string
	// Modules lists the names of the modules to wait for; empty means the Kyma itself.
	Modules []string
	// FailFast makes Ready fail as soon as a state is Error.
	FailFast bool
}

// Ready waits until the Kyma or the modules are Ready with the current spec. It fails with ExitNotFound if the Kyma does not
// exist or a module is not enabled.
func (k *Kyma) Ready(ctx context.Context) error {
	return k.Until(ctx, "to become Ready", func(now *v1alpha1.Kyma) (Result, error) {
		if now == nil {
			return Result{}, lookup.NoKyma(k.Namespace, k.Name)
		}
		if meta.WasDeleted(now) {
			return Result{}, errors.Errorf("Kyma %s/%s is being deleted and cannot become Ready", k.Namespace, k.Name)
		}
		v, err := readiness(now, k.Modules)
		if err == nil && v.Failed && k.FailFast {
			return Result{}, errors.Errorf("Kyma %s/%s is in state Error: %s", k.Namespace, k.Name, v.Message)
		}
		return v, err
	})
}

// Deleted waits until the Kyma no longer exists.
func (k *Kyma) Deleted(ctx context.Context) error {
	return k.Until(ctx, "to be deleted", func(now *v1alpha1.Kyma) (Result, error) {
		switch {
		case now == nil:
			return Result{Met: true}, nil
		case !meta.WasDeleted(now):
			return NotYet("not deleted yet"), nil
		}
		return NotYet("%s", cmp.Or(now.Status.AtProvider.Message, "deletion in progress")), nil
	})
}

// toRemove is the goal that Removed passes to Until.
const toRemove = "to remove the modules"

// Removed waits until nothing is left of the modules: the status of the Kyma does not list them, and they have no Manifests.
func (k *Kyma) Removed(ctx context.Context) error {
	var uid types.UID
	err := k.Until(ctx, toRemove, func(now *v1alpha1.Kyma) (Result, error) {
		if now == nil {
			return Result{Met: true}, nil
		}
		uid = now.UID
		return removal(now, k.Modules), nil
	})
	if err != nil || uid == "" {
		return err
	}
	// The status is only as recent as the cache of the provider, so check the API server too.
	return k.emptied(ctx, uid)
}

// Until waits until the condition is met. now is the current Kyma, or nil if it does not exist. The function Until
// describes goal.
func (k *Kyma) Until(ctx context.Context, goal string, check func(now *v1alpha1.Kyma) (Result, error)) error {
	key := types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
	f := &Follower{
		Client: k.Client, List: func() client.ObjectList { return &v1alpha1.KymaList{} },
		Options: []client.ListOption{client.InNamespace(k.Namespace), client.MatchingFields{"metadata.name": k.Name}},
	}
	return Until(ctx, k.Environment, k.subject(), f, goal, func(all Objects) (Result, error) {
		now, _ := all[key].(*v1alpha1.Kyma)
		return check(now)
	})
}

// emptied waits until the Kyma with the UID kyma has no Manifests of the modules.
func (k *Kyma) emptied(ctx context.Context, kyma types.UID) error {
	f := &Follower{
		Client: k.Client, List: func() client.ObjectList { return &v1alpha1.ManifestList{} },
		Options: []client.ListOption{client.InNamespace(k.Namespace)},
	}
	return Until(ctx, k.Environment, k.subject(), f, toRemove, func(all Objects) (Result, error) {
		var left []string
		for _, o := range all {
			if lookup.Owns(kyma, o) && k.concerns(o) {
				left = append(left, o.GetName())
			}
		}
		if len(left) == 0 {
			return Result{Met: true}, nil
		}
		m, _ := all[types.NamespacedName{Namespace: k.Namespace, Name: slices.Min(left)}].(*v1alpha1.Manifest)
		return NotYet("Manifest %s: %s", m.Name, cmp.Or(m.Status.AtProvider.Message, "removal in progress")), nil
	})
}

// concerns reports whether a Manifest belongs to one of the modules.
func (k *Kyma) concerns(m client.Object) bool {
	return slices.ContainsFunc(k.Modules, func(name string) bool {
		return m.GetLabels()[v1alpha1.LabelModuleName] == name || m.GetName() == k.Name+"-"+name
	})
}

func (k *Kyma) subject() string { return fmt.Sprintf("Kyma %s/%s", k.Namespace, k.Name) }
