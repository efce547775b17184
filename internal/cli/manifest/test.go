// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// test holds the flags of kymactl test.
type test struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	argument    string
	modules     []string
}

// A testReport is the output of test: the results of the tests of a Manifest, or of all Manifests of a Kyma.
type testReport struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	// State is Ready or Error.
	State string       `json:"state"`
	Tests []testResult `json:"tests"`
}

// A testResult is the result of one test.
type testResult struct {
	Manifest string `json:"manifest"`
	Install  string `json:"install"`
	// Kind, Namespace and Name identify the test in the target cluster.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     string `json:"state"`
	Message   string `json:"message"`
}

// NewTest returns the command kymactl test.
func NewTest(e *command.Environment) *cobra.Command {
	t := &test{environment: e}
	cmd := &cobra.Command{
		Use:   "test [KIND/]NAME",
		Short: "Run the chart tests of a Manifest or a Kyma",
		Long: "Run the test hooks of the charts of a Manifest, or of all modules of a Kyma, and wait for the results, as helm test " +
			"does. kymactl requests the tests by changing the annotation kyma.m.crossplane.io/test, and the provider runs them in " +
			"the target cluster.\n\n" +
			"The exit code is 0 if all tests succeed or there are none, 1 if a test fails, and 6 if --timeout expires. If the " +
			"command times out or you interrupt it, the tests continue. To see their results, check status.atProvider.tests of the " +
			"Manifest. kymactl status does not show them.\n\n" +
			"With --output json or yaml, the command prints an object with the fields namespace, kind, name, state (Ready or Error) " +
			"and tests. Each item of tests has the fields manifest, install, kind, namespace, name, state and message.",
		Example: "  kymactl test manifest/web -n team-a\n" +
			"  kymactl test kyma/cluster-a --module istio --timeout 10m",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.argument = args[0]
			return t.run(cmd.Context())
		},
		ValidArgsFunction: completeResources(&t.cluster),
	}
	f := cmd.Flags()
	t.cluster.AddFlags(f)
	t.output.AddFlag(f, false)
	f.StringSliceVar(&t.modules, "module", nil, "`NAME` of the module to test, if the argument is a Kyma (default: all modules); can be repeated")
	complete.Flag(cmd, "module", complete.EnabledIn(&t.cluster, kymaNamed))
	return cmd
}

func (t *test) run(ctx context.Context) error {
	if err := argument.CheckModules(t.modules); err != nil {
		return err
	}
	if err := t.output.Check(); err != nil {
		return err
	}
	c, err := t.cluster.Connect(t.environment)
	if err != nil {
		return err
	}
	of, _, err := find(ctx, c, c.Namespace, t.argument)
	if err != nil {
		return err
	}
	if len(t.modules) > 0 && !of.isKyma() {
		return command.Usagef("--module requires a Kyma, but %s is a Manifest", of)
	}
	r, err := t.test(ctx, c, of)
	if err != nil {
		return err
	}
	if err := r.write(t.environment, &t.output); err != nil {
		return err
	}
	if r.State == string(v1alpha1.StateError) {
		return errors.Errorf("tests of %s failed", of)
	}
	return nil
}

// test requests the tests of the selected Manifests, and waits for the results.
func (t *test) test(ctx context.Context, c *command.Cluster, of *resourceRef) (*testReport, error) {
	all := &selection{environment: t.environment, client: c, of: of, modules: t.modules}
	if of.isKyma() {
		k, err := lookup.Kyma(ctx, c, of.Namespace, of.Name)
		if err != nil {
			return nil, err
		}
		for _, name := range t.modules {
			if !catalog.Enables(k, name) {
				return nil, command.NotFoundf("module %s is not enabled in %s: use 'kymactl module enable %s'", name, of, name)
			}
		}
	}
	manifests, _, err := all.await(ctx, "to be installed", testable)
	if err != nil {
		return nil, err
	}
	token := strings.ToLower(rand.Text())
	for i := range manifests {
		m := &resourceRef{kind: v1alpha1.ManifestGroupVersionKind}
		m.Namespace, m.Name = manifests[i].Namespace, manifests[i].Name
		if _, err := m.change(ctx, c, func(u *unstructured.Unstructured) (bool, error) {
			meta.AddAnnotations(u, map[string]string{v1alpha1.AnnotationTest: token})
			return true, nil
		}); err != nil {
			return nil, err
		}
	}
	manifests, _, err = all.await(ctx, "to be tested", func(m *v1alpha1.Manifest) (await.Result, error) { return tested(m, token) })
	if err != nil {
		return nil, err
	}
	return reportTests(of, manifests), nil
}

// testable returns an error if a Manifest is in plan mode, because the provider does not run its tests then.
func testable(m *v1alpha1.Manifest) (await.Result, error) {
	if m.Status.AtProvider.Plan != nil || m.Spec.ForProvider.Mode == v1alpha1.ModePlan {
		return await.Result{}, errors.Errorf("Manifest %s/%s is in plan mode, so its tests cannot run: see %s and spec.managementPolicies",
			m.Namespace, m.Name, modeField)
	}
	return await.Result{Met: true}, nil
}

// tested checks whether the tests that were requested with a token have ended.
func tested(m *v1alpha1.Manifest, token string) (await.Result, error) {
	at := m.Status.AtProvider.Tests
	switch {
	case m.Annotations[v1alpha1.AnnotationTest] != token:
		return await.Result{}, errors.Errorf("Manifest %s/%s: another client has requested tests since: see status.atProvider.tests", m.Namespace, m.Name)
	case at == nil || at.Token != token:
		if v, err := checkReconciled(m); err != nil || !v.Met {
			return v, err
		}
		return await.NotYet("the tests have not started: %s", cmp.Or(m.Status.AtProvider.Message, "the provider has not processed the request yet")), nil
	}
	// A test can fail while others are still running.
	for _, one := range at.Tests {
		if one.State == v1alpha1.StateProcessing {
			return await.NotYet("%s is running", titleOf(one.Kind, one.Namespace, one.Name)), nil
		}
	}
	if at.State != v1alpha1.StateReady && at.State != v1alpha1.StateError {
		return await.NotYet("the tests are running"), nil
	}
	return await.Result{Met: true}, nil
}

// titleOf returns the kind, namespace and name of a test as text for users.
func titleOf(kind, namespace, name string) string {
	return cluster.ObjectRef{Kind: kind, Namespace: namespace, Name: name}.String()
}

// reportTests returns the report on the tests of Manifests.
func reportTests(s *resourceRef, manifests []v1alpha1.Manifest) *testReport {
	r := &testReport{Namespace: s.Namespace, Kind: s.kind.Kind, Name: s.Name, State: string(v1alpha1.StateReady), Tests: []testResult{}}
	for i := range manifests {
		at := manifests[i].Status.AtProvider.Tests
		if at.State == v1alpha1.StateError {
			r.State = string(v1alpha1.StateError)
		}
		for _, one := range at.Tests {
			r.Tests = append(r.Tests, testResult{
				Manifest: manifests[i].Name, Install: one.Install, Kind: one.Kind, Namespace: one.Namespace, Name: one.Name,
				State: string(one.State), Message: one.Message,
			})
		}
	}
	return r
}

// write writes the report to stdout.
func (r *testReport) write(e *command.Environment, output *command.Output) error {
	return output.Write(e.Out, r, func(w io.Writer) error {
		if len(r.Tests) == 0 {
			_, err := fmt.Fprintf(w, "%s %s/%s has no tests\n", r.Kind, r.Namespace, r.Name)
			return err
		}
		if _, err := io.WriteString(w, "MANIFEST\tINSTALL\tTEST\tSTATE\tMESSAGE\n"); err != nil {
			return err
		}
		for _, t := range r.Tests {
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n",
				t.Manifest, t.Install, titleOf(t.Kind, t.Namespace, t.Name), t.State, cmp.Or(t.Message, "-"))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
