// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

const widgetCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org},
  spec: {group: example.org, scope: Cluster, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true}]}}`

const (
	widget = "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: x}}"
	// changing renders a different object each time.
	changing = "{apiVersion: v1, kind: ConfigMap, metadata: {name: rendered}, data: {k: {{ randAlphaNum 5 | quote }}}}"
)

// recordOf returns the record of a revision of a chart with a template.
func recordOf(t *testing.T, template string) *record.Info {
	t.Helper()
	in := chartOf("web", template)
	var caches *Caches
	chart, err := caches.loadChart(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := chart.Render(t.Context(), render.Options{ReleaseName: "web", Namespace: "apps", Revision: 1, KubeVersion: "v1.36.0"})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := r.Draft.Encode(record.Options{Revision: 1, Status: record.StatusDeployed})
	if err != nil {
		t.Fatal(err)
	}
	info, err := record.Decode(secret.Data["release"])
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestCompose checks which objects a part has, and what is queried for them.
func TestCompose(t *testing.T) {
	type args struct {
		bundle    bundle.Bundle
		part      object.PartID
		rec       inventory.Part
		history   history
		rollsBack bool
	}
	type want struct {
		Objects []string
		Asked   []string
		Err     string
	}
	crds, notCRDs, nothing := layerOf("crd.yaml", widgetCRD, "README.md", "# not YAML"), layerOf("a.yaml", configMap("a")), layerOf("README.md", "none")
	installs := func(in ...bundle.Install) bundle.Bundle { return bundle.Bundle{Name: "team-a-web", Installs: in} }
	repair := inventory.Part{Digest: "equal", Revision: 3}
	resumes := inventory.Part{Run: &inventory.Run{Inputs: "equal", Recorded: true, Revision: 4}}
	kustomization := bundle.Install{Name: "web", Namespace: "apps", Form: bundle.FormKustomize, Path: "overlay", Layer: layerOf(
		"base/kustomization.yaml", "resources: [a.yaml]", "base/a.yaml", configMap("a"),
		"overlay/kustomization.yaml", "resources: [../base]\nnamePrefix: my-")}
	climbing := kustomization
	climbing.Path = "../x"
	valued := plainOf("web", configMap("a"))
	valued.Values = map[string]any{"a": "b"}
	recorded := recordOf(t, configMap("recorded"))
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"CRDs":         {reason: "Only files of YAML are read.", args: args{bundle: bundle.Bundle{CRDs: &crds}, part: object.PartCRDs}, want: want{Objects: []string{"CustomResourceDefinition widgets.example.org"}}},
		"NotCRDs":      {reason: "A layer of CRDs must not contain anything else.", args: args{bundle: bundle.Bundle{CRDs: &notCRDs}, part: object.PartCRDs}, want: want{Err: "a.yaml: ConfigMap a is not a CustomResourceDefinition"}},
		"NoCRDs":       {reason: "An empty layer is an error.", args: args{bundle: bundle.Bundle{CRDs: &nothing}, part: object.PartCRDs}, want: want{Err: "the layer contains no CustomResourceDefinition"}},
		"Plain":        {reason: "Plain objects are used as they are, and a CRD may come before objects of its kind.", args: args{bundle: installs(plainOf("web", widgetCRD, widget, configMap("a"))), part: "web"}, want: want{Objects: []string{"CustomResourceDefinition widgets.example.org", "Widget w", "ConfigMap apps/a"}}},
		"PlainEmpty":   {reason: "A layer without objects is an error.", args: args{bundle: installs(plainOf("web")), part: "web"}, want: want{Err: "no objects found"}},
		"PlainSyntax":  {reason: "The error names a file that cannot be read.", args: args{bundle: installs(plainOf("web", "a: b: c")), part: "web"}, want: want{Err: "0.yaml: "}},
		"PlainValues":  {reason: "Plain objects have no values.", args: args{bundle: installs(valued), part: "web"}, want: want{Err: "values are only supported for charts, but this install is plain objects; remove them"}},
		"UnknownKind":  {reason: "The error names a kind that the cluster does not serve, and its object.", args: args{bundle: installs(plainOf("web", widget)), part: "web"}, want: want{Err: "Widget x/w: the cluster does not serve kind Widget in example.org/v1"}},
		"Twice":        {reason: "Two objects with the same name are an error.", args: args{bundle: installs(plainOf("web", configMap("a"), configMap("a"))), part: "web"}, want: want{Err: "duplicate object ConfigMap apps/a"}},
		"Inventories":  {reason: "The namespace of all inventories belongs to no bundle.", args: args{bundle: installs(plainOf("web", "{apiVersion: v1, kind: Namespace, metadata: {name: kyma-system}}", configMap("a"))), part: "web"}, want: want{Objects: []string{"ConfigMap apps/a"}}},
		"Inventory":    {reason: "The inventory cannot be an object of its bundle.", args: args{bundle: installs(plainOf("web", "{apiVersion: v1, kind: Secret, metadata: {name: team-a-web, namespace: kyma-system}}")), part: "web"}, want: want{Err: "Secret kyma-system/team-a-web has the same name as the inventory of this module; rename the object"}},
		"Kustomize":    {reason: "A kustomization is built in its directory.", args: args{bundle: installs(kustomization), part: "web"}, want: want{Objects: []string{"ConfigMap apps/my-a"}}},
		"Climbing":     {reason: "A directory must be in the layer.", args: args{bundle: installs(climbing), part: "web"}, want: want{Err: `path "../x" must be a directory in the layer, without a leading slash and without ..`}},
		"Resource":     {reason: "A custom resource without a namespace is in the default one.", args: args{bundle: bundle.Bundle{Resource: unmarshal(t, configMap("r"))}, part: object.PartResource}, want: want{Objects: []string{"ConfigMap default/r"}}},
		"Chart":        {reason: "A chart queries only the version of the cluster.", args: args{bundle: installs(chartOf("web", configMap("a"))), part: "web"}, want: want{Objects: []string{"ConfigMap apps/a"}, Asked: []string{"version"}}},
		"APIVersions":  {reason: "A chart that needs the API versions of the cluster gets them.", args: args{bundle: installs(chartOf("web", "{{ if .Capabilities.APIVersions.Has \"example.org/v1\" }}\n"+configMap("a")+"\n{{ end }}")), part: "web"}, want: want{Objects: []string{"ConfigMap apps/a"}, Asked: []string{"version", "API versions"}}},
		"Next":         {reason: "An error about the next revision fails the part.", args: args{bundle: installs(chartOf("web", configMap("a"))), part: "web", history: history{err: errors.New("is taken")}}, want: want{Err: "is taken"}},
		"Changing":     {reason: "The first revision has the objects as rendered.", args: args{bundle: installs(chartOf("web", changing)), part: "web"}, want: want{Objects: []string{"ConfigMap apps/rendered"}, Asked: []string{"version"}}},
		"Repair":       {reason: "A repair of a chart that renders differently each time uses the recorded objects.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rec: repair, history: history{recorded: recorded}}, want: want{Objects: []string{"ConfigMap apps/recorded"}, Asked: []string{"version"}}},
		"RepairPure":   {reason: "A repair of a chart that renders the same objects each time renders it.", args: args{bundle: installs(chartOf("web", configMap("a"))), part: "web", rec: repair, history: history{recorded: recorded}}, want: want{Objects: []string{"ConfigMap apps/a"}, Asked: []string{"version"}}},
		"RepairLost":   {reason: "Without the record, it cannot be repaired.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rec: repair}, want: want{Asked: []string{"version"}, Err: "the record of release web revision 3 no longer exists, and the chart renders differently each time, so the revision cannot be restored; change a value to install a new one"}},
		"Resumes":      {reason: "A revision whose hooks are running continues with the recorded objects.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rec: resumes, history: history{recorded: recorded}}, want: want{Objects: []string{"ConfigMap apps/recorded"}, Asked: []string{"version"}}},
		"ResumesLost":  {reason: "Without the record, the chart is rendered.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rec: resumes}, want: want{Objects: []string{"ConfigMap apps/rendered"}, Asked: []string{"version"}}},
		"Deployed":     {reason: "A deployed revision of which the inventory doesn't know keeps the recorded objects.", args: args{bundle: installs(chartOf("web", changing)), part: "web", history: history{recorded: recorded, state: release.AlreadyDeployed}}, want: want{Objects: []string{"ConfigMap apps/recorded"}, Asked: []string{"version"}}},
		"DeployedLost": {reason: "If its record was deleted meanwhile, the chart is rendered.", args: args{bundle: installs(chartOf("web", changing)), part: "web", history: history{state: release.AlreadyDeployed}}, want: want{Objects: []string{"ConfigMap apps/rendered"}, Asked: []string{"version"}}},
		"DeployedPure": {reason: "A chart that renders the same objects each time is rendered.", args: args{bundle: installs(chartOf("web", configMap("a"))), part: "web", history: history{recorded: recorded, state: release.AlreadyDeployed}}, want: want{Objects: []string{"ConfigMap apps/a"}, Asked: []string{"version"}}},
		"RollBackLost": {reason: "A rollback is refused if the record no longer exists: it would replace random values.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rec: inventory.Part{Digest: "old", Revision: 3}, rollsBack: true}, want: want{Err: "no record of release web has the objects that the rollback restores, and the chart renders differently each time; change a value to install a new revision", Asked: []string{"version"}}},
		"RollBackNew":  {reason: "If no revision was deployed, a rollback renders the chart, because no random values are in use.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rollsBack: true}, want: want{Objects: []string{"ConfigMap apps/rendered"}, Asked: []string{"version"}}},
		"RollBackOn":   {reason: "A rollback continues with the recorded objects.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rec: inventory.Part{Revision: 3, Run: resumes.Run}, rollsBack: true, history: history{recorded: recorded}}, want: want{Objects: []string{"ConfigMap apps/recorded"}, Asked: []string{"version"}}},
		"RollBack":     {reason: "A rollback restores the objects recorded for that revision.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rollsBack: true, history: history{recorded: recorded, backTo: 2}}, want: want{Objects: []string{"ConfigMap apps/recorded"}, Asked: []string{"version"}}},
		"RollBackNone": {reason: "Without such a revision, the chart is rendered.", args: args{bundle: installs(chartOf("web", changing)), part: "web", rollsBack: true}, want: want{Objects: []string{"ConfigMap apps/rendered"}, Asked: []string{"version"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := composerOf(&tc.args.bundle)
			c.Releases, c.RollsBack = &tc.args.history, tc.args.rollsBack
			got := want{}
			out, err := c.Compose(t.Context(), partOf(t, &tc.args.bundle, tc.args.part), tc.args.rec)
			if err == nil {
				got.Objects = refs(out.Objects)
			}
			got.Asked, got.Err = c.Environment.(*target).asked, textOf(err)
			if tc.want.Err != "" && strings.HasPrefix(got.Err, tc.want.Err) {
				got.Err = tc.want.Err
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCompose(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestComponent checks the other fields of a component.
func TestComponent(t *testing.T) {
	type want struct {
		Release     string
		Record      inventory.Part
		Repair      bool
		Next        release.Next
		Labels      []string
		Annotations []string
		Stage       object.Stage
		CRD         string
		KeepNS      bool
		Recreate    bool
	}
	chart, plain := chartOf("web", configMap("a")), plainOf("web", configMap("a"))
	cases := map[string]struct {
		reason string
		bundle bundle.Bundle
		part   object.PartID
		rec    inventory.Part
		want   want
	}{
		"Chart": {
			reason: "Objects of a chart are marked as those of a release. Until all are applied, the inputs are unknown.",
			bundle: bundle.Bundle{Installs: []bundle.Install{chart}}, part: "web", rec: inventory.Part{Digest: "other", Revision: 2, Shared: []string{"x"}},
			want: want{
				Record: inventory.Part{Revision: 2}, Next: release.Next{Number: 3, Before: 2}, Stage: object.StageConfiguration, CRD: "configmaps.",
				Labels: []string{object.LabelHelmManagedBy, object.LabelPartOf}, Annotations: []string{object.AnnotationReleaseName, object.AnnotationReleaseNamespace},
			},
		},
		"Repair": {
			reason: "A repair keeps the record.",
			bundle: bundle.Bundle{Installs: []bundle.Install{plain}}, part: "web", rec: inventory.Part{Digest: "equal", Shared: []string{"x"}},
			want: want{
				Record: inventory.Part{Digest: "equal", Shared: []string{"x"}}, Repair: true, Next: release.Next{Number: 1},
				Stage: object.StageConfiguration, CRD: "configmaps.", Labels: []string{object.LabelPartOf},
			},
		},
		"Config": {
			reason: "The config determines how objects are applied, and what the record must know about it.",
			bundle: bundle.Bundle{
				Installs: []bundle.Install{plain}, Config: configLayer("configs: [{name: web, clientConfig: 'CreateNamespace=false,Force=true,Wait=true,Timeout=1m'}]"),
			},
			part: "web",
			want: want{
				Record: inventory.Part{Wait: true, HookTimeout: 60}, Next: release.Next{Number: 1}, KeepNS: true, Recreate: true,
				Stage: object.StageConfiguration, CRD: "configmaps.", Labels: []string{object.LabelPartOf},
			},
		},
		"Resource": {
			reason: "The custom resource comes last, and has no release.",
			bundle: bundle.Bundle{Resource: unmarshal(t, configMap("r"))}, part: object.PartResource,
			want: want{Stage: object.StageResource, CRD: "configmaps.", Labels: []string{object.LabelPartOf}},
		},
		"Transform": {
			reason: "Transforms change objects before the engine does.",
			bundle: bundle.Bundle{Resource: unmarshal(t, configMap("r")), Transforms: []bundle.Transform{{
				Digest: "t", Func: func(_ context.Context, u *unstructured.Unstructured) error {
					u.SetLabels(map[string]string{"team": "a", object.LabelPartOf: "you"})
					return nil
				},
			}}},
			part: object.PartResource,
			want: want{Stage: object.StageResource, CRD: "configmaps.", Labels: []string{object.LabelPartOf, "team"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := composerOf(&tc.bundle).Compose(t.Context(), partOf(t, &tc.bundle, tc.part), tc.rec)
			if err != nil || len(out.Objects) != 1 {
				t.Fatalf("\n%s\nCompose(...): %v, %+v", tc.reason, err, out)
			}
			o := &out.Objects[0]
			got := want{
				Record: out.Record, Repair: out.Purpose == Repair, Next: out.Next, Stage: o.Stage, CRD: o.CRD, KeepNS: o.KeepNamespaces, Recreate: o.Recreate,
				Labels: sortedKeys(labelsOf(t, o)), Annotations: sortedKeys(o.Annotations()),
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nCompose(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
