// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// A waiter waits for a Kyma, or for some of its modules.
type waiter struct {
	environment *command.Environment
	client      client.WithWatch
	namespace   string
	kyma        string
	// modules to wait for; none means the Kyma itself.
	modules []string
	// failFast ends the wait at a state Error.
	failFast bool
}

// ready waits until all is Ready, for the spec as it is then.
func (w *waiter) ready(ctx context.Context) error {
	return w.until(ctx, "not Ready", func(k *v1alpha1.Kyma) (verdict, error) {
		if k == nil {
			return verdict{}, noKyma(w.namespace, w.kyma)
		}
		if meta.WasDeleted(k) {
			return verdict{}, errors.Errorf("Kyma %s/%s is being deleted, and does not become Ready", w.namespace, w.kyma)
		}
		v, err := readiness(k, w.modules)
		if err == nil && v.failed && w.failFast {
			return verdict{}, errors.Errorf("Kyma %s/%s is in state Error: %s", w.namespace, w.kyma, v.message)
		}
		return v, err
	})
}

// deleted waits until the Kyma is gone.
func (w *waiter) deleted(ctx context.Context) error {
	return w.until(ctx, "still there", func(k *v1alpha1.Kyma) (verdict, error) {
		switch {
		case k == nil:
			return verdict{met: true}, nil
		case !meta.WasDeleted(k):
			return notYet("nobody has deleted it"), nil
		}
		return notYet("%s", message(k.Status.AtProvider.Message, "is being deleted")), nil
	})
}

// removed waits until nothing is left of the modules.
func (w *waiter) removed(ctx context.Context) error {
	var uid types.UID
	err := w.until(ctx, "not rid of its modules", func(k *v1alpha1.Kyma) (verdict, error) {
		if k == nil {
			return verdict{met: true}, nil
		}
		uid = k.UID
		return removal(k, w.modules), nil
	})
	if err != nil || uid == "" {
		return err
	}
	// The report is as old as the provider's view. What counts is what the API server has.
	return w.emptied(ctx, uid)
}

// until a look at the Kyma says so. It is nil where there is none.
func (w *waiter) until(ctx context.Context, state string, judge func(k *v1alpha1.Kyma) (verdict, error)) error {
	key := types.NamespacedName{Namespace: w.namespace, Name: w.kyma}
	f := &follower{
		client: w.client, list: func() client.ObjectList { return &v1alpha1.KymaList{} },
		options: []client.ListOption{client.InNamespace(w.namespace), client.MatchingFields{"metadata.name": w.kyma}},
	}
	return w.follow(ctx, f, state, func(all objects) (verdict, error) {
		k, _ := all[key].(*v1alpha1.Kyma)
		return judge(k)
	})
}

// emptied waits until a Kyma has no Manifests of the modules.
func (w *waiter) emptied(ctx context.Context, kyma types.UID) error {
	f := &follower{
		client: w.client, list: func() client.ObjectList { return &v1alpha1.ManifestList{} },
		options: []client.ListOption{client.InNamespace(w.namespace)},
	}
	return w.follow(ctx, f, "not rid of its modules", func(all objects) (verdict, error) {
		var left []string
		for _, o := range all {
			if owns(kyma, o) && w.concerns(o) {
				left = append(left, o.GetName())
			}
		}
		if len(left) == 0 {
			return verdict{met: true}, nil
		}
		m, _ := all[types.NamespacedName{Namespace: w.namespace, Name: slices.Min(left)}].(*v1alpha1.Manifest)
		return notYet("Manifest %s: %s", m.Name, message(m.Status.AtProvider.Message, "is being removed")), nil
	})
}

// concerns says whether a Manifest is that of one of the modules.
func (w *waiter) concerns(m client.Object) bool {
	return slices.ContainsFunc(w.modules, func(name string) bool {
		return m.GetLabels()[v1alpha1.LabelModuleName] == name || m.GetName() == w.kyma+"-"+name
	})
}

// follow until a verdict about the Kyma is met, and show the others.
func (w *waiter) follow(ctx context.Context, f *follower, state string, judge func(objects) (verdict, error)) error {
	return w.followed(ctx, fmt.Sprintf("Kyma %s/%s", w.namespace, w.kyma), f, state, judge)
}

// followed until a verdict about a subject is met.
func (w *waiter) followed(ctx context.Context, subject string, f *follower, state string, judge func(objects) (verdict, error)) error {
	show, end := w.environment.Waiting(subject)
	defer end()
	last := ""
	note := func(text string) {
		if text == "" || text == last {
			return
		}
		last = text
		show(subject + ": " + text)
		if !w.environment.Terminal {
			w.environment.Sayf("%s is %s: %s", subject, state, text)
		}
	}
	f.trouble = func(err error) { note("cannot be seen for now: " + err.Error()) }
	var judged error
	err := f.follow(ctx, func(all objects) (bool, error) {
		v, err := judge(all)
		if err == nil && !v.met {
			note(v.message)
		}
		judged = err
		return v.met, err
	})
	switch {
	case err == nil:
		return nil
	case judged != nil:
		// It is an answer, and stands for itself.
		return judged
	case ctx.Err() != nil:
		return ended(ctx, errors.Errorf("%s is %s in time: %s", subject, state, message(last, "the control plane did not answer")))
	}
	return explain(err, "wait for "+subject)
}
