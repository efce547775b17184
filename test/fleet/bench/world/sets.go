// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
)

const (
	// set is the name of the KymaSet, and the namespace of its clusters.
	set = "set"
	// setLabel is the label of the ProviderConfigs that the KymaSet selects.
	setLabel = "set"
)

// A Set is the KymaSet of a world, with its clusters.
type Set struct{ World *World }

// SetCluster returns the name of a cluster of the KymaSet.
func SetCluster(i int) string { return fmt.Sprintf("s%05d", i) }

func setMeta(i int) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: set, Name: SetCluster(i)} }

// Create adds as many clusters as there are, with a ProviderConfig each, and one KymaSet for them. It waits until all of its Kymas are
// Ready.
func (w Set) Create(ctx context.Context) error {
	if err := w.World.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: set}}); err != nil {
		return errors.Wrap(err, "cannot create the namespace of the KymaSet")
	}
	err := objects.Parallel(ctx, w.World.Clusters, func(ctx context.Context, i int) error { return w.World.addCluster(ctx, setMeta(i)) })
	if err != nil {
		return errors.Wrap(err, "cannot add a cluster")
	}
	s := &v1alpha1.KymaSet{ObjectMeta: metav1.ObjectMeta{Name: set}}
	s.Spec.ProviderConfigs = &v1alpha1.ProviderConfigSelection{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{setLabel: set}}}
	s.Spec.Template.Metadata.Labels = map[string]string{"cluster": "$(cluster.name)"}
	s.Spec.Template.Spec.ForProvider = v1alpha1.KymaTemplateParameters{Channel: channel, Modules: w.World.modules(0, "")[:1]}
	if err := w.World.Client.Create(ctx, s); err != nil {
		return errors.Wrap(err, "cannot create the KymaSet")
	}
	return w.await(ctx)
}

// await waits until all Kymas of the KymaSet are Ready, and its status says so.
func (w Set) await(ctx context.Context) error {
	if err := objects.NewPending(w.World.Clusters, SetCluster).Await(ctx, w.World.Client, &v1alpha1.KymaList{}, set); err != nil {
		return err
	}
	for {
		s := &v1alpha1.KymaSet{}
		if err := w.World.Client.Get(ctx, types.NamespacedName{Name: set}, s); err != nil {
			return errors.Wrap(err, "cannot get the KymaSet")
		}
		n := int32(w.World.Clusters)
		if s.Status.ObservedGeneration == s.Generation && s.Status.Applied == n && s.Status.Ready == n {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(context.Cause(ctx), "the status of the KymaSet is %+v", s.Status)
		case <-time.After(100 * time.Millisecond): //nolint:mnd // It only limits the requests.
		}
	}
}

// Touch changes an annotation of all clusters that the template of the KymaSet does not refer to.
func (w Set) Touch(ctx context.Context) error {
	err := objects.Parallel(ctx, w.World.Clusters, func(ctx context.Context, i int) error {
		pc := &v1alpha1.ProviderConfig{ObjectMeta: setMeta(i)}
		return w.World.Client.Patch(ctx, pc, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"annotations": {"touched": "true"}}}`)))
	})
	return errors.Wrap(err, "cannot annotate a ProviderConfig")
}

// Change changes a value in the template of the KymaSet, and waits until all of its clusters show it.
func (w Set) Change(ctx context.Context, message string, timeout time.Duration) error {
	modules := w.World.modules(0, "")[:1]
	modules[0].Values = &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"message": %q}`, message)}
	patch, err := json.Marshal(map[string]any{
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"forProvider": map[string]any{"modules": modules}}}},
	})
	if err != nil {
		return errors.Wrap(err, "cannot encode the template")
	}
	s := &v1alpha1.KymaSet{ObjectMeta: metav1.ObjectMeta{Name: set}}
	if err := w.World.Client.Patch(ctx, s, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return errors.Wrap(err, "cannot change the KymaSet")
	}
	clusters := make([]string, 0, w.World.Clusters)
	for i := range w.World.Clusters {
		clusters = append(clusters, SetCluster(i))
	}
	if err := w.World.AwaitMessage(ctx, clusters, message, timeout); err != nil {
		return err
	}
	return w.await(ctx)
}

// Remove deletes the KymaSet, waits until its Kymas are gone, and removes its clusters.
func (w Set) Remove(ctx context.Context) error {
	if err := w.World.delete(ctx, &v1alpha1.KymaSet{ObjectMeta: metav1.ObjectMeta{Name: set}}); err != nil {
		return err
	}
	l := &v1alpha1.KymaList{}
	if err := w.World.Client.List(ctx, l, client.InNamespace(set)); err != nil {
		return errors.Wrap(err, "cannot list Kymas")
	}
	if len(l.Items) > 0 {
		return errors.Errorf("the KymaSet is gone, but %d of its Kymas exist", len(l.Items))
	}
	return objects.Parallel(ctx, w.World.Clusters, func(ctx context.Context, i int) error { return w.World.removeCluster(ctx, setMeta(i)) })
}
