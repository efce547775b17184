// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

const tmplHPA = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 5}
`

const kcm = "kube-controller-manager"

// deployOf returns a template of a Deployment with replicas and an image.
func deployOf(replicas int, image string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: %d, template: {spec: {image: %s}}}\n", replicas, image)
}

func (b *bench) replicas() any {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	n, _, _ := unstructured.NestedFieldNoCopy(b.s.objects[key("Deployment", "apps", "web")].content, "spec", "replicas")
	return n
}

// An autoscaler owns the number of replicas from the first time that it sets them, across upgrades.
func TestReplicasOfAnAutoscaler(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", deployOf(1, "a"), tmplHPA))
	b.reconcile(s)
	k := key("Deployment", "apps", "web")
	b.s.scale(k, 3, kcm)
	version := b.s.versionOf(k)
	r := b.apply(s)
	want := []observe.CededField{{Key: k, Field: "spec.replicas", Manager: kcm}}
	if diff := cmp.Diff(want, r.Ceded); diff != "" || len(r.Repaired) > 0 {
		t.Errorf("-want, +got:\n%s\nrepaired: %v", diff, r.Repaired)
	}
	if o := b.observe(s); !o.UpToDate || o.State != Ready {
		t.Errorf("observation: %+v", o)
	}
	if got := b.s.versionOf(k); got != version {
		t.Errorf("the Deployment was written: %s became %s", version, got)
	}

	for i := range 3 {
		b.s.scale(k, int64(2+i), kcm)
		b.s.took()
		b.restart()
		if o := b.observe(s); !o.UpToDate || o.State != Ready {
			t.Errorf("observation after it was scaled again: %+v", o)
		}
		if got := b.s.took(); len(got) != 1 {
			t.Errorf("nothing but the inventory is read: %q", got)
		}
	}

	s.Installs[0] = install("web", deployOf(2, "b"), tmplHPA)
	b.reconcile(s)
	if got := b.replicas(); got != int64(4) {
		t.Errorf("an upgrade leaves the replicas, got %v", got)
	}
	if o := b.observe(s); o.State != Ready {
		t.Errorf("observation after the upgrade: %+v", o)
	}

	b.s.edit(k, set("evil", "spec", "template", "spec", "image"))
	r = b.apply(s)
	if diff := cmp.Diff([]observe.Drift{{Key: k, Fields: []string{"spec.template.spec.image"}}}, r.Repaired); diff != "" || b.replicas() != int64(4) {
		t.Errorf("a repair leaves the replicas, %v: -want, +got:\n%s", b.replicas(), diff)
	}

	s.Installs[0] = install("web", deployOf(2, "c"))
	b.reconcile(s)
	s.Installs[0] = install("web", deployOf(2, "d"))
	b.reconcile(s)
	if got := b.replicas(); got != int64(2) {
		t.Errorf("without the autoscaler they are ours again, got %v", got)
	}

	s.Installs[0] = install("web", deployOf(2, "d"), tmplHPA)
	b.reconcile(s)
	b.s.scale(k, 5, kcm)
	b.reconcile(s)
	b.s.remove(k)
	b.reconcile(s)
	if got := b.replicas(); got != int64(2) {
		t.Errorf("a new object begins with what is wanted, got %v", got)
	}
}

// If a new version of a chart sets replicas, it does not override the autoscaler that has always set them.
func TestReplicasSetLater(t *testing.T) {
	b := newBench(t)
	without := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {image: web}}}\n"
	s := bundleOf(install("web", without, tmplHPA))
	b.reconcile(s)
	k := key("Deployment", "apps", "web")
	b.s.scale(k, 3, kcm)
	b.reconcile(s)
	s.Installs[0] = install("web", deployOf(1, "a"), tmplHPA)
	b.reconcile(s)
	if got := b.replicas(); got != int64(3) {
		t.Errorf("replicas: %v", got)
	}
}

func TestReplicasWithoutAnAutoscaler(t *testing.T) {
	k := key("Deployment", "apps", "web")
	cases := map[string]struct {
		reason  string
		objects []string
		forbid  bool
		manager string
		want    int64
	}{
		"Scaled":    {reason: "Without an autoscaler, a replica count that a user sets is repaired.", manager: "kubectl", want: 1},
		"OtherHPA":  {reason: "An autoscaler of another object does not count.", manager: kcm, want: 1, objects: []string{strings.ReplaceAll(tmplHPA, "kind: Deployment, name: web", "kind: Deployment, name: other")}},
		"OtherKind": {reason: "An autoscaler of another kind does not count.", manager: kcm, want: 1, objects: []string{strings.ReplaceAll(tmplHPA, "kind: Deployment", "kind: StatefulSet")}},
		"Manual":    {reason: "With an autoscaler, replicas belong to any client that scales.", manager: "kubectl", want: 3, objects: []string{tmplHPA}},
		"Forbidden": {reason: "If autoscalers cannot be listed, the field manager decides.", manager: kcm, forbid: true, want: 3},
		"NotIt":     {reason: "The manager is not an autoscaler.", manager: "kubectl", forbid: true, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", append([]string{deployOf(1, "a")}, tc.objects...)...))
			b.reconcile(s)
			b.s.scale(k, 3, tc.manager)
			if tc.forbid {
				b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
					if verb == "getcollection" && k.Kind == "HorizontalPodAutoscaler" {
						return refusal(403, metav1.StatusReasonForbidden, "no")
					}
					return nil
				}
			}
			b.reconcile(s)
			if got := b.replicas(); got != tc.want {
				t.Errorf("\n%s\nwant %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

// A CA certificate is ceded to the manager that injects it, if the chart has none.
func TestInjectedCertificate(t *testing.T) {
	const authority = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t" // -----BEGIN CERTIFICATE-----
	for bundle, want := range map[string]string{"Cg==": "bmV3", "\"\"": "bmV3", authority: authority} {
		b := newBench(t)
		crd := strings.Replace(tmplCRD, "  scope:", "  conversion: {webhook: {clientConfig: {caBundle: "+bundle+"}}}\n  scope:", 1)
		s := bundleOf(install("web", crd))
		b.reconcile(s)
		k := key("CustomResourceDefinition", "", "widgets.example.org")
		b.s.editAs("cainjector/Update", k, set("bmV3", "spec", "conversion", "webhook", "clientConfig", "caBundle"))
		b.reconcile(s)
		got, _, _ := unstructured.NestedString(b.s.objects[k].content, "spec", "conversion", "webhook", "clientConfig", "caBundle")
		if got != want {
			t.Errorf("%q in the chart: want %q, got %q", bundle, want, got)
		}
	}
}

// A field that a manager changes back repeatedly is ceded to it after some repairs, for a while.
func TestContention(t *testing.T) {
	b := newBench(t)
	now := time.Unix(1_700_000_000, 0)
	b.now = func() time.Time { return now }
	s := bundleOf(install("web", deployOf(1, "a"), configMap("x")))
	b.reconcile(s)
	k := key("Deployment", "apps", "web")
	take := func() { b.s.editAs("other/Update", k, set("theirs", "spec", "template", "spec", "image")) }
	// contend changes the field until it is ceded, and returns how often it was repaired.
	contend := func() (repairs int, ceded []observe.CededField) {
		for range 20 {
			take()
			if b.observe(s).UpToDate {
				return repairs, ceded
			}
			r := b.apply(s)
			repairs += len(r.Repaired)
			ceded = append(ceded, r.Ceded...)
			now = now.Add(time.Second)
		}
		t.Fatal("the contention never ends")
		return 0, nil
	}
	want := []observe.CededField{{Key: k, Field: "spec.template.spec.image", Manager: "other", Contended: true}}
	repairs, ceded := contend()
	if diff := cmp.Diff(want, ceded); diff != "" || repairs != ownership.MaxRepairs {
		t.Errorf("%d repairs, -want, +got:\n%s", repairs, diff)
	}
	message := "web: Deployment apps/web: spec.template.spec.image is ceded to other, which changed it repeatedly; " +
		"stop one of the two managers, or remove the field from the module"
	b.s.took()
	for range 3 {
		if o := b.observe(s); !o.UpToDate || !o.Works || o.State != Warning || o.Message != message {
			t.Errorf("observation: %+v", o)
		}
	}
	if got := b.s.took(); got != nil {
		t.Errorf("nothing is asked for: %q", got)
	}

	// Another field of the object is still repaired.
	b.s.edit(k, set(int64(9), "spec", "replicas"))
	if r := b.apply(s); len(r.Repaired) != 1 || len(r.Ceded) != 0 || b.replicas() != int64(1) {
		t.Errorf("another field: %+v, replicas %v", r, b.replicas())
	}

	// After a while, the engine tries again.
	now = now.Add(time.Hour)
	if o := b.observe(s); o.UpToDate {
		t.Errorf("it has to be tried again: %+v", o)
	}
	repairs, ceded = contend()
	if diff := cmp.Diff(want, ceded); diff != "" || repairs != ownership.MaxRepairs {
		t.Errorf("the second contention: %d repairs, -want, +got:\n%s", repairs, diff)
	}

	// The engine also tries again with other inputs. Now the other manager has given up.
	s.Installs[0] = install("web", deployOf(1, "a"), configMap("y"))
	b.reconcile(s)
	if o := b.observe(s); o.State != Ready {
		t.Errorf("observation after an upgrade: %+v", o)
	}
	if repairs, _ = contend(); repairs != ownership.MaxRepairs {
		t.Errorf("the third contention: %d repairs", repairs)
	}
}

// Repairs far apart are not contention, nor are repairs of fields that different managers changed.
func TestNoContention(t *testing.T) {
	b := newBench(t)
	now := time.Unix(1_700_000_000, 0)
	b.now = func() time.Time { return now }
	s := bundleOf(install("web", deployOf(1, "a")))
	b.reconcile(s)
	k := key("Deployment", "apps", "web")
	for i := range 4 * ownership.MaxRepairs {
		b.s.editAs(fmt.Sprintf("m%d/Update", i%4), k, set("theirs", "spec", "template", "spec", "image"))
		if r := b.apply(s); len(r.Repaired) != 1 || len(r.Ceded) != 0 {
			t.Fatalf("edit %d: %+v", i, r)
		}
		now = now.Add(ownership.Window / (ownership.MaxRepairs * 3))
	}
}

// An object that is deleted repeatedly is restored, but not in a loop.
func TestDeletedAgainAndAgain(t *testing.T) {
	b := newBench(t)
	now := time.Unix(1_700_000_000, 0)
	b.now = func() time.Time { return now }
	s := bundleOf(install("web", configMap("x")))
	b.reconcile(s)
	k := key("ConfigMap", "apps", "x")
	repairs := 0
	for range 100 {
		if b.s.uidOf(k) != "" {
			b.s.remove(k)
		}
		repairs += len(b.apply(s).Repaired)
		now = now.Add(time.Second)
	}
	if want := ownership.MaxRepairs + 1; repairs != want {
		t.Errorf("in 100 seconds it was restored %d times, want %d", repairs, want)
	}
	o := b.observe(s)
	if o.State != Warning || o.UpToDate || o.Works || o.Message !=
		"web: ConfigMap apps/x was deleted repeatedly and is restored once a minute; find the client that changes the object" {
		t.Errorf("observation: %+v", o)
	}
	now = now.Add(ownership.RestoreInterval)
	b.reconcile(s)
	if o := b.observe(s); o.State != Ready {
		t.Errorf("once it stays: %+v", o)
	}
}

// Regardless of the fields that other managers set, in the end nothing is left to do, the engine has reported each ceded field,
// and each field is either as desired or owned by a manager that the inventory names.
func TestCededProperty(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBench(t)
		now := time.Unix(1_700_000_000, 0)
		b.now = func() time.Time { return now }
		s := bundleOf(install("web", deployOf(1, "a"), tmplHPA))
		b.reconcile(s)
		k := key("Deployment", "apps", "web")
		for range 30 {
			switch r.IntN(6) {
			case 0:
				b.s.scale(k, r.Int64N(5), kcm)
			case 1, 2:
				b.s.editAs("other/Update", k, set(strconv.Itoa(r.Int()), "spec", "template", "spec", "image"))
			case 3:
				b.s.editAs("third/Update", k, func(u *unstructured.Unstructured) { u.SetLabels(nil) })
			case 4:
				now = now.Add(time.Duration(r.IntN(3)) * 20 * time.Minute)
			case 5:
				s.Installs[0] = install("web", deployOf(1, fmt.Sprintf("v%d", r.IntN(3))), tmplHPA)
			}
			now = now.Add(ownership.RestoreInterval)
			scaled := b.replicas()
			left := map[string]bool{}
			for _, en := range b.inventory(s).Objects {
				for i := range en.Ceded {
					left[en.Ceded[i].Field()] = true
				}
			}
			b.reconcile(s)
			if got := b.replicas(); got != scaled && (scaled != int64(1)) && left["spec.replicas"] {
				t.Fatalf("seed %d: replicas %v became %v", seed, scaled, got)
			}
			en := b.inventory(s).Find(k)
			sum, ok := b.c.Get(k)
			if !ok || sum.Owned != en.Owned {
				t.Fatalf("seed %d: it is not as it was applied: %+v", seed, en)
			}
		}
	}
}
