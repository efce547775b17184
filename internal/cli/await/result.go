// SPDX-License-Identifier: Apache-2.0

package await

import (
	"cmp"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// A Result is the result of checking a condition.
type Result struct {
	Met bool
	// Failed reports that a state is Error, which can be temporary.
	Failed bool
	// Message describes what is missing; empty if the condition is met.
	Message string
}

// NotYet returns the result of a condition that is not met. The message describes what is missing.
func NotYet(format string, args ...any) Result {
	return Result{Message: fmt.Sprintf(format, args...)}
}

// Observed reports whether the provider has reconciled the current spec of a Kyma. If not, the result explains why.
func Observed(k *v1alpha1.Kyma) (Result, bool) {
	synced := k.GetCondition(xpv2.TypeSynced)
	switch {
	case meta.IsPaused(k):
		return NotYet("the Kyma is paused by annotation %s", meta.AnnotationKeyReconciliationPaused), false
	case synced.ObservedGeneration != k.Generation, synced.Reason == xpv2.ReasonReconcilePaused:
		return NotYet("the provider has not reconciled the current spec of the Kyma"), false
	}
	return Result{}, true
}

// readiness checks whether a Kyma, or all of the given modules, are Ready. It fails with ExitNotFound if a module is not
// enabled.
func readiness(k *v1alpha1.Kyma, modules []string) (Result, error) {
	for _, name := range modules {
		if !catalog.Enables(k, name) {
			return Result{}, command.NotFoundf("module %s is not enabled in Kyma %s/%s: use 'kymactl module enable %s'", name, k.Namespace, k.Name, name)
		}
	}
	if v, ok := Observed(k); !ok {
		return v, nil
	}
	if len(modules) == 0 {
		return wholly(k), nil
	}
	for _, name := range modules {
		if v := moduleReady(k, name); !v.Met {
			return v, nil
		}
	}
	return Result{Met: true}, nil
}

// wholly checks whether a Kyma and all its modules are Ready.
func wholly(k *v1alpha1.Kyma) Result {
	synced, ready := k.GetCondition(xpv2.TypeSynced), k.GetCondition(xpv2.TypeReady)
	at := &k.Status.AtProvider
	switch {
	case at.State == v1alpha1.StateError:
		return Result{Failed: true, Message: at.Message}
	case synced.Status != corev1.ConditionTrue:
		return NotYet("%s", synced.Message)
	case ready.Status != corev1.ConditionTrue:
		return NotYet("%s", cmp.Or(at.Message, "not Ready"))
	}
	for i := range k.Spec.ForProvider.Modules {
		if v := moduleReady(k, k.Spec.ForProvider.Modules[i].Name); !v.Met {
			return v
		}
	}
	return Result{Met: true}
}

// moduleReady checks whether a module of a Kyma is Ready.
func moduleReady(k *v1alpha1.Kyma, name string) Result {
	s, ok := catalog.StatusOf(k, name)
	switch {
	case !ok:
		return NotYet("%s: %s", name, catalog.Unseen)
	case s.State == v1alpha1.StateReady:
		return Result{Met: true}
	}
	return Result{
		Failed:  s.State == v1alpha1.StateError,
		Message: name + ": " + cmp.Or(s.Message, "it is in state "+string(s.State)),
	}
}

// removal checks whether a Kyma neither enables the modules nor lists them in its status.
func removal(k *v1alpha1.Kyma, modules []string) Result {
	for _, name := range modules {
		if catalog.Enables(k, name) {
			return NotYet("%s: still enabled", name)
		}
	}
	if v, ok := Observed(k); !ok {
		return v
	}
	for _, name := range modules {
		if s, ok := catalog.StatusOf(k, name); ok {
			return NotYet("%s: %s", name, cmp.Or(s.Message, "removal in progress"))
		}
	}
	return Result{Met: true}
}
