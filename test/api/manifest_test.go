// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	dnsLabel  = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
	states    = " enum Ready,Processing,Warning,Error,Deleting"
	modules   = "spec.forProvider.modules"
	installs  = "spec.forProvider.installs"
	immutable = "providerConfigRef is immutable: a %s cannot be moved to another cluster; delete it and create a new one"
	notDigest = "ref must be a digest (sha256: followed by 64 hexadecimal digits); tags are not allowed"
)

// sources returns the paths of one source of each type, in an object with all of them in one list.
type sources struct{ schema, layer, registry, repository, kustomize, inline, raw string }

func sourcesIn(list string) sources {
	at := func(i int) string { return fmt.Sprintf("%s[%d].source", list, i) }
	return sources{list + "[].source", at(0), at(1), at(2), at(3), at(4), at(5)}
}

func TestManifestRules(t *testing.T) {
	breaches := manifestBreaches()
	maps.Copy(breaches, managedBreaches("Manifest"))
	maps.Copy(breaches, readinessBreaches("spec.forProvider.readiness"))
	maps.Copy(breaches, componentBreaches("spec.forProvider.component"))
	maps.Copy(breaches, sourceBreaches(sourcesIn(installs)))
	maps.Copy(breaches, layerBreaches("spec.forProvider.config"))
	maps.Copy(breaches, layerBreaches("spec.forProvider.crds"))
	maps.Copy(breaches, installationBreaches("spec.forProvider", "spec.forProvider"))
	maps.Copy(breaches, valuesBreaches(installs+"[]", installs+"[0]", 32))
	maps.Copy(breaches, confinementBreaches("spec.forProvider.allowed"))
	maps.Copy(breaches, impersonationBreaches("spec.forProvider"))
	maps.Copy(breaches, outcomeBreaches())
	maps.Copy(breaches, driftBreaches())
	maps.Copy(breaches, cededBreaches())
	maps.Copy(breaches, conditionBreaches())
	testBreaches(t, "manifests", fullManifest, statusOfManifest, breaches)
}

func manifestBreaches() map[string]breach {
	install := func(i int) any {
		return map[string]any{"name": fmt.Sprint("i", i), "source": map[string]any{"type": "raw", "inline": "{}"}}
	}
	return map[string]breach{
		"spec required forProvider": missing("spec.forProvider"),
		"spec.forProvider cel descriptor and component are mutually exclusive": {
			set: fields{"spec.forProvider.descriptor": map[string]any{}}, field: "spec.forProvider",
		},
		"spec.forProvider.component required digest":     missing("spec.forProvider.component.digest"),
		"spec.forProvider.component.digest maxLength 71": {elsewhere: "TestTwoComplaints"},
		"spec.forProvider.component.digest pattern ^sha256:[0-9a-f]{64}$": {
			set: fields{"spec.forProvider.component.digest": "1.0.0"},
		},
		"spec.forProvider cel at least one of installs, crds and resource must be set": {
			set: fields{"spec.forProvider": map[string]any{"installs": []any{}}},
			ok:  fields{"spec.forProvider": map[string]any{"installs": []any{install(0)}}},
		},
		"spec.forProvider cel an install must not be named crds when crds is set": {
			set: fields{installs + "[0].name": "crds"}, field: "spec.forProvider", ok: fields{installs + "[0].name": "resource"},
		},
		"spec.forProvider cel an install must not be named resource when resource is set": {
			set:   fields{installs + "[0].name": "resource", "spec.forProvider.customResourcePolicy": "CreateAndDelete"},
			field: "spec.forProvider", ok: fields{installs + "[0].name": "crds", "spec.forProvider.crds": gone{}},
		},
		"spec.forProvider.allowed.moduleTemplate maxLength 253":             tooLong("spec.forProvider.allowed.moduleTemplate", "", 253),
		"spec.forProvider.version maxLength 255":                            tooLong("spec.forProvider.version", "", 255),
		"spec.forProvider.customResourcePolicy enum CreateAndDelete,Ignore": unknown("spec.forProvider.customResourcePolicy"),

		installs + " maxItems 32": tooMany(installs, 32, install),
		installs + " cel the names of installs must be unique": {
			set: fields{installs + "[1].name": "layer"}, field: installs, ok: fields{installs + "[1].name": "layer2"},
		},
		installs + "[] required name":            missing(installs + "[0].name"),
		installs + "[] required source":          missing(installs + "[0].source"),
		installs + "[].name minLength 1":         {elsewhere: "TestTwoComplaints"},
		installs + "[].name maxLength 53":        tooLong(installs+"[0].name", "", 53),
		installs + "[].name pattern " + dnsLabel: {set: fields{installs + "[0].name": "Upper"}, ok: fields{installs + "[0].name": "0-a"}},

		installs + "[].namespace minLength 1":         {elsewhere: "TestTwoComplaints"},
		installs + "[].namespace maxLength 63":        tooLong(installs+"[0].namespace", "", 63),
		installs + "[].namespace pattern " + dnsLabel: {set: fields{installs + "[0].namespace": "a."}, ok: fields{installs + "[0].namespace": "a"}},

		"spec.forProvider.resource embedded": {set: fields{"spec.forProvider.resource.kind": ""}},
		"spec.forProvider.resource cel metadata.name of the resource is required": {
			set: fields{"spec.forProvider.resource.metadata": map[string]any{"namespace": "kyma-system"}}, field: "spec.forProvider.resource",
			ok: fields{"spec.forProvider.resource.metadata": map[string]any{"name": "default"}},
		},

		"status.atProvider.state" + states:           unknown("status.atProvider.state"),
		"status.atProvider.clusterUID maxLength 64":  tooLong("status.atProvider.clusterUID", "", 64),
		"status.atProvider.resources required ready": missing("status.atProvider.resources.ready"),
		"status.atProvider.resources required total": missing("status.atProvider.resources.total"),
		"status.atProvider.installs maxItems 34": tooMany("status.atProvider.installs", 34, func(i int) any {
			return map[string]any{"name": fmt.Sprint("i", i), "state": "Ready"}
		}),
		"status.atProvider.installs keys name":        twice("status.atProvider.installs", "name", "layer"),
		"status.atProvider.installs[] required name":  missing("status.atProvider.installs[0].name"),
		"status.atProvider.installs[] required state": missing("status.atProvider.installs[0].state"),
		"status.atProvider.installs[].state" + states: unknown("status.atProvider.installs[0].state"),
	}
}

// managedBreaches returns the breaches that all managed resources have in common.
func managedBreaches(kind string) map[string]breach {
	return map[string]breach{
		"required spec": missing("spec"),
		"spec cel " + fmt.Sprintf(immutable, kind): {elsewhere: "TestUpdate"},
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
	}
}

func readinessBreaches(at string) map[string]breach {
	return map[string]breach{
		at + " maxItems 16":                    tooMany(at, 16, func(int) any { return map[string]any{"cel": "true"} }),
		at + "[] required cel":                 missing(at + "[0].cel"),
		at + "[].cel minLength 1":              empty(at + "[0].cel"),
		at + "[].cel maxLength 4096":           tooLong(at+"[0].cel", "", 4096),
		at + "[].for required apiVersion":      missing(at + "[0].for.apiVersion"),
		at + "[].for required kind":            missing(at + "[0].for.kind"),
		at + "[].for.apiVersion minLength 1":   empty(at + "[0].for.apiVersion"),
		at + "[].for.kind minLength 1":         empty(at + "[0].for.kind"),
		at + "[].for.apiVersion maxLength 317": tooLong(at+"[0].for.apiVersion", "", 317),
		at + "[].for.kind maxLength 63":        tooLong(at+"[0].for.kind", "", 63),
	}
}

func componentBreaches(at string) map[string]breach {
	return map[string]breach{
		at + " required repository":      missing(at + ".repository"),
		at + " required name":            missing(at + ".name"),
		at + " required version":         missing(at + ".version"),
		at + ".repository minLength 1":   {elsewhere: "TestTwoComplaints"},
		at + ".repository maxLength 512": tooLong(at+".repository", "", 512),
		at + ".repository pattern ^[^@\\s]+$": {
			set: fields{at + ".repository": "user@registry.example.org"}, ok: fields{at + ".repository": "[::1]:5000/a"},
		},
		at + ".name maxLength 255": tooLong(at+".name", "a.bc/", 255),
		at + ".name pattern ^[a-z0-9.\\-]+[.][a-z][a-z]+/[-a-z0-9/_.]*$": {
			set: fields{at + ".name": "template-operator"}, ok: fields{at + ".name": "kyma-project.io/a/b_c"},
		},
		at + ".version minLength 1":                    empty(at + ".version"),
		at + ".version maxLength 128":                  tooLong(at+".version", "", 128),
		at + ".nameMapping enum urlPath,sha256-digest": unknown(at + ".nameMapping"),
	}
}

func sourceBreaches(at sources) map[string]breach {
	is := at.schema
	name, repo := is+".name pattern ^[^@:\\s]+$", is+".repo pattern ^[^@\\s]+$"
	return map[string]breach{
		is + " required type":                                                          missing(at.layer + ".type"),
		is + ".type enum oci-ref,helm-chart,kustomize,raw":                             unknown(at.layer + ".type"),
		is + " cel repo, name and ref are required when type is oci-ref":               {set: fields{at.layer + ".ref": gone{}}, field: at.layer},
		is + " cel url and chartName are required when type is helm-chart":             {set: fields{at.registry + ".chartName": gone{}}, field: at.registry},
		is + " cel url, chartName and version can be set only when type is helm-chart": {set: fields{at.layer + ".version": "1.0.0"}, field: at.layer},
		is + " cel repo, name and ref must not be set when type is helm-chart":         {set: fields{at.repository + ".ref": digest}, field: at.repository},
		is + " cel version is required when url begins with oci://; it must be a tag, or a digest sha256:…": {
			set: fields{at.registry + ".version": gone{}}, field: at.registry,
		},
		is + " cel repo, name and ref are required when type is kustomize": {set: fields{at.kustomize + ".repo": gone{}}, field: at.kustomize},
		is + " cel either inline, or repo, name and ref are required when type is raw": {
			set: fields{at.inline + ".repo": "registry.example.org/modules"}, field: at.inline,
		},
		is + " cel inline can be set only when type is raw":     {set: fields{at.layer + ".inline": "{}"}, field: at.layer},
		is + " cel path can be set only when type is kustomize": {set: fields{at.raw + ".path": "config"}, field: at.raw},

		name:                         {set: fields{at.layer + ".name": "x:latest"}, ok: fields{at.layer + ".name": "a/b"}},
		is + ".name maxLength 255":   tooLong(at.layer+".name", "", 255),
		repo:                         {set: fields{at.layer + ".repo": "user@registry.example.org"}, ok: fields{at.layer + ".repo": "[::1]:5000/a"}},
		is + ".repo maxLength 512":   tooLong(at.layer+".repo", "", 512),
		is + ".ref maxLength 71":     {elsewhere: "TestTwoComplaints"},
		is + ".ref cel " + notDigest: {set: fields{at.layer + ".ref": "1.0.5"}},
		is + ".url maxLength 2048":   tooLong(at.registry+".url", "oci://", 2048),
		is + ".url cel url must begin with oci://, https:// or http://, followed by a host": {
			set: fields{at.repository + ".url": "charts.example.org"}, ok: fields{at.repository + ".url": "http://s"},
		},
		is + ".url cel url must not contain credentials; set them in spec.registries of the ProviderConfig": {
			set: fields{at.repository + ".url": "https://user:password@charts.example.org"}, ok: fields{at.repository + ".url": "https://c/a@b"},
		},
		is + ".chartName maxLength 253": tooLong(at.registry+".chartName", "", 253),
		is + ".chartName pattern ^[A-Za-z0-9]([-A-Za-z0-9._/]*[A-Za-z0-9])?$": {
			set: fields{at.registry + ".chartName": "../mysql"}, ok: fields{at.registry + ".chartName": "my/sql-2.x"},
		},
		is + ".version minLength 1":     empty(at.registry + ".version"),
		is + ".version maxLength 128":   tooLong(at.registry+".version", "", 128),
		is + ".path maxLength 1024":     tooLong(at.kustomize+".path", "", 1024),
		is + ".inline minLength 1":      empty(at.inline + ".inline"),
		is + ".inline maxLength 262144": tooLong(at.inline+".inline", "", 262144),
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

// conditionBreaches returns the breaches for conditions, which each kind has.
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
	maps.Copy(out, timeBreaches("status.conditions[].lastTransitionTime", "status.conditions[0].lastTransitionTime"))
	return out
}

// TestUpdate checks the rules that compare an object with its previous version.
func TestUpdate(t *testing.T) {
	cases := map[string]struct {
		reason string
		set    fields
		// moves is true if the change must be rejected because it moves the object to another cluster.
		moves bool
	}{
		"OtherName": {
			reason: "If the cluster could change, the objects would be orphaned in the old cluster.",
			set:    fields{"spec.providerConfigRef.name": "cluster-b"}, moves: true,
		},
		"OtherKind": {
			reason: "A ClusterProviderConfig with the same name is a different cluster.",
			set:    fields{"spec.providerConfigRef.kind": "ClusterProviderConfig"}, moves: true,
		},
		"Removed": {
			reason: "The default config can be a different cluster.",
			set:    fields{"spec.providerConfigRef": gone{}}, moves: true,
		},
		"NothingLeft": {
			reason: "The installs can change.",
			set:    fields{installs: []any{}},
		},
		"NoModules": {
			reason: "Modules can be disabled.",
			set:    fields{modules: []any{}},
		},
		"NewValues": {
			reason: "Values can change.",
			set:    fields{installs + "[0].values": map[string]any{"other": true}},
		},
		"NewValuesOfModule": {
			reason: "Values can change.",
			set:    fields{modules + "[0].values": map[string]any{"other": true}},
		},
		"NewChannel": {
			reason: "The channel can change.",
			set:    fields{modules + "[0].channel": "fast", "spec.forProvider.channel": "regular"},
		},
	}
	for kind, full := range map[string]string{"Manifest": fullManifest, "Kyma": fullKyma} {
		live := create(t, named(object(t, full), "updated"))
		for name, tc := range cases {
			if !tc.moves && !has(live, tc.set) {
				continue
			}
			t.Run(kind+name, func(t *testing.T) {
				o := live.DeepCopy()
				set(t, o, tc.set)
				_, err := of(kind).Update(t.Context(), o, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"})
				if tc.moves {
					checkRefusal(t, err, "spec", fmt.Sprintf(immutable, kind))
					return
				}
				if err != nil {
					t.Errorf("%s The server refuses: %v", tc.reason, err)
				}
			})
		}
	}
}

// has reports whether an object already has fields.
func has(o *unstructured.Unstructured, f fields) bool {
	for path := range f {
		if get(o, path) == nil {
			return false
		}
	}
	return true
}
