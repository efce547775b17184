// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
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

// TestRecordReadByHelm reads records with Helm's own driver.
func TestRecordReadByHelm(t *testing.T) {
	r := mustRender(t, mustLoad(t, recordChart()), Options{ReleaseName: "rel", Namespace: "ns", Values: map[string]any{"b": map[string]any{"c": int64(2)}}})
	one, err := r.Record(RecordOptions{Revision: 1, Status: "superseded", Description: "Install complete", FirstDeployed: first, LastDeployed: first})
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.Record(RecordOptions{Revision: 2, Status: "deployed", Description: "Upgrade complete", FirstDeployed: first, LastDeployed: last, Labels: map[string]string{"mine": "x"}})
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
		map[string]any{"b": map[string]any{"c": 2.0}}, rel.Labels, "app 1.2.3 v9 text", 3, 1, `{"type":"object"}`, r.release.Hooks, first, last,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("release: -want, +got:\n%s", diff)
	}
	history, err := store.History("rel")
	if err != nil || len(history) != 2 {
		t.Errorf("history: want 2 revisions, got %d, %v", len(history), err)
	}
}

func TestRecordRoundTrip(t *testing.T) {
	r := mustRender(t, mustLoad(t, recordChart()), Options{ReleaseName: "rel", Namespace: "ns"})
	o := RecordOptions{Revision: 3, Status: "deployed", Description: "d", FirstDeployed: first, LastDeployed: last}
	s, err := r.Record(o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Record(o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Errorf("two records of the same must be equal:\n%s", diff)
	}

	i, err := DecodeRecord(s.Data["release"])
	if err != nil {
		t.Fatal(err)
	}
	want := RecordInfo{
		Name: "rel", Namespace: "ns", Revision: 3, Status: "deployed", Description: "d", ChartName: "app", ChartVersion: "1.2.3", AppVersion: "v9",
		Manifest: r.Manifest(), FirstDeployed: first, LastDeployed: last, release: i.release,
	}
	if diff := cmp.Diff(want, *i, cmp.AllowUnexported(RecordInfo{}), cmp.Comparer(func(a, b *release.Release) bool { return a == b })); diff != "" {
		t.Errorf("DecodeRecord(...): -want, +got:\n%s", diff)
	}
	objs, err := Objects([]byte(i.Manifest))
	if diff := cmp.Diff([]string{"ConfigMap/a"}, names(objs)); diff != "" || err != nil {
		t.Errorf("Objects(manifest): %v, -want, +got:\n%s", err, diff)
	}

	i.Labels = map[string]string{"mine": "x", "status": "deployed", "owner": "helm"}
	old, err := i.WithStatus("superseded")
	if err != nil {
		t.Fatal(err)
	}
	if old.Labels["status"] != "superseded" || old.Labels["mine"] != "x" || old.Name != s.Name {
		t.Errorf("WithStatus: got %s with labels %v", old.Name, old.Labels)
	}
	o.Status, o.Labels = "superseded", map[string]string{"mine": "x"}
	same, err := r.Record(o)
	if diff := cmp.Diff(same, old); diff != "" || err != nil {
		t.Errorf("WithStatus must give what Record gives: %v\n%s", err, diff)
	}
	if i.Status != "deployed" {
		t.Error("WithStatus must not change the RecordInfo")
	}
}

func TestRecordErrors(t *testing.T) {
	r := mustRender(t, mustLoad(t, recordChart()), Options{})
	_, err := r.Record(RecordOptions{Labels: map[string]string{"owner": "me"}})
	if got := text(err); !strings.HasPrefix(got, "labels of a release record must not be any of") {
		t.Errorf("labels: got %q", got)
	}

	for name, data := range map[string]string{"Empty": "", "NotBase64": "%%%", "NotJSON": "YWJj", "NotGzip": "H4sIAAAA", "NoName": "e30="} {
		if _, err := DecodeRecord([]byte(data)); err == nil || !strings.HasPrefix(err.Error(), "cannot read release record: ") {
			t.Errorf("%s: DecodeRecord(...): got %v", name, err)
		}
	}
	bomb, err := pack(make([]byte, maxRecordSize+1), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeRecord(bomb); !strings.Contains(text(err), "bytes unpacked") {
		t.Errorf("bomb: DecodeRecord(...): got %v", err)
	}
}
