// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/simulator"
)

// repository is the repository of the components of the modules.
const repository = "modules"

// channel is the channel of all modules.
const channel = "regular"

// Release releases a version of all modules. The modules are resolved, or updated if there is an earlier version.
func (w *World) Release(ctx context.Context, version string) error {
	return w.push(ctx, version, false, func(name string, c *v1alpha1.Component) error { return w.offer(ctx, name, c) })
}

// push pushes a version of all modules to the registry, and then offers it to the control plane. A broken version has an image that cannot
// be pulled, so that its Deployment does not become available.
func (w *World) push(ctx context.Context, version string, broken bool, offer func(name string, c *v1alpha1.Component) error) error {
	files := maps.Clone(w.chart)
	files["Chart.yaml"] = fmt.Appendf(nil, "apiVersion: v2\nname: module\nversion: %s\n", version)
	image := "registry.example.org/none"
	if broken {
		image = cluster.MissingImage + "none"
	}
	files["values.yaml"] = fmt.Appendf(nil, "message: none\nversion: %s\nimage: %s\n", version, image)
	for _, name := range w.allModules() {
		c := controlplane.Component{
			Name: "example.org/module/" + name, Version: version,
			Resources: []controlplane.ComponentResource{{Name: name, Type: "helm-chart", Files: files}},
		}
		if _, err := w.registry.PushComponent(ctx, repository, c); err != nil {
			return err
		}
		ref := &v1alpha1.Component{Repository: w.registry.Host() + "/" + repository, Name: c.Name, Version: version}
		if err := offer(name, ref); err != nil {
			return errors.Wrapf(err, "cannot offer module %q", name)
		}
	}
	return nil
}

// offer creates or updates the ModuleTemplate of a module in its channel.
func (w *World) offer(ctx context.Context, name string, c *v1alpha1.Component) error {
	t := &v1alpha1.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.ModuleTemplateSpec{Channel: channel, Component: c},
	}
	err := w.Client.Create(ctx, t)
	if !kerrors.IsAlreadyExists(err) {
		return err
	}
	patch, err := json.Marshal(map[string]any{"spec": t.Spec})
	if err != nil {
		return err
	}
	return w.Client.Patch(ctx, t, client.RawPatch(types.MergePatchType, patch))
}

// AwaitModules waits until all ModuleTemplates are resolved.
func (w *World) AwaitModules(ctx context.Context) error {
	names := w.allModules()
	return objects.NewPending(len(names), func(i int) string { return names[i] }).Await(ctx, w.Client, &v1alpha1.ModuleTemplateList{}, "")
}

// AwaitVersion waits until all modules have a version in some clusters.
func (w *World) AwaitVersion(ctx context.Context, clusters []string, version string, timeout time.Duration) error {
	_, err := w.Simulator.Await(ctx, w.versions(clusters, version, timeout))
	return err
}

// ObserveVersion begins to record which clusters receive a version of a module. Simulator.Observed returns them.
func (w *World) ObserveVersion(clusters []string, version string) error {
	return w.Simulator.Observe(w.versions(clusters, version, 0))
}

// versions returns the field that has the version of each module.
func (w *World) versions(clusters []string, version string, timeout time.Duration) simulator.Field {
	f := configMaps(clusters, "version", version, timeout)
	for i := range w.Modules {
		f.Names = append(f.Names, moduleName(i))
	}
	return f
}

// Edit changes a value of the first module of a Kyma, as a user would, and returns the time until an object in the cluster shows it.
func (w *World) Edit(ctx context.Context, i int, message string, timeout time.Duration) (time.Duration, error) {
	begin := time.Now()
	if err := w.Change(ctx, i, message); err != nil {
		return 0, err
	}
	err := w.AwaitMessage(ctx, []string{Cluster(i)}, message, timeout)
	return time.Since(begin), err
}

// Change changes a value of the first module of a Kyma.
func (w *World) Change(ctx context.Context, i int, message string) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"forProvider": map[string]any{"modules": w.modules(i, message)}}})
	if err != nil {
		return errors.Wrap(err, "cannot encode the edit")
	}
	k := &v1alpha1.Kyma{ObjectMeta: meta(i)}
	return errors.Wrapf(w.Client.Patch(ctx, k, client.RawPatch(types.MergePatchType, patch)), "cannot edit Kyma %q", k.Name)
}

// AwaitMessage waits until the first module has a value in some clusters.
func (w *World) AwaitMessage(ctx context.Context, clusters []string, message string, timeout time.Duration) error {
	f := configMaps(clusters, "message", message, timeout)
	f.Names = []string{moduleName(0)}
	_, err := w.Simulator.Await(ctx, f)
	return err
}

// Disable removes the last module of a Kyma, and returns the time until it is removed from the cluster.
func (w *World) Disable(ctx context.Context, i int, timeout time.Duration) (time.Duration, error) {
	f := configMaps([]string{Cluster(i)}, "", "", timeout)
	f.Absent = true
	return w.changeLast(ctx, i, fmt.Sprintf(`[{"op": "remove", "path": "/spec/forProvider/modules/%d"}]`, w.Modules-1), f)
}

// Enable adds the module that Disable removed, and returns the time until the cluster has it in a version.
func (w *World) Enable(ctx context.Context, i int, version string, timeout time.Duration) (time.Duration, error) {
	patch := fmt.Sprintf(`[{"op": "add", "path": "/spec/forProvider/modules/-", "value": {"name": %q}}]`, w.modulesOf(i)[w.Modules-1])
	return w.changeLast(ctx, i, patch, configMaps([]string{Cluster(i)}, "version", version, timeout))
}

// changeLast sends a JSON patch of a Kyma, and returns the time until an object of its last module is as expected.
func (w *World) changeLast(ctx context.Context, i int, patch string, want simulator.Field) (time.Duration, error) {
	begin, k := time.Now(), &v1alpha1.Kyma{ObjectMeta: meta(i)}
	if err := w.Client.Patch(ctx, k, client.RawPatch(types.JSONPatchType, []byte(patch))); err != nil {
		return 0, errors.Wrapf(err, "cannot change the modules of Kyma %q", k.Name)
	}
	want.Names = []string{w.modulesOf(i)[w.Modules-1]}
	_, err := w.Simulator.Await(ctx, want)
	return time.Since(begin), err
}

func configMaps(clusters []string, key, value string, timeout time.Duration) simulator.Field {
	return simulator.Field{
		Clusters: clusters, Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Namespace: "default",
		Path: []string{"data", key}, Value: value, Timeout: timeout,
	}
}

// modules returns the modules of the Kyma of a cluster. The message is a value of the first one, unless it is empty.
func (w *World) modules(cluster int, message string) []v1alpha1.Module {
	out := make([]v1alpha1.Module, 0, w.Modules)
	for _, name := range w.modulesOf(cluster) {
		out = append(out, v1alpha1.Module{Name: name})
	}
	if message != "" {
		values := fmt.Appendf(nil, `{"message": %q}`, message)
		out[0].Values = &runtime.RawExtension{Raw: values}
	}
	return out
}
