// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// maxReadiness is the number of rules that a ModuleTemplate may have.
const maxReadiness = 16

var (
	isIdentifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// reserved matches identifiers that CEL does not allow after a dot.
	reserved  = regexp.MustCompile(`^(as|break|const|continue|else|false|for|function|if|import|in|let|loop|package|namespace|null|return|true|var|void|while)$`)
	isElement = regexp.MustCompile(`^[-A-Za-z0-9_/]+$`)
)

// readiness converts the checks for the readiness of the custom resource to readiness rules. All of them must hold, as
// in the original.
func (c *converter) readiness() error {
	var checks []any
	switch v := c.spec["customStateCheck"].(type) {
	case nil:
		return nil
	case []any:
		checks = v
	default:
		return errors.New("spec.customStateCheck must be a list")
	}
	for i, v := range checks {
		field := fmt.Sprintf("spec.customStateCheck[%d]", i)
		check, ok := v.(map[string]any)
		if !ok {
			return errors.Errorf("%s must be an object", field)
		}
		path, _ := check["jsonPath"].(string)
		value, _ := check["value"].(string)
		state, _ := check["mappedState"].(string)
		cel, ok := expression(path, value)
		switch {
		case state != string(v1alpha1.StateReady):
			c.lose(field, "%s == %q sets state %q; all states other than Ready become Processing", path, value, state)
		case !ok:
			c.lose(field, "path %q does not consist of field names only; write a rule in spec.readiness", path)
		case len(c.out.Spec.Readiness) == maxReadiness:
			c.lose(field, "more than %d rules", maxReadiness)
		default:
			c.out.Spec.Readiness = append(c.out.Spec.Readiness, v1alpha1.ReadinessRule{CEL: cel})
		}
	}
	return nil
}

// expression returns the CEL expression that a field of the object has a value. It returns false if the path consists
// of more than field names.
func expression(path, value string) (string, bool) {
	var b strings.Builder
	b.WriteString("object")
	for e := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(path, "$"), "."), ".") {
		switch {
		case isIdentifier.MatchString(e) && !reserved.MatchString(e):
			b.WriteString("." + e)
		case isElement.MatchString(e):
			b.WriteString("[" + strconv.Quote(e) + "]")
		default:
			return "", false
		}
	}
	return b.String() + " == " + strconv.Quote(value), true
}
