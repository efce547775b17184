// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
)

var (
	first = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	last  = first.Add(time.Hour)
)

func recordChart() tree {
	return tree{
		"Chart.yaml": chartYAML("app", "appVersion: v9", "description: text"), "values.yaml": "a: 1\n", "README.md": "hello",
		"values.schema.json": `{"type":"object"}`, "templates/a.yaml": configMap("a", "x"), "templates/NOTES.txt": "note",
		"templates/h.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: h, annotations: {helm.sh/hook: test}}\n",
	}
}

// TestRecordsReadByHelm reads records with Helm's own driver.
func TestRecordsReadByHelm(t *testing.T) {
	r := mustRender(t, mustLoad(t, recordChart()), Options{ReleaseName: "rel", Namespace: "ns", Values: map[string]any{"b": map[string]any{"c": int64(2)}}})
	one, err := r.Draft.Encode(record.Options{Revision: 1, Status: "superseded", Description: "Install complete", FirstDeployed: first, LastDeployed: first})
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.Draft.Encode(record.Options{Revision: 2, Status: "deployed", Description: "Upgrade complete", FirstDeployed: first, LastDeployed: last, Labels: map[string]string{"mine": "x"}})
	if err != nil {
		t.Fatal(err)
	}

	wantMeta := metav1.ObjectMeta{
		Name: "sh.helm.release.v1.rel.v2", Namespace: "ns",
		Labels: map[string]string{"name": "rel", "owner": "helm", "status": "deployed", "version": "2", "modifiedAt": "1714982889", "mine": "x"},
	}
	if diff := cmp.Diff(wantMeta, two.ObjectMeta); diff != "" {
		t.Errorf("Secret: -want, +got:\n%s", diff)
	}
	if two.Type != "helm.sh/release.v1" || two.Kind != "Secret" || two.APIVersion != "v1" {
		t.Errorf("Secret: got %s %s of type %s", two.APIVersion, two.Kind, two.Type)
	}

	store := storage.Init(driver.NewSecrets(fake.NewClientset(one, two).CoreV1().Secrets("ns")))
	rel, err := store.Deployed("rel")
	if err != nil {
		t.Fatal(err)
	}
	hooks := []*release.Hook{{
		Name: "h", Kind: "Pod", Path: "app/templates/h.yaml", Events: []release.HookEvent{release.HookTest},
		Manifest: "apiVersion: v1\nkind: Pod\nmetadata: {name: h, annotations: {helm.sh/hook: test}}",
	}}
	type summary struct {
		Name, Namespace, Status, Description, Notes, Manifest string
		Version                                               int
		Config, Labels                                        any
		Chart                                                 any
		Templates, Files                                      int
		Schema                                                string
		Hooks                                                 []*release.Hook
		First, Last                                           time.Time
	}
	got := summary{
		rel.Name, rel.Namespace, rel.Info.Status.String(), rel.Info.Description, rel.Info.Notes, rel.Manifest, rel.Version, rel.Config,
		rel.Labels, rel.Chart.Metadata.Name + " " + rel.Chart.Metadata.Version + " " + rel.Chart.Metadata.AppVersion + " " + rel.Chart.Metadata.Description,
		len(rel.Chart.Templates), len(rel.Chart.Files), string(rel.Chart.Schema), rel.Hooks, rel.Info.FirstDeployed.Time.UTC(), rel.Info.LastDeployed.Time.UTC(),
	}
	want := summary{
		"rel", "ns", "deployed", "Upgrade complete", "note", "---\n# Source: app/templates/a.yaml\n" + configMap("a", "x"), 2,
		map[string]any{"b": map[string]any{"c": 2.0}}, rel.Labels, "app 1.2.3 v9 text", 3, 1, `{"type":"object"}`, hooks, first, last,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("release: -want, +got:\n%s", diff)
	}
	history, err := store.History("rel")
	if err != nil || len(history) != 2 {
		t.Errorf("history: want 2 revisions, got %d, %v", len(history), err)
	}
}
