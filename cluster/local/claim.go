// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	platformGroup = "platform.kyma.crossplane.io"
	claimKind     = "KymaEnvironmentClaim"
	compositeKind = "XKymaEnvironment"
	// claimName is the name of the team's claim.
	claimName = "cluster-a"
)

// platform returns an object without a spec, of a kind of the configuration package.
func platform(kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(platformGroup + "/v1alpha1")
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// newClaim returns a claim with all modules, in channel regular.
func newClaim(registry string) *unstructured.Unstructured {
	u := platform(claimKind, team, claimName)
	u.Object["spec"] = map[string]any{
		"channel": regular,
		"modules": []any{
			map[string]any{"name": templateOperator},
			map[string]any{"name": greeter, "values": map[string]any{"replicas": int64(greeterCount)}},
		},
		"kubeconfigSecretRef": map[string]any{"name": config + "-kubeconfig"},
		"registries":          []any{map[string]any{"host": registry, "plainHTTP": true}},
	}
	return u
}

// A claim is the claim of the team, with its composite resource and the Kyma of the same name.
type claim struct {
	control   client.Client
	composite string
}

// applyClaim applies the claim, and waits until it has a composite resource and a Kyma.
func applyClaim(ctx context.Context, control client.Client, registry string) (claim, error) {
	c := claim{control: control}
	u := newClaim(registry)
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		return c, errors.Wrap(err, "cannot encode the claim")
	}
	sayf("applying the following claim:")
	_, _ = fmt.Fprintf(os.Stdout, "\n%s\n", text)
	if err := control.Create(ctx, u); err != nil {
		return c, errors.Wrapf(err, "cannot create %s %q", claimKind, claimName)
	}
	err = await(ctx, claimKind+" "+claimName, func(ctx context.Context) (bool, string, error) {
		u, err := c.get(ctx)
		if err != nil {
			return false, "", err
		}
		c.composite = field(u, "spec", "resourceRef", "name")
		if c.composite == "" {
			return false, "has no composite resource yet", nil
		}
		seen := compositeKind + " " + c.composite + " exists"
		err = control.Get(ctx, types.NamespacedName{Namespace: team, Name: c.composite}, &v1alpha1.Kyma{})
		if kerrors.IsNotFound(err) {
			return false, seen, nil
		}
		return true, seen + ", with a Kyma of the same name", errors.Wrapf(err, "cannot get Kyma %q", c.composite)
	})
	return c, err
}

func (c claim) get(ctx context.Context) (*unstructured.Unstructured, error) {
	u := platform(claimKind, "", "")
	err := c.control.Get(ctx, types.NamespacedName{Namespace: team, Name: claimName}, u)
	return u, errors.Wrapf(err, "cannot get %s %q", claimKind, claimName)
}

func (c claim) edit(ctx context.Context, patch string) error {
	err := c.control.Patch(ctx, platform(claimKind, team, claimName), merge(patch))
	return errors.Wrapf(err, "cannot edit %s %q", claimKind, claimName)
}

// await waits until the claim and its Kyma have a state and list all modules, with the given versions by module. Nil
// versions match any version.
func (c claim) await(ctx context.Context, state v1alpha1.State, versions map[string]string) error {
	return await(ctx, claimKind+" "+claimName, func(ctx context.Context) (bool, string, error) {
		u, err := c.get(ctx)
		if err != nil {
			return false, "", err
		}
		k := &v1alpha1.Kyma{}
		err = c.control.Get(ctx, types.NamespacedName{Namespace: team, Name: c.composite}, k)
		if kerrors.IsNotFound(err) {
			return false, "the Kyma doesn't exist yet", nil
		}
		if err != nil {
			return false, "", errors.Wrapf(err, "cannot get Kyma %q", c.composite)
		}
		if !composed(u, k) {
			return false, "its Kyma doesn't match the claim yet", nil
		}
		seen := describeKyma(k)
		if !agree(u, k) {
			return false, seen + " (not yet in the status of the claim)", nil
		}
		return shows(k, state, versions), seen, nil
	})
}

// composed reports whether the Kyma has the channel and the number of modules that the claim requests.
func composed(u *unstructured.Unstructured, k *v1alpha1.Kyma) bool {
	modules, _, _ := unstructured.NestedSlice(u.Object, "spec", "modules")
	return field(u, "spec", "channel") == k.Spec.ForProvider.Channel && len(modules) == len(k.Spec.ForProvider.Modules)
}

// agree reports whether the status of the claim matches that of its Kyma.
func agree(u *unstructured.Unstructured, k *v1alpha1.Kyma) bool {
	state := k.Status.AtProvider.State
	return field(u, "status", "state") == string(state) && ready(u) == (state == v1alpha1.StateReady)
}

// shows reports whether the Kyma has a state, all its modules, and the versions.
func shows(k *v1alpha1.Kyma, state v1alpha1.State, versions map[string]string) bool {
	seen := k.Status.AtProvider
	if seen.State != state || len(seen.Modules) != len(k.Spec.ForProvider.Modules) {
		return false
	}
	for _, m := range seen.Modules {
		if versions != nil && versions[m.Name] != m.Version {
			return false
		}
	}
	ready := k.Status.GetCondition(xpv2.TypeReady)
	return (ready.Status == corev1.ConditionTrue) == (state == v1alpha1.StateReady)
}

// ready reports whether a claim is ready.
func ready(u *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == string(xpv2.TypeReady) && m["status"] == string(corev1.ConditionTrue)
	})
}

func field(u *unstructured.Unstructured, path ...string) string {
	out, _, _ := unstructured.NestedString(u.Object, path...)
	return out
}

func describeKyma(k *v1alpha1.Kyma) string {
	if synced := k.Status.GetCondition(xpv2.TypeSynced); synced.Status == corev1.ConditionFalse {
		return synced.Message
	}
	seen := k.Status.AtProvider
	if seen.State == "" {
		return "no state yet"
	}
	parts := []string{fmt.Sprintf("%s, %s modules Ready", seen.State, seen.ModulesReady)}
	for _, m := range seen.Modules {
		parts = append(parts, fmt.Sprintf("%s %s %s", m.Name, m.Version, m.State))
	}
	if ready := k.Status.GetCondition(xpv2.TypeReady); ready.Status != corev1.ConditionTrue {
		parts = append(parts, ready.Message)
	}
	return strings.Join(parts, ", ")
}
