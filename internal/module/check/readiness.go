// SPDX-License-Identifier: Apache-2.0

package check

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Bounds of readiness rules in the API.
const (
	maxRules = 16
	maxRule  = 4096
)

// checkReadiness checks that rules are within the bounds and compile, as the engine requires.
func checkReadiness(rules []v1alpha1.ReadinessRule) error {
	if len(rules) > maxRules {
		return errors.Errorf("readiness: %d rules exceed the maximum of %d", len(rules), maxRules)
	}
	for i, r := range rules {
		switch {
		case r.CEL == "":
			return errors.Errorf("readiness[%d].cel is empty", i)
		case len(r.CEL) > maxRule:
			return errors.Errorf("readiness[%d].cel is longer than %d bytes", i, maxRule)
		}
		if err := (manifest.Rule{CEL: r.CEL}).Validate(); err != nil {
			return errors.Errorf("readiness[%d].cel: %s", i, oneLine(err.Error()))
		}
		if r.For == nil {
			continue
		}
		if gv, err := schema.ParseGroupVersion(r.For.APIVersion); err != nil || gv.Version == "" {
			return errors.Errorf("readiness[%d].for.apiVersion: %q is not a group/version", i, oneLine(r.For.APIVersion))
		}
		if r.For.Kind == "" {
			return errors.Errorf("readiness[%d].for.kind is empty", i)
		}
	}
	return nil
}
