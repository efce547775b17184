// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"hash/fnv"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
)

// prepareCreate sets the fields of a new object that only the server sets.
func (t Target) prepareCreate(object map[string]any) error {
	if t.Kind.HasStatus {
		delete(object, "status")
		if t.Kind.Custom == nil {
			// The types of built-in kinds contain a status.
			next, err := t.Kind.Canonical(clone(object))
			if err != nil {
				return err
			}
			restore(object, next, "status")
		}
	}
	switch t.Kind.GroupResource().String() {
	case "namespaces":
		child(object, "spec")["finalizers"] = []any{"kubernetes"}
	case "services":
		t.allocate(child(object, "spec"))
	case "daemonsets.apps":
		child(metadataOf(object), "annotations")[templateGeneration] = "1"
	case "jobs.batch":
		selectPods(object)
	case "persistentvolumeclaims":
		m := metadataOf(object)
		finalizers, _ := m["finalizers"].([]any)
		m["finalizers"] = append(slices.Clone(finalizers), finalizerOfClaims)
	}
	return nil
}

// finalizerOfClaims is the finalizer that admission adds to PersistentVolumeClaims. A controller removes it.
const finalizerOfClaims = "kubernetes.io/pvc-protection"

// templateGeneration is an annotation that API servers add to DaemonSets.
const templateGeneration = "deprecated.daemonset.template.generation"

// allocate sets the address of a Service, which is the same in all clusters.
func (t Target) allocate(spec map[string]any) {
	if spec["type"] == "ExternalName" {
		return
	}
	ip, _ := spec["clusterIP"].(string)
	if ip == "" {
		h := fnv.New32a()
		_, _ = h.Write([]byte(t.Namespace + "/" + t.Name)) // It cannot fail.
		const block = 256
		ip = netip.AddrFrom4([4]byte{10, 0, byte(h.Sum32() / block % block), byte(h.Sum32() % block)}).String()
	}
	spec["clusterIP"], spec["clusterIPs"] = ip, []any{ip}
	spec["ipFamilies"], spec["ipFamilyPolicy"] = []any{"IPv4"}, "SingleStack"
}

// selectPods makes a Job select its pods.
func selectPods(object map[string]any) {
	spec := child(object, "spec")
	if spec["manualSelector"] == true {
		return
	}
	uid, name := textOf(object, "uid"), textOf(object, "name")
	labels := child(child(child(spec, "template"), "metadata"), "labels")
	labels["batch.kubernetes.io/controller-uid"], labels["controller-uid"] = uid, uid
	labels["batch.kubernetes.io/job-name"], labels["job-name"] = name, name
	child(child(spec, "selector"), "matchLabels")["batch.kubernetes.io/controller-uid"] = uid
	if own := child(metadataOf(object), "labels"); len(own) == 0 {
		metadataOf(object)["labels"] = clone(labels)
	}
}

// restoreStatus restores what a write of an object, or of its status, cannot change.
func (t Target) restoreStatus(old, object map[string]any) {
	m, was := metadataOf(object), metadataOf(old)
	switch {
	case t.Subresource == "status":
		for _, f := range slices.Concat(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(object))) {
			if f != "status" && f != "metadata" {
				restore(object, old, f)
			}
		}
		if managed := m["managedFields"]; t.Kind.Custom != nil {
			object["metadata"] = clone(was)
			metadataOf(object)["managedFields"] = managed
		} else if t.Kind.Kind == "Deployment" {
			restore(m, was, "labels")
		}
	case t.Kind.HasStatus:
		restore(object, old, "status")
	}
}

// prepareUpdate sets the fields of a changed object that only the server sets.
func (t Target) prepareUpdate(old, object map[string]any) {
	t.restoreStatus(old, object)
	m, was := metadataOf(object), metadataOf(old)
	restore(m, was, "generation", "creationTimestamp")
	if isDeleting(old) {
		restore(m, was, "deletionTimestamp", "deletionGracePeriodSeconds")
	} else {
		delete(m, "deletionTimestamp")
		delete(m, "deletionGracePeriodSeconds")
	}
	switch t.Kind.GroupResource().String() {
	case "namespaces":
		if t.Subresource == "" {
			child(object, "spec")["finalizers"] = nested(old, "spec", "finalizers")
		}
	case "services":
		keep(child(object, "spec"), child(old, "spec"), "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
	case "daemonsets.apps":
		t.countTemplates(old, object)
	}
	if generation, ok := was["generation"].(int64); ok && t.Subresource == "" && t.counts(old, object) {
		m["generation"] = generation + 1
	}
}

// keep sets fields that are missing to their old values.
func keep(to, from map[string]any, fields ...string) {
	for _, f := range fields {
		if _, ok := to[f]; !ok {
			restore(to, from, f)
		}
	}
}

func (t Target) countTemplates(old, object map[string]any) {
	count, _ := strconv.Atoi(child(child(old, "metadata"), "annotations")[templateGeneration].(string)) //nolint:forcetypeassert // Always set.
	if !reflect.DeepEqual(nested(old, "spec", "template"), nested(object, "spec", "template")) {
		count++
	}
	child(metadataOf(object), "annotations")[templateGeneration] = strconv.Itoa(count)
}

// counts reports whether a change of an object counts in its generation.
func (t Target) counts(old, object map[string]any) bool {
	if t.Kind.Kind == "Deployment" && !reflect.DeepEqual(nested(old, "metadata", "annotations"), nested(object, "metadata", "annotations")) {
		return true
	}
	ignored := []string{"metadata", "apiVersion", "kind"}
	if t.Kind.HasStatus {
		ignored = append(ignored, "status")
	}
	rest := func(m map[string]any) map[string]any {
		out := map[string]any{}
		for k, v := range m {
			if !slices.Contains(ignored, k) {
				out[k] = v
			}
		}
		return out
	}
	return !reflect.DeepEqual(rest(old), rest(object))
}

// hasOwnFinalizers reports whether an object has finalizers outside its metadata.
func (t Target) hasOwnFinalizers(object map[string]any) bool {
	f, _ := nested(object, "spec", "finalizers").([]any)
	return t.Kind.GroupResource().String() == "namespaces" && len(f) > 0
}
