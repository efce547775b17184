// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"maps"
	"reflect"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// builtIn contains the kinds that every cluster serves.
var builtIn = map[schema.GroupVersionKind]cluster.Mapping{ //nolint:gochecknoglobals // A constant table.
	{Version: "v1", Kind: "Namespace"}:                                       {Resource: "namespaces"},
	{Version: "v1", Kind: "ConfigMap"}:                                       {Resource: "configmaps", Namespaced: true},
	{Version: "v1", Kind: "Secret"}:                                          {Resource: "secrets", Namespaced: true},
	{Version: "v1", Kind: "PersistentVolumeClaim"}:                           {Resource: "persistentvolumeclaims", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "Deployment"}:                       {Resource: "deployments", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"}:                      {Resource: "statefulsets", Namespaced: true},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}:   {Resource: "horizontalpodautoscalers", Namespaced: true},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}: {Resource: "clusterroles"},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}:     {Resource: "apiservices"},
	{Group: object.CRDKind.Group, Version: "v1", Kind: object.CRDKind.Kind}:  {Resource: "customresourcedefinitions"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"}: {
		Resource: "validatingwebhookconfigurations",
	},
}

// servedBy returns the kinds that a cluster with the given objects serves: built-in kinds, and the kinds of established CRDs.
func servedBy(objects map[cluster.ObjectRef]*unstructured.Unstructured) map[schema.GroupVersionKind]cluster.Mapping {
	out := maps.Clone(builtIn)
	for ref, u := range objects {
		if ref.GroupKind() == object.CRDKind && health.StateOf(object.DefaultFieldManager, u).Status == cluster.Current {
			maps.Copy(out, object.ServedKinds(u))
		}
	}
	return out
}

// establish sets the status of an established CRD, as its controller does.
func establish(u *unstructured.Unstructured) {
	u.Object["status"] = map[string]any{
		"storedVersions": []any{"v1"},
		"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "True"}, map[string]any{"type": "Established", "status": "True"},
		},
	}
}

// setDefaults sets defaults of a Deployment.
func setDefaults(u *unstructured.Unstructured) {
	if u.GetKind() != "Deployment" {
		return
	}
	spec, ok := u.Object["spec"].(map[string]any)
	if !ok {
		return
	}
	if _, ok := spec["replicas"]; !ok {
		spec["replicas"] = int64(1)
	}
	strategy, ok := spec["strategy"].(map[string]any)
	if !ok {
		strategy = map[string]any{}
		spec["strategy"] = strategy
	}
	if _, ok := strategy["type"]; !ok {
		strategy["type"] = "RollingUpdate"
	}
	if _, ok := strategy["rollingUpdate"]; !ok && strategy["type"] == "RollingUpdate" {
		strategy["rollingUpdate"] = map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}
	}
}

// A revision is a change of an object. The field old is nil for a new object.
type revision struct{ old, next *unstructured.Unstructured }

func (r revision) is(path ...string) any  { return at(r.next, path...) }
func (r revision) was(path ...string) any { return at(r.old, path...) }

func (r revision) differs(path ...string) bool {
	return r.old != nil && !reflect.DeepEqual(r.was(path...), r.is(path...))
}

func at(u *unstructured.Unstructured, path ...string) any {
	if u == nil {
		return nil
	}
	v, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	return v
}

// validate returns an error if a new object, or a change of one, is invalid.
func validate(old, next *unstructured.Unstructured) error {
	r := revision{old: old, next: next}
	gk := next.GroupVersionKind().GroupKind()
	var errs field.ErrorList
	if check := validations[gk.Kind]; check != nil {
		errs = check(r)
	}
	if size, ok := r.is("spec", "replicas").(int64); ok && size < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), size, "must be greater than or equal to 0"))
	}
	if len(errs) > 0 {
		return kerrors.NewInvalid(gk, next.GetName(), errs)
	}
	return nil
}

// validations contains validation rules of Kubernetes by kind.
var validations = map[string]func(r revision) field.ErrorList{ //nolint:gochecknoglobals // A constant table.
	"ConfigMap": func(r revision) (errs field.ErrorList) {
		for _, f := range []string{"data", "binaryData"} {
			if r.was("immutable") == true && r.differs(f) {
				errs = append(errs, field.Forbidden(field.NewPath(f), "field is immutable when `immutable` is set"))
			}
		}
		return errs
	},
	"Deployment": func(r revision) (errs field.ErrorList) {
		if r.differs("spec", "selector") {
			errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), "x", "field is immutable"))
		}
		if r.is("spec", "strategy", "type") == "Recreate" && r.is("spec", "strategy", "rollingUpdate") != nil {
			errs = append(errs, field.Forbidden(
				field.NewPath("spec", "strategy", "rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'"))
		}
		return errs
	},
	"StatefulSet": func(r revision) (errs field.ErrorList) {
		if r.differs("spec", "serviceName") {
			errs = append(errs, field.Forbidden(
				field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas', 'template' are forbidden"))
		}
		return errs
	},
	"PersistentVolumeClaim": func(r revision) (errs field.ErrorList) {
		if r.differs("spec", "storageClassName") {
			errs = append(errs, field.Forbidden(field.NewPath("spec"), "spec is immutable after creation except resources.requests"))
		}
		return errs
	},
}
