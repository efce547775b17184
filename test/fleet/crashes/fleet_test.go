// SPDX-License-Identifier: Apache-2.0

package crashes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
)

const (
	namespace  = "fleet"
	repository = "modules"
	// module is the name of the module of all Kymas, of its ModuleReleaseMeta and of the RolloutPolicy.
	module  = "module"
	channel = "regular"
	// clusters is the number of Kymas, each of which has a cluster of the same name. The first canaries of them are in wave canary.
	clusters, canaries = 20, 5
	// budget is the failure budget of each wave.
	budget = 2
)

func kymaName(i int) string { return fmt.Sprintf("kyma-%02d", i) }

// chart returns a chart of two objects. The Deployment of a broken version never becomes available.
func chart(version string, broken bool) map[string][]byte {
	image := "registry.example.org/module:"
	if broken {
		image = cluster.MissingImage + "module:"
	}
	return map[string][]byte{
		"Chart.yaml": fmt.Appendf(nil, "apiVersion: v2\nname: module\nversion: %s\n", version),
		"templates/objects.yaml": fmt.Appendf(nil, `apiVersion: v1
kind: ConfigMap
metadata: {name: module}
data: {version: %[1]q}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: module}
spec:
  selector: {matchLabels: {app: module}}
  template:
    metadata: {labels: {app: module}}
    spec: {containers: [{name: main, image: %[2]q}]}
`, version, image+version),
	}
}

// offer pushes a version of the module, and adds it to the catalogue.
func offer(ctx context.Context, version string, broken bool) error {
	c := controlplane.Component{
		Name: "example.org/module/" + module, Version: version,
		Resources: []controlplane.ComponentResource{{Name: module, Type: "helm-chart", Files: chart(version, broken)}},
	}
	if _, err := registry.PushComponent(ctx, repository, c); err != nil {
		return err
	}
	t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: module + "-" + version}}
	t.Spec.Component = &v1alpha1.Component{Repository: registry.Host() + "/" + repository, Name: c.Name, Version: version}
	return errors.Wrap(control.Create(ctx, t), "cannot create a ModuleTemplate")
}

// connect adds a cluster to the simulator, and creates its ProviderConfig and its Kyma.
func connect(ctx context.Context, i int) error {
	name := kymaName(i)
	if err := simulator.AddCluster(name); err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"kubeconfig": simulator.Kubeconfig(name)},
	}
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	pc.Spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
	pc.Spec.Credentials.SecretRef = &v1alpha1.SecretKeySelector{Name: name, Key: "kubeconfig"}
	pc.Spec.Registries = []v1alpha1.Registry{{Host: registry.Host(), PlainHTTP: true}}
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if i < canaries {
		k.Labels = map[string]string{"ring": "canary"}
	}
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: name}
	k.Spec.ForProvider.Channel = channel
	k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: module}}
	for _, o := range []client.Object{secret, pc, k} {
		if err := control.Create(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot create %T %s", o, name)
		}
	}
	return nil
}

// release creates the RolloutPolicy and the ModuleReleaseMeta.
func release(ctx context.Context, version string) error {
	batch, half, failures := intstr.FromInt32(2), intstr.FromString("50%"), intstr.FromInt32(budget)
	p := &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: module}}
	p.Spec = v1alpha1.RolloutPolicySpec{
		Waves: []v1alpha1.RolloutWave{
			{
				Name: "canary", Selector: metav1.SetAsLabelSelector(map[string]string{"ring": "canary"}), Batch: &batch,
				Soak: &metav1.Duration{Duration: time.Second},
			},
			{Name: "others", Selector: &metav1.LabelSelector{}, Batch: &half},
		},
		// A version that works must not fail because of the crashes.
		FailureBudget: &failures, ProgressDeadline: &metav1.Duration{Duration: time.Hour}, OnFailure: v1alpha1.FailurePolicyRollback,
	}
	m := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: module}}
	m.Spec.ModuleName = module
	m.Spec.Channels = []v1alpha1.ChannelRelease{{Channel: channel, Release: v1alpha1.Release{Version: version, RolloutPolicy: module}}}
	for _, o := range []client.Object{p, m} {
		if err := control.Create(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot create %T", o)
		}
	}
	return nil
}

// patchf sends a merge patch.
func patchf(t *testing.T, o client.Object, format string, args ...any) {
	t.Helper()
	if err := control.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))); err != nil {
		t.Fatal(err)
	}
}

func promote(t *testing.T, version string, deadline time.Duration) {
	t.Helper()
	patchf(t, &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: module}}, `{"spec": {"progressDeadline": %q}}`, deadline)
	patchf(t, &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: module}},
		`{"spec": {"channels": [{"channel": %q, "version": %q, "rolloutPolicy": %q}]}}`, channel, version, module)
}

// A state is the end of a rollout.
type state struct {
	// version is that of the release, and has is the one that all Kymas have.
	version, has string
	phase        v1alpha1.RolloutPhase
}

// differs returns what differs from a state, or an empty text.
func (s state) differs(ctx context.Context) string {
	m := &v1alpha1.ModuleReleaseMeta{}
	if err := control.Get(ctx, client.ObjectKey{Name: module}, m); err != nil {
		return err.Error()
	}
	if c := m.Status.Channels; len(c) != 1 || c[0].Version != s.version || c[0].Phase != s.phase {
		return fmt.Sprintf("the release has status %+v", c)
	}
	l := &v1alpha1.KymaList{}
	if err := control.List(ctx, l, client.InNamespace(namespace)); err != nil {
		return err.Error()
	}
	for i := range l.Items {
		k := &l.Items[i]
		modules := k.Status.AtProvider.Modules
		if k.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || len(modules) != 1 || modules[0].Version != s.has {
			return fmt.Sprintf("Kyma %s has modules %+v", k.Name, modules)
		}
	}
	if len(l.Items) != clusters {
		return fmt.Sprintf("there are %d Kymas", len(l.Items))
	}
	return ""
}

// checkClusters checks that each cluster has the objects of a version.
func checkClusters(t *testing.T, version string) {
	t.Helper()
	for i := range clusters {
		c, err := client.New(simulator.Config(kymaName(i)), client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cm := &corev1.ConfigMap{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: module}, cm); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"version": version}, cm.Data); diff != "" {
			t.Errorf("cluster %s has other data: -want, +got:\n%s", kymaName(i), diff)
		}
	}
}

// A history contains the versions that each Manifest has had, in order. It is read from a watch, which shows each change.
type history struct {
	watch watch.Interface

	mu       sync.Mutex
	versions map[string][]string
	// last contains the resource version of each Manifest that the watch showed last.
	last map[string]string
	// ended is true if there are no more events.
	ended bool
}

// manifests lists the Manifests of the fleet.
func manifests(ctx context.Context) (*v1alpha1.ManifestList, error) {
	l := &v1alpha1.ManifestList{}
	return l, control.List(ctx, l, client.InNamespace(namespace))
}

// record starts to record the history.
func record(t *testing.T) *history {
	t.Helper()
	l, err := manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := &history{versions: map[string][]string{}, last: map[string]string{}}
	h.watch, err = control.Watch(t.Context(), &v1alpha1.ManifestList{}, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: l.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.Items {
		h.add(&l.Items[i])
	}
	go func() {
		for e := range h.watch.ResultChan() {
			if m, ok := e.Object.(*v1alpha1.Manifest); ok {
				h.add(m)
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended = true
	}()
	return h
}

func (h *history) add(m *v1alpha1.Manifest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[m.Name] = m.ResourceVersion
	all := h.versions[m.Name]
	if v := m.Spec.ForProvider.Version; len(all) == 0 || all[len(all)-1] != v {
		h.versions[m.Name] = append(all, v)
	}
}

// hasSeen reports whether the watch has shown the current state of all Manifests.
func (h *history) hasSeen(ctx context.Context) (bool, error) {
	l, err := manifests(ctx)
	if err != nil {
		return false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return false, errors.New("the watch of Manifests ended too early")
	}
	return !slices.ContainsFunc(l.Items, func(m v1alpha1.Manifest) bool { return h.last[m.Name] != m.ResourceVersion }), nil
}

// end ends the record when it is complete, and returns how many Manifests have had which versions.
func (h *history) end(t *testing.T) map[string]int {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), poll, limit, true, h.hasSeen); err != nil {
		t.Fatal(err)
	}
	h.watch.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]int{}
	for _, v := range h.versions {
		out[fmt.Sprint(v)]++
	}
	return out
}

// await waits until the fleet is in a state, without crashes.
func await(t *testing.T, s state) {
	t.Helper()
	differs := "unknown"
	err := wait.PollUntilContextTimeout(t.Context(), poll, limit, true, func(ctx context.Context) (bool, error) {
		differs = s.differs(ctx)
		return differs == "", nil
	})
	if err != nil {
		t.Fatalf("after %s, %s", limit, differs)
	}
}

// prepare installs the first version in all clusters.
func prepare(t *testing.T, version string) {
	t.Helper()
	ctx := t.Context()
	if err := offer(ctx, version, false); err != nil {
		t.Fatal(err)
	}
	if err := release(ctx, version); err != nil {
		t.Fatal(err)
	}
	if err := objects.Parallel(ctx, clusters, connect); err != nil {
		t.Fatal(err)
	}
	p := start(t)
	entrance.plan(nil, crash{})
	await(t, state{version: version, has: version, phase: v1alpha1.RolloutComplete})
	p.Stop()
}

// only returns a map with one entry.
func only(n int, versions ...string) map[string]int { return map[string]int{fmt.Sprint(versions): n} }
