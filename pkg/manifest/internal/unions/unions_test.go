// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

// A leftover in comparable form.
type leftover struct{ Path, Wanted, Managers string }

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// entry returns an entry of managedFields of a manager that owns these fields.
func entry(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
}

func TestFind(t *testing.T) {
	type managed = []metav1.ManagedFieldsEntry
	const (
		defaulted = "spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}}"
		recreate  = "spec: {strategy: {type: Recreate}}"
	)
	cases := map[string]struct {
		reason     string
		kind       string
		want, live string
		managed    managed
		found      []leftover
	}{
		"Strategy": {
			reason: "A member that the API server defaulted for one type conflicts with another type.",
			want:   recreate, live: defaulted,
			managed: managed{entry("us", `{"f:spec":{"f:replicas":{}}}`)},
			found:   []leftover{{Path: "spec.strategy.rollingUpdate", Wanted: "spec.strategy.type Recreate"}},
		},
		"SameType": {
			reason: "A member does not conflict with its own type.",
			want:   "spec: {strategy: {type: RollingUpdate}}", live: defaulted,
		},
		"NoType": {
			reason: "Without a desired type, the API server sets the type of the member.",
			want:   "spec: {strategy: {}}", live: defaulted,
		},
		"TypeOfAnother": {
			reason: "Without a desired type, the type that another manager set counts.",
			want:   "spec: {strategy: {type: \"\"}}", live: "spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}",
			managed: managed{entry("kubectl", `{"f:spec":{"f:strategy":{"f:type":{}}}}`)},
			found:   []leftover{{Path: "spec.strategy.rollingUpdate", Wanted: "spec.strategy.type Recreate"}},
		},
		"Wanted": {
			reason: "A desired member is never a leftover, even if the API server refuses it.",
			want:   "spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}", live: defaulted,
		},
		"Ours": {
			reason: "Server-side apply removes a member that the engine owns.",
			want:   recreate, live: defaulted,
			managed: managed{entry("us", `{"f:spec":{"f:strategy":{"f:rollingUpdate":{"f:maxSurge":{}}}}}`)},
		},
		"Another": {
			reason: "A member that another manager owns in part belongs to that manager.",
			want:   recreate, live: defaulted,
			managed: managed{
				entry("us", `{"f:spec":{"f:strategy":{"f:rollingUpdate":{"f:maxSurge":{}}}}}`),
				entry("kubectl-edit", `{"f:spec":{"f:strategy":{"f:rollingUpdate":{"f:maxUnavailable":{}}}}}`),
				entry("argocd", `{"f:spec":{"f:strategy":{"f:rollingUpdate":{}}}}`),
				entry("status", `{"f:status":{"f:replicas":{}}}`),
			},
			found: []leftover{{Path: "spec.strategy.rollingUpdate", Wanted: "spec.strategy.type Recreate", Managers: "argocd, kubectl-edit"}},
		},
		"Null": {
			reason: "A member that is null does not count, in both objects.",
			want:   "spec: {strategy: {type: Recreate, rollingUpdate: null}}", live: "spec: {strategy: {type: Recreate, rollingUpdate: null}}",
		},
		"NullWanted": {
			reason: "A member that is set to null is not desired.",
			want:   "spec: {strategy: {type: Recreate, rollingUpdate: null}}", live: defaulted,
			found: []leftover{{Path: "spec.strategy.rollingUpdate", Wanted: "spec.strategy.type Recreate"}},
		},
		"NullOfOurs": {
			reason: "Server-side apply treats null as applying a struct, and does not remove it.",
			want:   "spec: {strategy: {type: Recreate, rollingUpdate: null}}", live: defaulted,
			managed: managed{entry("us", `{"f:spec":{"f:strategy":{"f:rollingUpdate":{"f:maxSurge":{}}}}}`)},
			found:   []leftover{{Path: "spec.strategy.rollingUpdate", Wanted: "spec.strategy.type Recreate"}},
		},
		"StatefulSet": {
			reason: "Another kind has another name for its strategy.",
			kind:   "StatefulSet",
			want:   "spec: {updateStrategy: {type: OnDelete}}", live: "spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}}",
			found: []leftover{{Path: "spec.updateStrategy.rollingUpdate", Wanted: "spec.updateStrategy.type OnDelete"}},
		},
		"DaemonSet": {
			reason: "The member of a DaemonSet does not conflict with another type.",
			kind:   "DaemonSet",
			want:   "spec: {updateStrategy: {type: OnDelete}}", live: "spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0}}}",
		},
		"Volume": {
			reason: "A volume without a source is an emptyDir. Other items of the list are ignored.",
			want:   "spec: {template: {spec: {volumes: [{name: new, emptyDir: {}}, {name: b, configMap: {name: x}}, {name: a}]}}}",
			live:   "spec: {template: {spec: {volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}, {name: c, emptyDir: {}}]}}}",
			found:  []leftover{{Path: `spec.template.spec.volumes[name="b"].emptyDir`, Wanted: `spec.template.spec.volumes[name="b"].configMap`}},
		},
		"CronJob": {
			reason: "Other kinds have their pod spec at another path.",
			kind:   "CronJob",
			want:   "spec: {jobTemplate: {spec: {template: {spec: {volumes: [{name: a, secret: {secretName: x}}]}}}}}",
			live:   "spec: {jobTemplate: {spec: {template: {spec: {volumes: [{name: a, emptyDir: {}}]}}}}}",
			found: []leftover{{
				Path:   `spec.jobTemplate.spec.template.spec.volumes[name="a"].emptyDir`,
				Wanted: `spec.jobTemplate.spec.template.spec.volumes[name="a"].secret`,
			}},
		},
		"Probe": {
			reason: "A handler that another manager owns in part is not removed with the parts that the engine owns.",
			want:   "spec: {template: {spec: {containers: [{name: web, livenessProbe: {exec: {command: [ok]}}}]}}}",
			live:   "spec: {template: {spec: {containers: [{name: web, livenessProbe: {httpGet: {path: /ok, port: 80, scheme: HTTP}}}]}}}",
			managed: managed{
				entry("us", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:livenessProbe":{"f:httpGet":{"f:port":{}}}}}}}}}`),
				entry("kubectl", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:livenessProbe":{"f:httpGet":{"f:path":{}}}}}}}}}`),
			},
			found: []leftover{{
				Path:     `spec.template.spec.containers[name="web"].livenessProbe.httpGet`,
				Wanted:   `spec.template.spec.containers[name="web"].livenessProbe.exec`,
				Managers: "kubectl",
			}},
		},
		"Variables": {
			reason: "Unions can be nested.",
			want:   "spec: {template: {spec: {initContainers: [{name: i, env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}, {name: B, valueFrom: {secretKeyRef: {name: x}}}]}]}}}",
			live:   "spec: {template: {spec: {initContainers: [{name: i, env: [{name: A, value: x}, {name: B, valueFrom: {configMapKeyRef: {name: x}}}]}]}}}",
			found: []leftover{
				{Path: `spec.template.spec.initContainers[name="i"].env[name="A"].value`, Wanted: `spec.template.spec.initContainers[name="i"].env[name="A"].valueFrom`},
				{
					Path:   `spec.template.spec.initContainers[name="i"].env[name="B"].valueFrom.configMapKeyRef`,
					Wanted: `spec.template.spec.initContainers[name="i"].env[name="B"].valueFrom.secretKeyRef`,
				},
			},
		},
		"OtherKind": {
			reason: "The strategy of an unknown kind is ignored.",
			kind:   "Service",
			want:   recreate, live: defaulted,
		},
		"Malformed": {
			reason: "Values of an unexpected type are left to the API server.",
			want:   "spec: {strategy: Recreate, template: {spec: {volumes: [a, {name: 1, secret: {}}, {}], containers: {}}}}",
			live:   "spec: {strategy: {rollingUpdate: {}}, template: {spec: {volumes: [a, {name: \"1\", emptyDir: {}}, {}], containers: {}}}}",
		},
		"Nothing": {reason: "Empty objects have no leftovers.", want: "{}", live: "{}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kinds := map[string]schema.GroupKind{"": {Group: "apps", Kind: "Deployment"}, "CronJob": {Group: "batch", Kind: "CronJob"}, "Service": {Kind: "Service"}}
			gk, ok := kinds[tc.kind]
			if !ok {
				gk = schema.GroupKind{Group: "apps", Kind: tc.kind}
			}
			var got []leftover
			for _, l := range Find(gk, object(t, tc.want), object(t, tc.live), tc.managed, func(e *metav1.ManagedFieldsEntry) bool { return e.Manager == "us" }) {
				got = append(got, leftover{Path: fieldset.Text(l.Path), Wanted: l.Wanted(), Managers: strings.Join(l.Managers, ", ")})
			}
			if diff := cmp.Diff(tc.found, got); diff != "" {
				t.Errorf("\n%s\nFind(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestKeep(t *testing.T) {
	want := object(t, "spec: {replicas: 2, strategy: {type: Recreate}, template: {spec: {volumes: [{name: a, configMap: {name: x}}]}}}")
	live := object(t, "spec: {replicas: 1, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}, template: {spec: {volumes: [{name: a, emptyDir: {}}]}}}")
	held := object(t, "spec: {replicas: 2, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}, template: {spec: {volumes: [{name: a, emptyDir: {}}]}}}")
	gk := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	found := Find(gk, want, live, nil, func(*metav1.ManagedFieldsEntry) bool { return false })
	if diff := cmp.Diff(held, Keep(want, live, found)); diff != "" {
		t.Errorf("\nThe unions are as they were, and all else is as wanted.\nKeep(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(live, Keep(object(t, "spec: {replicas: 1, strategy: {type: Recreate}, template: {spec: {volumes: [{name: a, secret: {}}]}}}"), live, found)); diff != "" {
		t.Errorf("\nIt is undone in the same way.\nKeep(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{}, Keep(map[string]any{}, live, found)); diff != "" {
		t.Errorf("\nWhat is not there stays away.\nKeep(...): -want, +got:\n%s", diff)
	}
}

func TestKnown(t *testing.T) {
	for gk := range strategies {
		if !Known(gk) {
			t.Errorf("%s has a strategy, and is not known", gk)
		}
	}
	if Known(schema.GroupKind{Kind: "Service"}) {
		t.Error("a Service has no leftovers, and is known")
	}
}
