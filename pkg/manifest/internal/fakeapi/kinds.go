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

// builtIn are the kinds that each cluster has.
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

// servedBy returns the kinds that are served where there are some objects: built-in ones, and those of established CRDs.
func servedBy(objects map[cluster.ObjectRef]*unstructured.Unstructured) map[schema.GroupVersionKind]cluster.Mapping {
	out := maps.Clone(builtIn)
	for ref, u := range objects {
		if ref.GroupKind() == object.CRDKind && health.StateOf(object.DefaultFieldManager, u).Status == cluster.Current {
			maps.Copy(out, object.ServedKinds(u))
		}
	}
	return out
}

// establish a CRD, as its controller does.
func establish(u *unstructured.Unstructured) {
	u.Object["status"] = map[string]any{
		"storedVersions": []any{"v1"},
		"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "True"}, map[string]any{"type": "Established", "status": "True"},
		},
	}
}

// setDefaults of a Deployment.
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

// validate a new object, or a change of one.
func validate(old, next *unstructured.Unstructured) error {
	gk := next.GroupVersionKind().GroupKind()
	at := func(u *unstructured.Unstructured, path ...string) any {
		if u == nil {
			return nil
		}
		v, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
		return v
	}
	differs := func(path ...string) bool {
		return old != nil && !reflect.DeepEqual(at(old, path...), at(next, path...))
	}
	var errs field.ErrorList
	switch gk.Kind {
	case "ConfigMap":
		for _, f := range []string{"data", "binaryData"} {
			if at(old, "immutable") == true && differs(f) {
				errs = append(errs, field.Forbidden(field.NewPath(f), "field is immutable when `immutable` is set"))
			}
		}
	case "Deployment":
		if differs("spec", "selector") {
			errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), "x", "field is immutable"))
		}
		if at(next, "spec", "strategy", "type") == "Recreate" && at(next, "spec", "strategy", "rollingUpdate") != nil {
			errs = append(errs, field.Forbidden(
				field.NewPath("spec", "strategy", "rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'"))
		}
	case "StatefulSet":
		if differs("spec", "serviceName") {
			errs = append(errs, field.Forbidden(
				field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas', 'template' are forbidden"))
		}
	case "PersistentVolumeClaim":
		if differs("spec", "storageClassName") {
			errs = append(errs, field.Forbidden(field.NewPath("spec"), "spec is immutable after creation except resources.requests"))
		}
	}
	if size, ok := at(next, "spec", "replicas").(int64); ok && size < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), size, "must be greater than or equal to 0"))
	}
	if len(errs) > 0 {
		return kerrors.NewInvalid(gk, next.GetName(), errs)
	}
	return nil
}
