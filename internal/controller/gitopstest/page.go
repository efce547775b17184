// SPDX-License-Identifier: Apache-2.0

package gitopstest

import (
	"os"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// page is the path of the documentation of GitOps tools, relative to the directory of a controller.
const page = "../../../docs/gitops.md"

// expressions contains the Flux health expressions for one kind.
type expressions struct {
	Kind    string `json:"kind"`
	Current string `json:"current"`
	Failed  string `json:"failed"`
}

// documented returns the Flux expressions in the documentation.
func documented() ([]expressions, error) {
	data, err := os.ReadFile(page)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the documentation")
	}
	for block := range strings.SplitSeq(string(data), "```yaml\n") {
		text, _, found := strings.Cut(block, "```")
		if !found || !strings.Contains(text, "healthCheckExprs:") {
			continue
		}
		out := struct {
			Spec struct {
				HealthCheckExprs []expressions `json:"healthCheckExprs"`
			} `json:"spec"`
		}{}
		return out.Spec.HealthCheckExprs, errors.Wrap(yaml.Unmarshal([]byte(text), &out), "cannot read the expressions")
	}
	return nil, errors.New("the documentation has no healthCheckExprs")
}

// flux returns the status of an object according to Flux with the documented expressions. If an expression returns an error,
// Flux waits. For kinds without expressions, flux returns the status according to kstatus.
func flux(u *unstructured.Unstructured, all []expressions) (string, error) {
	generic, err := kstatus(u)
	if err != nil {
		return "", err
	}
	observed, found, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	for _, e := range all {
		switch {
		case e.Kind != u.GetKind():
			continue
		case u.GetDeletionTimestamp() != nil, found && observed != u.GetGeneration():
			return generic, nil
		}
		for _, rule := range []struct {
			expression string
			status     status.Status
		}{{e.Failed, status.FailedStatus}, {e.Current, status.CurrentStatus}} {
			if yes, err := evaluate(rule.expression, u); err != nil || yes {
				return string(rule.status), err
			}
		}
		return string(status.InProgressStatus), nil
	}
	return generic, nil
}

// evaluate evaluates an expression with the fields of an object as its variables.
func evaluate(expression string, u *unstructured.Unstructured) (bool, error) {
	options := make([]cel.EnvOption, 0, len(u.Object))
	for field := range u.Object {
		options = append(options, cel.Variable(field, cel.DynType))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return false, errors.Wrap(err, "cannot make an environment")
	}
	ast, issues := env.Compile(expression)
	if err := issues.Err(); err != nil {
		return false, errors.Wrap(err, "cannot compile an expression")
	}
	program, err := env.Program(ast)
	if err != nil {
		return false, errors.Wrap(err, "cannot plan an expression")
	}
	out, _, err := program.Eval(u.Object)
	if err != nil {
		return false, nil //nolint:nilerr // Flux waits for the field.
	}
	yes, ok := out.Value().(bool)
	if !ok {
		return false, errors.Errorf("expression %q is %v", expression, out.Value())
	}
	return yes, nil
}
