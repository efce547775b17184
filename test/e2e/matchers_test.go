// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// conditioned is implemented by Manifest and Kyma.
type conditioned interface {
	GetCondition(kind xpv2.ConditionType) xpv2.Condition
}

// haveCondition matches a Manifest or a Kyma by one of its conditions, with a message that contains all parts.
func haveCondition(kind xpv2.ConditionType, status corev1.ConditionStatus, message ...string) types.GomegaMatcher {
	return WithTransform(func(c conditioned) xpv2.Condition { return c.GetCondition(kind) },
		SatisfyAll(HaveField("Status", status), HaveField("Message", containAll(message))))
}

// havePaused matches a Manifest or a Kyma that is paused.
func havePaused() types.GomegaMatcher {
	return WithTransform(func(c conditioned) xpv2.ConditionReason { return c.GetCondition(xpv2.TypeSynced).Reason },
		Equal(xpv2.ReasonReconcilePaused))
}

// describe returns "Ready", or why a Manifest or a Kyma is not Ready in its current generation.
func describe(o client.Object) string {
	c, ok := o.(conditioned)
	if !ok {
		return fmt.Sprintf("%T has no conditions", o)
	}
	ready, synced := c.GetCondition(xpv2.TypeReady), c.GetCondition(xpv2.TypeSynced)
	if synced.ObservedGeneration != o.GetGeneration() {
		return fmt.Sprintf("generation %d was seen, it is %d", synced.ObservedGeneration, o.GetGeneration())
	}
	if synced.Status != corev1.ConditionTrue || ready.Status != corev1.ConditionTrue {
		return fmt.Sprintf("Synced %s %q, Ready %s %q", synced.Status, synced.Message, ready.Status, ready.Message)
	}
	return "Ready"
}

// beReady matches a Manifest or a Kyma that is Ready in its current generation.
func beReady() types.GomegaMatcher { return WithTransform(describe, Equal("Ready")) }

// describeComposite returns "Ready", or why a composite resource or a claim is not Ready.
func describeComposite(u *unstructured.Unstructured) string {
	for _, kind := range []string{"Synced", "Ready"} {
		if c := conditionOf(u, kind); c["status"] != "True" {
			return fmt.Sprintf("%s is %v, status is %v", kind, c, u.Object["status"])
		}
	}
	if state, _, _ := unstructured.NestedString(u.Object, "status", "state"); state != "Ready" {
		return fmt.Sprintf("status is %v", u.Object["status"])
	}
	return "Ready"
}

// beReadyComposite matches a composite resource or a claim that is Ready, by its conditions and its state.
func beReadyComposite() types.GomegaMatcher { return WithTransform(describeComposite, Equal("Ready")) }

// conditionOf returns the condition of a type of any object, or nil.
func conditionOf(u *unstructured.Unstructured, kind string) map[string]any {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, one := range all {
		if c, ok := one.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}

// haveUnready matches a composite resource or a claim that is not Ready.
func haveUnready() types.GomegaMatcher {
	return WithTransform(func(u *unstructured.Unstructured) any { return conditionOf(u, "Ready")["status"] }, Equal("False"))
}

// haveStalled matches a composite resource or a claim with a reason in status.stalled, or without status.stalled if it is empty.
func haveStalled(reason string) types.GomegaMatcher {
	return WithTransform(func(u *unstructured.Unstructured) string {
		s, _, _ := unstructured.NestedString(u.Object, "status", "stalled", "reason")
		return s
	}, Equal(reason))
}

// showModule matches a composite resource or a claim with a state and a module in that state. Both messages must contain all
// parts, and that of the resource also the name of the module.
func showModule(name string, state v1alpha1.State, message ...string) types.GomegaMatcher {
	return SatisfyAll(
		WithTransform(func(u *unstructured.Unstructured) string {
			s, _, _ := unstructured.NestedString(u.Object, "status", "state")
			return s
		}, Equal(string(state))),
		showMessage(append(message, name)...),
		WithTransform(func(u *unstructured.Unstructured) []any {
			all, _, _ := unstructured.NestedSlice(u.Object, "status", "modules")
			return all
		}, ContainElement(SatisfyAll(
			HaveKeyWithValue("name", name), HaveKeyWithValue("state", string(state)), HaveKeyWithValue("message", containAll(message))))))
}

// showMessage matches a composite resource or a claim whose message contains all parts.
func showMessage(parts ...string) types.GomegaMatcher {
	return WithTransform(func(u *unstructured.Unstructured) string {
		s, _, _ := unstructured.NestedString(u.Object, "status", "message")
		return s
	}, containAll(parts))
}

func containAll(parts []string) types.GomegaMatcher {
	all := make([]types.GomegaMatcher, 0, len(parts))
	for _, p := range parts {
		all = append(all, ContainSubstring(p))
	}
	return SatisfyAll(all...)
}

// beNotFound matches the error NotFound of the API server.
func beNotFound() types.GomegaMatcher { return WithTransform(kerrors.IsNotFound, BeTrue()) }

// fetched reads an object into an empty one, from either cluster.
func fetched[T client.Object](ctx context.Context, c client.Client, key client.ObjectKey, into T) (T, error) {
	return into, c.Get(ctx, key, into)
}

// absent returns a function that reports whether an object does not exist.
func absent(c client.Client, key client.ObjectKey, o client.Object) func(ctx context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, key, o)
		return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

func must[T any](v T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return v
}
