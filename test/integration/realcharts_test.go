// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// A realChart is a chart that no one here wrote, at two versions.
type realChart struct {
	name          string
	first, second func(ctx context.Context) chart
	// before and after are its values with the first and the second version.
	before, after values
	// deployment and service of it are changed and deleted.
	deployment, service string
}

// nowhere is a rule of a webhook for objects that no one has. Of the webhooks of a chart nothing answers here, so that
// all requests that they are for would wait for them.
func nowhere() []any {
	return []any{map[string]any{
		"apiGroups": []any{"nowhere.example.org"}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"*"},
	}}
}

func realCharts() []realChart {
	gatekeeper := values{
		"replicas": 1, "validatingWebhookCustomRules": nowhere(), "mutatingWebhookCustomRules": nowhere(),
		// This one is for each namespace, and has no rules to be set.
		"validatingWebhookCheckIgnoreFailurePolicy": "Ignore", "validatingWebhookTimeoutSeconds": 1,
	}
	more := maps.Clone(gatekeeper)
	more["replicas"] = 2
	return []realChart{{
		name:  "crossplane",
		first: crossplaneChart, second: func(ctx context.Context) chart { return crossplaneChart(ctx).version("0.0.2") },
		after: values{"replicas": 2, "rbacManager": map[string]any{"deploy": false}}, deployment: "crossplane", service: "crossplane-webhooks",
	}, {
		// CRDs in crds/, a quota, webhooks, a Secret that others fill, and hooks before and after.
		name:  "gatekeeper",
		first: published(tools.GatekeeperPreviousChart), second: published(tools.GatekeeperChart),
		before: gatekeeper, after: more, deployment: "gatekeeper-controller-manager", service: "gatekeeper-webhook-service",
	}, {
		// 3 MiB of CRDs among the templates of a dependency: a release record holds them only without the files of
		// the chart. Its webhooks are made by its controllers, which do not run here.
		name:  "kyverno",
		first: published(tools.KyvernoPreviousChart), second: published(tools.KyvernoChart),
		after: values{"reportsController": map[string]any{"enabled": false}}, deployment: "kyverno-admission-controller", service: "kyverno-svc",
	}}
}

// published by others in a Go module.
func published(c tools.Chart) func(ctx context.Context) chart {
	return func(ctx context.Context) chart {
		GinkgoHelper()
		dir, err := tools.ChartDir(ctx, c)
		Expect(err).NotTo(HaveOccurred())
		files, err := controlplane.ReadFolder(dir)
		Expect(err).NotTo(HaveOccurred())
		return chart{files: files}
	}
}

var _ = Describe("The real chart", func() {
	for _, c := range realCharts() {
		It(c.name+" is what helm template says, from installation to removal", func(ctx SpecContext) {
			s := newSpace(ctx)
			first, second := c.first(ctx), c.second(ctx)
			was, is := s.templated(ctx, c.name, first, c.before), s.templated(ctx, c.name, second, c.after)

			s.create(ctx, s.manifest(c.name, s.installOf(c.name, first.pushLayer(ctx), c.before)))
			m := s.awaitLarge(ctx, c.name)
			Expect(m.Status.AtProvider.Resources.Total).To(BeEquivalentTo(len(was)))
			Expect(s.differences(ctx, was)).To(BeEmpty())

			By("upgrading it")
			s.update(ctx, c.name, func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider.Installs = []v1alpha1.Install{s.installOf(c.name, second.pushLayer(ctx), c.after)}
			})
			m = s.awaitLarge(ctx, c.name)
			Expect(m.Status.AtProvider.Resources.Total).To(BeEquivalentTo(len(is)))
			Expect(s.differences(ctx, is)).To(BeEmpty())
			Expect(s.existing(ctx, without(was, is))).To(BeEmpty())
			Expect(decode(s.helm(ctx, "history", c.name, "--output", "json"))).To(HaveExactElements(HaveField("Status", "superseded"), HaveField("Status", "deployed")))

			By("restoring what someone changed or deleted")
			edit(ctx, s.mustDeployment(ctx, c.deployment), `{"spec":{"template":{"spec":{"serviceAccountName":"somebody"}}}}`)
			Expect(env.targetClient.Delete(ctx, must(fetched(ctx, s.key(c.service), &corev1.Service{})))).To(Succeed())
			// All of them are compared once: a comparison of the megabytes of these charts takes seconds.
			changed := namedObjects(is, "Deployment "+c.deployment, "Service "+c.service)
			Expect(changed).To(HaveLen(2))
			Eventually(s.differences).WithContext(ctx).WithTimeout(2 * patience).WithArguments(changed).Should(BeEmpty())
			Expect(s.differences(ctx, is)).To(BeEmpty())
			s.awaitLarge(ctx, c.name)
			Expect(fetched(ctx, s.key(c.deployment), &appsv1.Deployment{})).To(HaveField("Spec.Template.Spec.ServiceAccountName", Not(Equal("somebody"))))

			s.remove(ctx, c.name)
			Expect(s.existing(ctx, is)).To(ConsistOf(kept(is)))
			Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		})
	}
})

// awaitLarge waits for a Manifest of many megabytes, which the race detector makes slow.
func (s *space) awaitLarge(ctx context.Context, name string) *v1alpha1.Manifest {
	GinkgoHelper()
	Eventually(s.get).WithContext(ctx).WithTimeout(3 * patience).WithArguments(name).Should(beReady())
	return must(s.get(ctx, name))
}

// templated are the objects that the real helm makes of a chart, with its CRDs and without its hooks.
func (s *space) templated(ctx context.Context, name string, c chart, v values) []*unstructured.Unstructured {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "values.yaml")
	Expect(os.WriteFile(file, must(json.Marshal(v)), 0o600)).To(Succeed())
	text := s.helm(ctx, "template", name, s.folder(c), "--values", file, "--include-crds", "--no-hooks", "--kube-version", tools.KubernetesVersion)
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq("\n"+text, "\n---") {
		u := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(doc), &u.Object)).To(Succeed())
		if len(u.Object) == 0 {
			continue
		}
		// Only what has no group yet, as its CRD is among the objects, cannot be asked for; no chart here has such a one.
		if must(env.targetClient.IsObjectNamespaced(u)) && u.GetNamespace() == "" {
			u.SetNamespace(s.name)
		}
		out = append(out, u)
	}
	Expect(out).NotTo(BeEmpty())
	return out
}

// without the objects of other.
func without(objects, other []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(u *unstructured.Unstructured) bool {
		return slices.ContainsFunc(other, func(o *unstructured.Unstructured) bool { return title(o) == title(u) })
	})
}

// namedObjects are the objects with a kind and a name.
func namedObjects(objects []*unstructured.Unstructured, names ...string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(u *unstructured.Unstructured) bool {
		return !slices.Contains(names, u.GetKind()+" "+u.GetName())
	})
}

// kept are the names of the objects that their chart wants to outlive it.
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

// differences between the target and what someone would have there who applied the objects: the API server is asked
// what it would make of each of them, which must be what there is.
func (s *space) differences(ctx context.Context, objects []*unstructured.Unstructured) ([]string, error) {
	var out []string
	for _, want := range objects {
		is := &unstructured.Unstructured{}
		is.SetGroupVersionKind(want.GroupVersionKind())
		err := env.targetClient.Get(ctx, client.ObjectKeyFromObject(want), is)
		if kerrors.IsNotFound(err) {
			out = append(out, title(want)+" is missing")
			continue
		}
		if err != nil {
			return nil, err
		}
		would := want.DeepCopy()
		err = env.targetClient.Apply(ctx, client.ApplyConfigurationFromUnstructured(would), client.DryRunAll, client.ForceOwnership, client.FieldOwner("differences"))
		if err != nil {
			return nil, err
		}
		for _, u := range []*unstructured.Unstructured{is, would} {
			u.SetManagedFields(nil)
			u.SetResourceVersion("")
		}
		if diff := cmp.Diff(would.Object, is.Object); diff != "" {
			out = append(out, title(want)+": -helm, +is:\n"+diff)
		}
	}
	return out, nil
}

// existing ones of objects.
func (s *space) existing(ctx context.Context, objects []*unstructured.Unstructured) ([]string, error) {
	var out []string
	for _, o := range objects {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(o.GroupVersionKind())
		err := env.targetClient.Get(ctx, client.ObjectKeyFromObject(o), u)
		if err == nil {
			out = append(out, title(o))
		} else if !kerrors.IsNotFound(err) {
			return nil, err
		}
	}
	return out, nil
}
