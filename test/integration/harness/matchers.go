// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"strconv"
	"strings"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// conditioned is implemented by Manifest and Kyma.
type conditioned interface {
	GetGeneration() int64
	GetCondition(kind xpv2.ConditionType) xpv2.Condition
}

// HaveCondition matches a Manifest or a Kyma by one of its conditions.
func HaveCondition(kind xpv2.ConditionType, status corev1.ConditionStatus, message types.GomegaMatcher) types.GomegaMatcher {
	return WithTransform(func(c conditioned) xpv2.Condition { return c.GetCondition(kind) },
		gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{"Status": Equal(status), "Message": message}))
}

// ReadyBecause matches a Manifest or a Kyma by the reason of its condition Ready.
func ReadyBecause(reason xpv2.ConditionReason) types.GomegaMatcher {
	return WithTransform(func(c conditioned) xpv2.ConditionReason { return c.GetCondition(xpv2.TypeReady).Reason }, Equal(reason))
}

// HaveDrift matches a Manifest by an object of its last drift, named as in messages, and by the change and fields of this
// object.
func HaveDrift(object string, change v1alpha1.DriftChange, fields ...any) types.GomegaMatcher {
	return HaveField("Status.AtProvider.Drift", HaveValue(HaveField("Objects", ContainElement(SatisfyAll(
		HaveField("ObjectReference", WithTransform(TitleOf, Equal(object))), HaveField("Change", change), HaveField("Fields", ContainElements(fields...)))))))
}

// NotReady matches a Manifest that is not Ready, with a message that contains all parts.
func NotReady(message ...string) types.GomegaMatcher {
	return HaveCondition(xpv2.TypeReady, corev1.ConditionFalse, ContainAll(message))
}

// NotSynced matches a Manifest that could not be reconciled, with a message that contains all parts.
func NotSynced(message ...string) types.GomegaMatcher {
	return HaveCondition(xpv2.TypeSynced, corev1.ConditionFalse, ContainAll(message))
}

// Synced matches a Manifest that was reconciled without an error.
func Synced() types.GomegaMatcher {
	return HaveCondition(xpv2.TypeSynced, corev1.ConditionTrue, BeEmpty())
}

// HaveState matches a Manifest by its state, and a message that contains all parts.
func HaveState(state v1alpha1.State, message ...string) types.GomegaMatcher {
	return WithTransform(func(m *v1alpha1.Manifest) v1alpha1.ManifestObservation { return m.Status.AtProvider },
		gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{"State": Equal(state), "Message": ContainAll(message)}))
}

// HaveInstall matches a Manifest with an install in a state, whose message contains all parts.
func HaveInstall(name string, state v1alpha1.State, message ...string) types.GomegaMatcher {
	return WithTransform(func(m *v1alpha1.Manifest) []v1alpha1.InstallStatus { return m.Status.AtProvider.Installs },
		ContainElement(gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
			"Name": Equal(name), "State": Equal(state), "Message": ContainAll(message),
		})))
}

// BeReady matches a Manifest that is Ready in its current generation.
func BeReady() types.GomegaMatcher {
	return WithTransform(describe, Equal("Ready"))
}

// describe returns "Ready", or why a Manifest is not Ready in its current generation.
func describe(m *v1alpha1.Manifest) string {
	return describeState(m, m.Status.AtProvider.State, strconv.Quote(m.Status.AtProvider.Message))
}

// describeState returns "Ready", or the conditions, the state and the details of an object that is not Ready in its current generation.
func describeState(o conditioned, state v1alpha1.State, details string) string {
	ready, synced := o.GetCondition(xpv2.TypeReady), o.GetCondition(xpv2.TypeSynced)
	if synced.ObservedGeneration != o.GetGeneration() {
		return fmt.Sprintf("generation %d was seen, it is %d", synced.ObservedGeneration, o.GetGeneration())
	}
	if synced.Status != corev1.ConditionTrue || ready.Status != corev1.ConditionTrue || state != v1alpha1.StateReady {
		return fmt.Sprintf("Synced %s %q, Ready %s %q, state %q, %s", synced.Status, synced.Message, ready.Status, ready.Message, state, details)
	}
	return "Ready"
}

func ContainAll(parts []string) types.GomegaMatcher {
	all := make([]types.GomegaMatcher, 0, len(parts))
	for _, p := range parts {
		all = append(all, ContainSubstring(p))
	}
	return SatisfyAll(all...)
}

// BeNotFound matches the error NotFound of the API server.
func BeNotFound() types.GomegaMatcher {
	return WithTransform(kerrors.IsNotFound, BeTrue())
}

// Paths returns the paths of requests, one per line.
func Paths(requests []controlplane.Request) string {
	var lines []string
	for _, r := range requests {
		lines = append(lines, r.Path)
	}
	return strings.Join(lines, "\n")
}
