// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

const (
	// Finalizer is set on custom resources, so that they are removed only while their module still runs.
	Finalizer = "demo.example.org/operator"
	// pause is the time between two passes. The operator polls because watches end when the CRD of a module is removed.
	pause = 250 * time.Millisecond
)

// A Module describes a module to its operator.
type Module struct {
	// Resource is the custom resource of the module.
	Resource schema.GroupVersionResource
	// Deployment is the Deployment that would run the operator.
	Deployment types.NamespacedName
	// Needed is a string field in the spec of the custom resource. While it is empty, the state is Warning.
	Needed string
}

// An Operator reports the states of modules.
type Operator struct {
	// Client is a client of the cluster that the modules are installed into.
	Client dynamic.Interface
	// Modules are the known modules, which may or may not be installed.
	Modules []Module
	// OnError is called with each error. The operator then retries.
	OnError func(error)
}

// Run reports states until ctx is done.
func (o *Operator) Run(ctx context.Context) {
	for {
		for _, m := range o.Modules {
			if err := o.look(ctx, m); err != nil && ctx.Err() == nil {
				o.OnError(err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// look reports the states of all custom resources of a module.
func (o *Operator) look(ctx context.Context, m Module) error {
	list, err := o.Client.Resource(m.Resource).List(ctx, metav1.ListOptions{})
	if kerrors.IsNotFound(err) {
		return nil // The module is not installed.
	}
	if err != nil {
		return errors.Wrapf(err, "cannot list %s", m.Resource.Resource)
	}
	running, why, err := o.running(ctx, m.Deployment)
	if err != nil {
		return err
	}
	for i := range list.Items {
		err := o.report(ctx, m, &list.Items[i], running, why)
		// Another client changed or deleted the object. The next pass reads its new state.
		if err != nil && !kerrors.IsNotFound(err) && !kerrors.IsConflict(err) {
			return errors.Wrapf(err, "cannot report the state of %s %s", m.Resource.Resource, list.Items[i].GetName())
		}
	}
	return nil
}

// running reports whether the current generation of a Deployment is available. If not, it returns the reason.
func (o *Operator) running(ctx context.Context, name types.NamespacedName) (bool, string, error) {
	resource := appsv1.SchemeGroupVersion.WithResource("deployments")
	u, err := o.Client.Resource(resource).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if kerrors.IsNotFound(err) {
		return false, fmt.Sprintf("Deployment %s doesn't exist", name), nil
	}
	if err != nil {
		return false, "", errors.Wrapf(err, "cannot get Deployment %s", name)
	}
	d := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
		return false, "", errors.Wrapf(err, "cannot decode Deployment %s", name)
	}
	if d.Status.ObservedGeneration >= d.Generation {
		for _, c := range d.Status.Conditions {
			if c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue {
				return true, "", nil
			}
		}
	}
	return false, fmt.Sprintf("Deployment %s is not available", name), nil
}

// report updates the finalizer and the state of one custom resource if they differ.
func (o *Operator) report(ctx context.Context, m Module, cr *unstructured.Unstructured, running bool, why string) error {
	client := o.Client.Resource(m.Resource).Namespace(cr.GetNamespace())
	deleting := cr.GetDeletionTimestamp() != nil
	at := slices.Index(cr.GetFinalizers(), Finalizer)
	switch {
	case deleting && running && at >= 0:
		return hold(ctx, client, cr, slices.Delete(cr.GetFinalizers(), at, at+1))
	case !deleting && running && at < 0:
		if err := hold(ctx, client, cr, append(cr.GetFinalizers(), Finalizer)); err != nil {
			return err
		}
	}
	state, message := stateOf(m, cr, why)
	if known, said := seen(cr); known == state && said == message {
		return nil
	}
	condition := map[string]any{
		"type": "Operational", "status": status(state == "Ready"), "reason": state, "message": message,
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}
	return patch(ctx, client, cr, map[string]any{
		"status": map[string]any{"state": state, "conditions": []any{condition}},
	}, "status")
}

// hold sets the finalizers of an object.
func hold(ctx context.Context, c dynamic.ResourceInterface, cr *unstructured.Unstructured, finalizers []string) error {
	return patch(ctx, c, cr, map[string]any{"metadata": map[string]any{"finalizers": finalizers}})
}

// stateOf returns the state of a custom resource: Deleting, Processing for the reason why, Warning if the needed field is
// empty, or Ready.
func stateOf(m Module, cr *unstructured.Unstructured, why string) (state, message string) {
	value, _, _ := unstructured.NestedString(cr.Object, "spec", m.Needed)
	switch {
	case cr.GetDeletionTimestamp() != nil:
		return "Deleting", why
	case why != "":
		return "Processing", why
	case value == "":
		return "Warning", fmt.Sprintf("spec.%s is empty", m.Needed)
	}
	return "Ready", ""
}

// seen returns the state and the message in the current status.
func seen(cr *unstructured.Unstructured) (state, message string) {
	state, _, _ = unstructured.NestedString(cr.Object, "status", "state")
	conditions, _, _ := unstructured.NestedSlice(cr.Object, "status", "conditions")
	if len(conditions) == 1 {
		condition, _ := conditions[0].(map[string]any)
		message, _, _ = unstructured.NestedString(condition, "message")
	}
	return state, message
}

func status(ok bool) string {
	if ok {
		return string(corev1.ConditionTrue)
	}
	return string(corev1.ConditionFalse)
}

// patch applies a merge patch to an object, and fails if the object was recreated.
func patch(ctx context.Context, c dynamic.ResourceInterface, cr *unstructured.Unstructured, change map[string]any, subresource ...string) error {
	meta, _ := change["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["uid"] = string(cr.GetUID())
	change["metadata"] = meta
	data, err := json.Marshal(change)
	if err != nil {
		return errors.Wrap(err, "cannot encode a patch")
	}
	_, err = c.Patch(ctx, cr.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: "operator"}, subresource...)
	return err
}
