// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	apiv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/gitopstest"
)

// TestGitOpsComposites checks how GitOps tools assess the composite resources of the configuration package. Crossplane writes
// their conditions, and copies the status of a composite resource to its claim.
func TestGitOpsComposites(t *testing.T) {
	one := func(state v1alpha1.State, reason xpv2.ConditionReason, stalled bool) step {
		return step{demand: wanted, stalled: stalled, status: v1alpha1.ModuleStatus{Name: "a", State: state, Reason: string(reason), Message: "x"}}
	}
	ready := one(v1alpha1.StateReady, xpv2.ReasonAvailable, false)
	failed := one(v1alpha1.StateError, v1alpha1.ReasonModuleFailed, true)
	installing := one(v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, false)
	ok := xpv2.ReconcileSuccess()
	for file, kind := range map[string]string{"composition.yaml": "KymaEnvironment", "claim-composition.yaml": "XKymaEnvironment"} {
		patches := statusPatches(t, file)
		// after returns the composite resource after passes with these modules. Function auto-ready considers a Kyma ready if its
		// condition Ready is True.
		after := func(synced xpv2.Condition, passes ...step) *unstructured.Unstructured {
			k := newKyma()
			for _, s := range passes {
				report(k, []step{s})
			}
			isReady := xpv2.Creating()
			if k.GetCondition(xpv2.TypeReady).Status == xpv2.Available().Status {
				isReady = xpv2.Available()
			}
			u := &unstructured.Unstructured{Object: patched(t, k, patches)}
			u.SetAPIVersion(gitopstest.PlatformGroup + "/v1alpha1")
			u.SetKind(kind)
			u.SetGeneration(1)
			setConditions(t, u, synced.WithObservedGeneration(1), isReady.WithObservedGeneration(1))
			return u
		}
		changed, deleted := after(ok, failed), after(ok, failed)
		changed.SetGeneration(2)
		deleted.SetDeletionTimestamp(&metav1.Time{Time: metav1.Now().Time})
		t.Run(kind, func(t *testing.T) {
			gitopstest.Check(t, map[string]gitopstest.Case{
				"Ready":      {Reason: "All modules are Ready.", Object: after(ok, ready), OK: true, Want: gitopstest.Works},
				"Installing": {Reason: "A module is being installed.", Object: after(ok, installing), Want: gitopstest.Waits},
				"Failed":     {Reason: "A module has failed, and only a change can fix it.", Object: after(ok, ready, failed), Want: gitopstest.FailedComposite},
				"Retried":    {Reason: "The failed module is being installed again.", Object: after(ok, failed, installing), Want: gitopstest.Waits},
				"Recovered":  {Reason: "The failed module works again.", Object: after(ok, failed, ready), OK: true, Want: gitopstest.Works},
				"Changed":    {Reason: "Crossplane has not processed the new spec yet.", Object: changed, Want: gitopstest.Waits},
				"NotSynced":  {Reason: "The pipeline failed.", Object: after(xpv2.ReconcileError(errors.New("no")), installing), Want: gitopstest.Refused},
				"Paused": {
					Reason: "The built-in rule of Argo CD does not know paused resources.", Object: after(xpv2.ReconcilePaused(), ready), OK: true,
					Want: gitopstest.Health{Kstatus: "Current", ArgoCD: "Degraded", Documented: "Suspended"},
				},
				"Deleting": {Reason: "The composite resource is being deleted.", Object: deleted, Want: gitopstest.Removed},
			})
		})
	}
}

// statusPatch is a patch of a composite resource with a field of the Kyma.
type statusPatch struct {
	Type          string `json:"type"`
	FromFieldPath string `json:"fromFieldPath"`
	ToFieldPath   string `json:"toFieldPath"`
}

// statusPatches returns the patches of the composite resource in a Composition of the configuration package.
func statusPatches(t *testing.T, file string) []statusPatch {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "package", "configuration", file))
	if err != nil {
		t.Fatal(err)
	}
	c := &apiv1.Composition{}
	if err := yaml.Unmarshal(data, c); err != nil {
		t.Fatal(err)
	}
	in := struct {
		Resources []struct {
			Name    string        `json:"name"`
			Patches []statusPatch `json:"patches"`
		} `json:"resources"`
	}{}
	if err := json.Unmarshal(c.Spec.Pipeline[0].Input.Raw, &in); err != nil {
		t.Fatal(err)
	}
	var out []statusPatch
	for _, r := range in.Resources {
		for _, p := range r.Patches {
			if r.Name == "kyma" && p.Type == "ToCompositeFieldPath" {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no patches of the composite resource", file)
	}
	return out
}

// patched returns the fields that the patches of a Kyma set in a composite resource. A patch of a field that does not exist has no
// effect.
func patched(t *testing.T, k *v1alpha1.Kyma, patches []statusPatch) map[string]any {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(k)
	if err != nil {
		t.Fatal(err)
	}
	out := fieldpath.Pave(map[string]any{})
	for _, p := range patches {
		value, err := fieldpath.Pave(content).GetValue(p.FromFieldPath)
		if fieldpath.IsNotFound(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := out.SetValue(p.ToFieldPath, value); err != nil {
			t.Fatal(err)
		}
	}
	return out.UnstructuredContent()
}

// setConditions sets the conditions of an object.
func setConditions(t *testing.T, u *unstructured.Unstructured, conditions ...xpv2.Condition) {
	t.Helper()
	s, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&xpv2.ConditionedStatus{Conditions: conditions})
	if err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(u.Object, s["conditions"], "status", "conditions"); err != nil {
		t.Fatal(err)
	}
}
