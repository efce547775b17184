// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// A realChart is a chart published by another project, in two versions.
type realChart struct {
	name          string
	first, second func(ctx context.Context) Chart
	// before and after are the values of the first and the second version.
	before, after Values
	// deployment and service are objects of the chart that the spec changes and deletes.
	deployment, service string
}

// nowhere returns a webhook rule for objects that do not exist. The webhooks of a chart do not answer here, so requests that
// match their rules would wait for them.
func nowhere() []any {
	return []any{map[string]any{
		"apiGroups": []any{"nowhere.example.org"}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"*"},
	}}
}

func realCharts() []realChart {
	gatekeeper := Values{
		"replicas": 1, "validatingWebhookCustomRules": nowhere(), "mutatingWebhookCustomRules": nowhere(),
		// This webhook is called for each namespace, and its rules cannot be set.
		"validatingWebhookCheckIgnoreFailurePolicy": "Ignore", "validatingWebhookTimeoutSeconds": 1,
	}
	more := maps.Clone(gatekeeper)
	more["replicas"] = 2
	return []realChart{{
		name:  "crossplane",
		first: CrossplaneChart, second: func(ctx context.Context) Chart { return CrossplaneChart(ctx).Version("0.0.2") },
		after: Values{"replicas": 2, "rbacManager": map[string]any{"deploy": false}}, deployment: "crossplane", service: "crossplane-webhooks",
	}, {
		// It has CRDs in crds/, a quota, webhooks, a Secret that others fill, and hooks before and after the objects.
		name:  "gatekeeper",
		first: published(tools.GatekeeperPreviousChart), second: published(tools.GatekeeperChart),
		before: gatekeeper, after: more, deployment: "gatekeeper-controller-manager", service: "gatekeeper-webhook-service",
	}, {
		// It has 3 MiB of CRDs in the templates of a dependency, which fit into a release record only without the files of the
		// chart. Its controllers, which do not run here, create its webhooks.
		name:  "kyverno",
		first: published(tools.KyvernoPreviousChart), second: published(tools.KyvernoChart),
		after: Values{"reportsController": map[string]any{"enabled": false}}, deployment: "kyverno-admission-controller", service: "kyverno-svc",
	}}
}

// published returns a function that reads a chart from the Go module in which another project publishes it.
func published(c tools.Chart) func(ctx context.Context) Chart {
	return func(ctx context.Context) Chart {
		GinkgoHelper()
		dir, err := tools.ChartDir(ctx, c)
		Expect(err).NotTo(HaveOccurred())
		files, err := controlplane.ReadDir(dir)
		Expect(err).NotTo(HaveOccurred())
		return Chart{Files: files}
	}
}

var _ = Describe("The real chart", func() {
	for _, c := range realCharts() {
		It(c.name+" is what helm template says, from installation to removal", func(ctx SpecContext) {
			s := NewSpace(ctx)
			first, second := c.first(ctx), c.second(ctx)
			was, is := templated(ctx, s, c.name, first, c.before), templated(ctx, s, c.name, second, c.after)

			s.Create(ctx, s.Manifest(c.name, s.InstallOf(c.name, first.PushLayer(ctx), c.before)))
			m := awaitLarge(ctx, s, c.name)
			Expect(m.Status.AtProvider.Resources.Total).To(BeEquivalentTo(len(was)))
			Expect(differences(ctx, s, was)).To(BeEmpty())

			By("upgrading it")
			s.Update(ctx, c.name, func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider.Installs = []v1alpha1.Install{s.InstallOf(c.name, second.PushLayer(ctx), c.after)}
			})
			m = awaitLarge(ctx, s, c.name)
			Expect(m.Status.AtProvider.Resources.Total).To(BeEquivalentTo(len(is)))
			Expect(differences(ctx, s, is)).To(BeEmpty())
			Expect(existing(ctx, s, without(was, is))).To(BeEmpty())
			Expect(Decode(Helm(ctx, s, "history", c.name, "--output", "json"))).To(HaveExactElements(HaveField("Status", "superseded"), HaveField("Status", "deployed")))

			By("repairing changed and deleted objects")
			Edit(ctx, s.MustDeployment(ctx, c.deployment), `{"spec":{"template":{"spec":{"serviceAccountName":"other"}}}}`)
			Expect(Env.TargetClient.Delete(ctx, Must(Fetched(ctx, s.Key(c.service), &corev1.Service{})))).To(Succeed())
			// Compare all of them only once: a comparison of the megabytes of these charts takes seconds.
			changed := namedObjects(is, "Deployment "+c.deployment, "Service "+c.service)
			Expect(changed).To(HaveLen(2))
			Eventually(differences).WithContext(ctx).WithTimeout(2*Patience).WithArguments(s, changed).Should(BeEmpty())
			Expect(differences(ctx, s, is)).To(BeEmpty())
			awaitLarge(ctx, s, c.name)
			Expect(Fetched(ctx, s.Key(c.deployment), &appsv1.Deployment{})).To(HaveField("Spec.Template.Spec.ServiceAccountName", Not(Equal("other"))))

			s.Remove(ctx, c.name)
			Expect(existing(ctx, s, is)).To(ConsistOf(kept(is)))
			Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		})
	}
})

// awaitLarge waits until a Manifest of many megabytes is Ready, and returns it. With the race detector, each of several passes takes up to a
// minute if both cores are busy.
func awaitLarge(ctx context.Context, s *Space, name string) *v1alpha1.Manifest {
	GinkgoHelper()
	Eventually(s.Get).WithContext(ctx).WithTimeout(6 * Patience).WithArguments(name).Should(BeReady())
	return Must(s.Get(ctx, name))
}

// templated returns the objects that the real helm renders for a chart, with its CRDs and without its hooks.
func templated(ctx context.Context, s *Space, name string, c Chart, v Values) []*unstructured.Unstructured {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "values.yaml")
	Expect(os.WriteFile(file, Must(json.Marshal(v)), 0o600)).To(Succeed())
	text := Helm(ctx, s, "template", name, ChartDirectory(s, c), "--values", file, "--include-crds", "--no-hooks", "--kube-version", tools.KubernetesVersion)
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq("\n"+text, "\n---") {
		u := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(doc), &u.Object)).To(Succeed())
		if len(u.Object) == 0 {
			continue
		}
		// This fails only for a custom resource whose CRD is among the objects, so its group is unknown; no chart here has one.
		if Must(Env.TargetClient.IsObjectNamespaced(u)) && u.GetNamespace() == "" {
			u.SetNamespace(s.Name)
		}
		out = append(out, u)
	}
	Expect(out).NotTo(BeEmpty())
	return out
}

// without returns the objects that are not in other.
func without(objects, other []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(u *unstructured.Unstructured) bool {
		return slices.ContainsFunc(other, func(o *unstructured.Unstructured) bool { return title(o) == title(u) })
	})
}

// namedObjects returns the objects with these kinds and names, as "Kind name".
func namedObjects(objects []*unstructured.Unstructured, names ...string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(u *unstructured.Unstructured) bool {
		return !slices.Contains(names, u.GetKind()+" "+u.GetName())
	})
}

// kept returns the titles of the objects that their chart keeps after its removal.
func kept(objects []*unstructured.Unstructured) []string {
	out := []string{}
	for _, u := range objects {
		if u.GetAnnotations()["helm.sh/resource-policy"] == "keep" {
			out = append(out, title(u))
		}
	}
	return out
}

func title(u *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", u.GroupVersionKind().GroupKind(), u.GetNamespace(), u.GetName())
}

// differences compares objects with the target: for each of them, a server-side apply in dry-run mode must return what the
// target contains. It describes each difference.
func differences(ctx context.Context, _ *Space, objects []*unstructured.Unstructured) ([]string, error) {
	var out []string
	for _, want := range objects {
		is := &unstructured.Unstructured{}
		is.SetGroupVersionKind(want.GroupVersionKind())
		err := Env.TargetClient.Get(ctx, client.ObjectKeyFromObject(want), is)
		if kerrors.IsNotFound(err) {
			out = append(out, title(want)+" is missing")
			continue
		}
		if err != nil {
			return nil, err
		}
		would := want.DeepCopy()
		err = Env.TargetClient.Apply(ctx, client.ApplyConfigurationFromUnstructured(would), client.DryRunAll, client.ForceOwnership, client.FieldOwner("differences"))
		if err != nil {
			return nil, err
		}
		for _, u := range []*unstructured.Unstructured{is, would} {
			u.SetManagedFields(nil)
			u.SetResourceVersion("")
			unstructured.RemoveNestedField(u.Object, "status") // Controllers can change it between both requests.
		}
		if diff := cmp.Diff(would.Object, is.Object); diff != "" {
			out = append(out, title(want)+": -helm, +is:\n"+diff)
		}
	}
	return out, nil
}

// existing returns the titles of the objects that exist in the target.
func existing(ctx context.Context, _ *Space, objects []*unstructured.Unstructured) ([]string, error) {
	var out []string
	for _, o := range objects {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(o.GroupVersionKind())
		err := Env.TargetClient.Get(ctx, client.ObjectKeyFromObject(o), u)
		if err == nil {
			out = append(out, title(o))
		} else if !kerrors.IsNotFound(err) {
			return nil, err
		}
	}
	return out, nil
}
