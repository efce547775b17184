// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// A verdict says whether what is waited for is there.
type verdict struct {
	met bool
	// failed says that a state is Error, which may pass.
	failed bool
	// message says what is missing.
	message string
}

func notYet(format string, args ...any) verdict {
	return verdict{message: fmt.Sprintf(format, args...)}
}

// observed says whether the provider has looked at a Kyma as it is now; or else why not.
func observed(k *v1alpha1.Kyma) (verdict, bool) {
	synced := k.GetCondition(xpv2.TypeSynced)
	switch {
	case meta.IsPaused(k):
		return notYet("the Kyma is paused: annotation %s", meta.AnnotationKeyReconciliationPaused), false
	case synced.ObservedGeneration != k.Generation, synced.Reason == xpv2.ReasonReconcilePaused:
		return notYet("the provider has not seen the Kyma as it is now"), false
	}
	return verdict{}, true
}

// readiness of a Kyma, or of some of its modules. It fails where a module is not enabled.
func readiness(k *v1alpha1.Kyma, modules []string) (verdict, error) {
	for _, name := range modules {
		if !wants(k, name) {
			return verdict{}, command.NotFoundf("module %s is not enabled in Kyma %s/%s: use 'kymactl module enable %s'", name, k.Namespace, k.Name, name)
		}
	}
	if v, ok := observed(k); !ok {
		return v, nil
	}
	if len(modules) == 0 {
		return wholly(k), nil
	}
	for _, name := range modules {
		if v := moduleReady(k, name); !v.met {
			return v, nil
		}
	}
	return verdict{met: true}, nil
}

// wholly is for all modules of a Kyma.
func wholly(k *v1alpha1.Kyma) verdict {
	synced, ready := k.GetCondition(xpv2.TypeSynced), k.GetCondition(xpv2.TypeReady)
	at := &k.Status.AtProvider
	switch {
	case at.State == v1alpha1.StateError:
		return verdict{failed: true, message: at.Message}
	case synced.Status != corev1.ConditionTrue:
		return notYet("%s", synced.Message)
	case ready.Status != corev1.ConditionTrue:
		return notYet("%s", message(at.Message, "it is not Ready"))
	}
	for i := range k.Spec.ForProvider.Modules {
		if v := moduleReady(k, k.Spec.ForProvider.Modules[i].Name); !v.met {
			return v
		}
	}
	return verdict{met: true}
}

func moduleReady(k *v1alpha1.Kyma, name string) verdict {
	s, ok := reportOf(k, name)
	switch {
	case !ok:
		return notYet("%s: %s", name, unseen)
	case s.State == v1alpha1.StateReady:
		return verdict{met: true}
	}
	return verdict{
		failed:  s.State == v1alpha1.StateError,
		message: name + ": " + message(s.Message, "is in state "+string(s.State)),
	}
}

// removal of modules from a Kyma.
func removal(k *v1alpha1.Kyma, modules []string) verdict {
	for _, name := range modules {
		if wants(k, name) {
			return notYet("%s: it is enabled", name)
		}
	}
	if v, ok := observed(k); !ok {
		return v
	}
	for _, name := range modules {
		if s, ok := reportOf(k, name); ok {
			return notYet("%s: %s", name, message(s.Message, "is being removed"))
		}
	}
	return verdict{met: true}
}

func reportOf(k *v1alpha1.Kyma, name string) (v1alpha1.ModuleStatus, bool) {
	for _, s := range k.Status.AtProvider.Modules {
		if s.Name == name {
			return s, true
		}
	}
	return v1alpha1.ModuleStatus{}, false
}

// wants says whether a Kyma has a module enabled.
func wants(k *v1alpha1.Kyma, name string) bool {
	return slices.ContainsFunc(k.Spec.ForProvider.Modules, func(m v1alpha1.Module) bool { return m.Name == name })
}

func message(said, otherwise string) string {
	if said != "" {
		return said
	}
	return otherwise
}
