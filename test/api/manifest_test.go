// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	dnsLabel  = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
	installs  = "spec.forProvider.installs"
	immutable = "providerConfigRef is immutable: a Manifest cannot move to another cluster, delete it and create another"
	notDigest = "ref must be a digest, sha256: and 64 hexadecimal digits; a tag is not accepted"
)

// The installs of the full Manifest, by their source.
const (
	layer      = installs + "[0].source"
	registry   = installs + "[1].source"
	repository = installs + "[2].source"
	kustomize  = installs + "[3].source"
	inline     = installs + "[4].source"
	raw        = installs + "[5].source"
)

func TestManifestRules(t *testing.T) {
	breaches := manifestBreaches()
	maps.Copy(breaches, sourceBreaches())
	maps.Copy(breaches, layerBreaches("spec.forProvider.config"))
	maps.Copy(breaches, layerBreaches("spec.forProvider.crds"))
	maps.Copy(breaches, conditionBreaches())
	testBreaches(t, "manifests", fullManifest, statusOfManifest, breaches)
}

func manifestBreaches() map[string]breach {
	install := func(i int) any {
		return map[string]any{"name": fmt.Sprint("i", i), "source": map[string]any{"type": "raw", "inline": "{}"}}
	}
	rule := func(int) any { return map[string]any{"cel": "true"} }
	states := " enum Ready,Processing,Warning,Error,Deleting"
	return map[string]breach{
		"required spec":             missing("spec"),
		"spec required forProvider": missing("spec.forProvider"),
		"spec cel " + immutable:     {elsewhere: "TestManifestUpdate"},
		"spec cel providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig": {
			set: fields{"spec.providerConfigRef.kind": "Secret"}, ok: fields{"spec.providerConfigRef.kind": "ClusterProviderConfig"},
			field: "spec",
		},
		"spec.providerConfigRef required kind":          missing("spec.providerConfigRef.kind"),
		"spec.providerConfigRef required name":          missing("spec.providerConfigRef.name"),
		"spec.writeConnectionSecretToRef required name": missing("spec.writeConnectionSecretToRef.name"),
		"spec.managementPolicies[] enum Observe,Create,Update,Delete,LateInitialize,*": {
			set: fields{"spec.managementPolicies": []any{"Unknown"}}, field: "spec.managementPolicies[0]",
			ok: fields{"spec.managementPolicies": []any{"Observe", "Create", "Update", "LateInitialize", "Delete"}},
		},

		"spec.forProvider cel a Manifest needs installs, crds or a resource": {
			set: fields{"spec.forProvider": map[string]any{"installs": []any{}}},
			ok:  fields{"spec.forProvider": map[string]any{"installs": []any{install(0)}}},
		},
		"spec.forProvider.version maxLength 128":                            tooLong("spec.forProvider.version", "", 128),
		"spec.forProvider.customResourcePolicy enum CreateAndDelete,Ignore": unknown("spec.forProvider.customResourcePolicy"),

		installs + " maxItems 32":                tooMany(installs, 32, install),
		installs + " keys name":                  twice(installs, "name", "layer"),
		installs + "[] required name":            missing(installs + "[0].name"),
		installs + "[] required source":          missing(installs + "[0].source"),
		installs + "[].name minLength 1":         {elsewhere: "TestTwoComplaints"},
		installs + "[].name maxLength 53":        tooLong(installs+"[0].name", "", 53),
		installs + "[].name pattern " + dnsLabel: {set: fields{installs + "[0].name": "Upper"}, ok: fields{installs + "[0].name": "0-a"}},

		installs + "[].namespace minLength 1":         {elsewhere: "TestTwoComplaints"},
		installs + "[].namespace maxLength 63":        tooLong(installs+"[0].namespace", "", 63),
		installs + "[].namespace pattern " + dnsLabel: {set: fields{installs + "[0].namespace": "a."}, ok: fields{installs + "[0].namespace": "a"}},

		"spec.forProvider.readiness maxItems 16":                  tooMany("spec.forProvider.readiness", 16, rule),
		"spec.forProvider.readiness[] required cel":               missing("spec.forProvider.readiness[0].cel"),
		"spec.forProvider.readiness[].cel minLength 1":            empty("spec.forProvider.readiness[0].cel"),
		"spec.forProvider.readiness[].cel maxLength 4096":         tooLong("spec.forProvider.readiness[0].cel", "", 4096),
		"spec.forProvider.readiness[].for required apiVersion":    missing("spec.forProvider.readiness[0].for.apiVersion"),
		"spec.forProvider.readiness[].for required kind":          missing("spec.forProvider.readiness[0].for.kind"),
		"spec.forProvider.readiness[].for.apiVersion minLength 1": empty("spec.forProvider.readiness[0].for.apiVersion"),
		"spec.forProvider.readiness[].for.kind minLength 1":       empty("spec.forProvider.readiness[0].for.kind"),

		"spec.forProvider.resource embedded": {set: fields{"spec.forProvider.resource.kind": ""}},
		"spec.forProvider.resource cel resource needs metadata.name": {
			set: fields{"spec.forProvider.resource.metadata": map[string]any{"namespace": "kyma-system"}}, field: "spec.forProvider.resource",
			ok: fields{"spec.forProvider.resource.metadata": map[string]any{"name": "default"}},
		},

		"status.atProvider.state" + states:            unknown("status.atProvider.state"),
		"status.atProvider.lastDrift maxLength 2048":  tooLong("status.atProvider.lastDrift", "", 2048),
		"status.atProvider.resources required ready":  missing("status.atProvider.resources.ready"),
		"status.atProvider.resources required total":  missing("status.atProvider.resources.total"),
		"status.atProvider.installs keys name":        twice("status.atProvider.installs", "name", "layer"),
		"status.atProvider.installs[] required name":  missing("status.atProvider.installs[0].name"),
		"status.atProvider.installs[] required state": missing("status.atProvider.installs[0].state"),
		"status.atProvider.installs[].state" + states: unknown("status.atProvider.installs[0].state"),
	}
}

func sourceBreaches() map[string]breach {
	is := installs + "[].source"
	name, repo := is+".name pattern ^[^@:\\s]+$", is+".repo pattern ^[^@\\s]+$"
	return map[string]breach{
		is + " required type":                                            missing(layer + ".type"),
		is + ".type enum oci-ref,helm-chart,kustomize,raw":               unknown(layer + ".type"),
		is + " cel type oci-ref needs repo, name and ref":                {set: fields{layer + ".ref": gone{}}, field: layer},
		is + " cel type helm-chart needs url and chartName":              {set: fields{registry + ".chartName": gone{}}, field: registry},
		is + " cel url, chartName and version belong to type helm-chart": {set: fields{layer + ".version": "1.0.0"}, field: layer},
		is + " cel repo, name and ref do not belong to type helm-chart":  {set: fields{repository + ".ref": digest}, field: repository},
		is + " cel a chart from an oci:// url needs a version: a tag, or a digest sha256:…": {
			set: fields{registry + ".version": gone{}}, field: registry,
		},
		is + " cel type kustomize needs repo, name and ref": {set: fields{kustomize + ".repo": gone{}}, field: kustomize},
		is + " cel type raw needs either inline, or repo, name and ref": {
			set: fields{inline + ".repo": "registry.example.org/modules"}, field: inline,
		},
		is + " cel inline belongs to type raw":     {set: fields{layer + ".inline": "{}"}, field: layer},
		is + " cel path belongs to type kustomize": {set: fields{raw + ".path": "config"}, field: raw},

		name:                         {set: fields{layer + ".name": "x:latest"}, ok: fields{layer + ".name": "a/b"}},
		is + ".name maxLength 255":   tooLong(layer+".name", "", 255),
		repo:                         {set: fields{layer + ".repo": "user@registry.example.org"}, ok: fields{layer + ".repo": "[::1]:5000/a"}},
		is + ".repo maxLength 512":   tooLong(layer+".repo", "", 512),
		is + ".ref maxLength 71":     {elsewhere: "TestTwoComplaints"},
		is + ".ref cel " + notDigest: {set: fields{layer + ".ref": "1.0.5"}},
		is + ".url maxLength 2048":   tooLong(registry+".url", "oci://", 2048),
		is + ".url cel url must begin with oci://, https:// or http:// and a host": {
			set: fields{repository + ".url": "charts.example.org"}, ok: fields{repository + ".url": "http://s"},
		},
		is + ".url cel url must not hold credentials, which belong into the ProviderConfig's registries": {
			set: fields{repository + ".url": "https://user:password@charts.example.org"}, ok: fields{repository + ".url": "https://c/a@b"},
		},
		is + ".chartName maxLength 253": tooLong(registry+".chartName", "", 253),
		is + ".chartName pattern ^[A-Za-z0-9]([-A-Za-z0-9._/]*[A-Za-z0-9])?$": {
			set: fields{registry + ".chartName": "../mysql"}, ok: fields{registry + ".chartName": "my/sql-2.x"},
		},
		is + ".version minLength 1":     empty(registry + ".version"),
		is + ".version maxLength 128":   tooLong(registry+".version", "", 128),
		is + ".path maxLength 1024":     tooLong(kustomize+".path", "", 1024),
		is + ".inline minLength 1":      empty(inline + ".inline"),
		is + ".inline maxLength 262144": tooLong(inline+".inline", "", 262144),
	}
}

func layerBreaches(at string) map[string]breach {
	return map[string]breach{
		at + " required name":            missing(at + ".name"),
		at + " required ref":             missing(at + ".ref"),
		at + " required repo":            missing(at + ".repo"),
		at + " required type":            missing(at + ".type"),
		at + ".type enum oci-ref":        {set: fields{at + ".type": "raw"}},
		at + ".name pattern ^[^@:\\s]+$": {set: fields{at + ".name": "x y"}},
		at + ".name maxLength 255":       tooLong(at+".name", "", 255),
		at + ".repo pattern ^[^@\\s]+$":  {set: fields{at + ".repo": "a b"}},
		at + ".repo maxLength 512":       tooLong(at+".repo", "", 512),
		at + ".ref maxLength 71":         {elsewhere: "TestTwoComplaints"},
		at + ".ref cel " + notDigest:     {set: fields{at + ".ref": "latest"}},
	}
}

// conditionBreaches are those of the status that each kind has.
func conditionBreaches() map[string]breach {
	out := map[string]breach{"status.conditions keys type": {
		set: fields{"status.conditions": []any{
			map[string]any{"type": "Ready", "status": "True", "reason": "A", "lastTransitionTime": "2020-01-01T00:00:00Z"},
			map[string]any{"type": "Ready", "status": "True", "reason": "B", "lastTransitionTime": "2020-01-01T00:00:00Z"},
		}}, field: "status.conditions[1]",
	}}
	for _, f := range []string{"lastTransitionTime", "reason", "status", "type"} {
		out["status.conditions[] required "+f] = missing("status.conditions[0]." + f)
	}
	return out
}

// TestManifestUpdate holds the rules that compare with what was before.
func TestManifestUpdate(t *testing.T) {
	live := create(t, object(t, fullManifest))
	cases := map[string]struct {
		reason string
		set    fields
		// field and text of the complaint; none: the change is accepted.
		field, text string
	}{
		"OtherName": {
			reason: "A Manifest that moved to another cluster would be orphaned in the old one.",
			set:    fields{"spec.providerConfigRef.name": "cluster-b"}, field: "spec", text: immutable,
		},
		"OtherKind": {
			reason: "A ClusterProviderConfig of the same name is another cluster too.",
			set:    fields{"spec.providerConfigRef.kind": "ClusterProviderConfig"}, field: "spec", text: immutable,
		},
		"Removed": {
			reason: "The default would be another cluster.",
			set:    fields{"spec.providerConfigRef": gone{}}, field: "spec", text: immutable,
		},
		"NewInstalls": {
			reason: "What is installed may change.",
			set:    fields{installs: []any{}},
		},
		"NewValues": {
			reason: "Values may change.",
			set:    fields{installs + "[0].values": map[string]any{"other": true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := live.DeepCopy()
			set(t, o, tc.set)
			_, err := of("Manifest").Update(t.Context(), o, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"})
			if tc.text != "" {
				checkRefusal(t, err, tc.field, tc.text)
				return
			}
			if err != nil {
				t.Errorf("%s The server refuses: %v", tc.reason, err)
			}
		})
	}
}
