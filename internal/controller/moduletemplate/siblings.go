// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"context"
	"slices"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// indexRelease is the name of the index of ModuleTemplates by module and channel.
const indexRelease = "release"

// releaseKey returns the module and channel of a template, which must be unique among templates.
func releaseKey(t *v1alpha1.ModuleTemplate) string {
	return module.NameOf(t) + "/" + t.Spec.Channel
}

// releaseKeys returns the release key of an object as the keys of an index. A template without a channel has none: it only adds a version
// to the catalogue.
func releaseKeys(o client.Object) []string {
	t, ok := o.(*v1alpha1.ModuleTemplate)
	if !ok || t.Spec.Channel == "" {
		return nil
	}
	return []string{releaseKey(t)}
}

// siblings finds the templates of the same module and channel.
type siblings struct {
	client client.Reader
}

// of returns the sorted names of the other templates of the same module and channel. A template without a channel has none.
func (s *siblings) of(ctx context.Context, t *v1alpha1.ModuleTemplate) ([]string, error) {
	if t.Spec.Channel == "" {
		return nil, nil
	}
	return s.names(ctx, releaseKey(t), t.Name)
}

// names returns the sorted names of the templates with a release key. It omits the template with the given name, and
// templates that are being deleted.
func (s *siblings) names(ctx context.Context, key, name string) ([]string, error) {
	l := &v1alpha1.ModuleTemplateList{}
	if err := s.client.List(ctx, l, client.MatchingFields{indexRelease: key}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, errors.Wrap(err, "cannot list ModuleTemplates")
	}
	var out []string
	for i := range l.Items {
		if l.Items[i].Name != name && !meta.WasDeleted(&l.Items[i]) {
			out = append(out, l.Items[i].Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// queue is the queue of the controller.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// handler queues the siblings of a template that is created or deleted, or whose module or channel changes.
func (s *siblings) handler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, q queue) { s.enqueue(ctx, e.Object, q) },
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) { s.enqueue(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			if slices.Equal(releaseKeys(e.ObjectOld), releaseKeys(e.ObjectNew)) && meta.WasDeleted(e.ObjectOld) == meta.WasDeleted(e.ObjectNew) {
				return
			}
			s.enqueue(ctx, e.ObjectOld, q)
			s.enqueue(ctx, e.ObjectNew, q)
		},
	}
}

func (s *siblings) enqueue(ctx context.Context, o client.Object, q queue) {
	for _, key := range releaseKeys(o) {
		names, err := s.names(ctx, key, o.GetName())
		if err != nil {
			continue
		}
		for _, name := range names {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
		}
	}
}
