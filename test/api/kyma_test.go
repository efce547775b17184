// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	channel    = "^[a-z][a-z0-9-]*[a-z0-9]$"
	moduleName = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
	duration   = `^([0-9]+(\.[0-9]+)?(s|m|h))+$`
)

func TestKymaRules(t *testing.T) {
	breaches := kymaBreaches()
	maps.Copy(breaches, managedBreaches("Kyma"))
	maps.Copy(breaches, channelBreaches("spec.forProvider.channel", "spec.forProvider.channel"))
	breaches["spec.forProvider.mode enum Apply,Plan"] = unknown("spec.forProvider.mode")
	maps.Copy(breaches, channelBreaches(modules+"[].channel", modules+"[0].channel"))
	maps.Copy(breaches, installationBreaches(modules+"[]", modules+"[0]"))
	maps.Copy(breaches, valuesBreaches(modules+"[]", modules+"[0]", 16))
	maps.Copy(breaches, valuesBreaches(modules+"[].installs[]", modules+"[0].installs[0]", 16))
	maps.Copy(breaches, tooLongEach("spec.resourceRefs[]", map[string]int{"apiVersion": 253, "kind": 63, "name": 253}))
	maps.Copy(breaches, tooLongEach("status.atProvider", map[string]int{
		"message": 1024, "reason": 64, "stalled.reason": 64, "stalled.message": 1024, "activeChannel": 32, "modulesReady": 16,
		"modules[].name": 63, "modules[].version": 255, "modules[].channel": 63, "modules[].manifest": 253, "modules[].message": 1024, "modules[].reason": 64,
		"modules[].pendingVersion": 255, "modules[].rolledBackFrom": 255,
	}))
	maps.Copy(breaches, conditionBreaches())
	maps.Copy(breaches, timeBreaches("spec.forProvider.deferUpgradesUntil", "spec.forProvider.deferUpgradesUntil"))
	testBreaches(t, "kymas", fullKyma, statusOfKyma, breaches)
}

func kymaBreaches() map[string]breach {
	module := func(i int) any { return map[string]any{"name": fmt.Sprint("m", i)} }
	const (
		status = "status.atProvider.modules"
		own    = modules + "[].installs"
		first  = modules + "[0].installs"

		windows = "spec.forProvider.maintenanceWindows"
	)
	return map[string]breach{
		modules + " maxItems 64":         tooMany(modules, 64, module),
		modules + " keys name":           twice(modules, "name", "istio"),
		modules + "[] required name":     missing(modules + "[0].name"),
		modules + "[].name minLength 1":  {elsewhere: "TestTwoComplaints"},
		modules + "[].name maxLength 63": tooLong(modules+"[0].name", "", 63),
		modules + "[].name pattern " + moduleName: {
			set: fields{modules + "[0].name": "Istio"}, ok: fields{modules + "[0].name": "api-gateway.v2"},
		},
		modules + "[].customResourcePolicy enum CreateAndDelete,Ignore": unknown(modules + "[0].customResourcePolicy"),

		own + " maxItems 32":                tooMany(first, 32, module),
		own + " keys name":                  twice(first, "name", "web"),
		own + "[] required name":            missing(first + "[0].name"),
		own + "[].name minLength 1":         {elsewhere: "TestTwoComplaints"},
		own + "[].name maxLength 53":        tooLong(first+"[0].name", "", 53),
		own + "[].name pattern " + dnsLabel: {set: fields{first + "[0].name": "Web"}, ok: fields{first + "[0].name": "web-1"}},

		"spec.resourceRefs maxItems 128": tooMany("spec.resourceRefs", 128, func(i int) any {
			return map[string]any{"apiVersion": "v1", "kind": "K", "name": fmt.Sprint("m", i)}
		}),
		"spec.resourceRefs[] required apiVersion": missing("spec.resourceRefs[0].apiVersion"),
		"spec.resourceRefs[] required kind":       missing("spec.resourceRefs[0].kind"),
		"spec.resourceRefs[] required name":       missing("spec.resourceRefs[0].name"),

		"status.atProvider.state" + states: unknown("status.atProvider.state"),
		status + " maxItems 128": tooMany(status, 128, func(i int) any {
			return map[string]any{"name": fmt.Sprint("m", i), "state": "Ready"}
		}),
		status + " keys name":                    twice(status, "name", "istio"),
		status + "[] required name":              missing(status + "[0].name"),
		status + "[] required state":             missing(status + "[0].state"),
		status + "[].state" + states:             unknown(status + "[0].state"),
		status + "[].reason maxLength 64":        tooLong(status+"[0].reason", "", 64),
		status + "[].origin enum Kyma,Mandatory": unknown(status + "[0].origin"),
		modules + "[].version minLength 1":       {set: fields{modules + "[1].version": ""}},
		modules + "[].version maxLength 128":     tooLong(modules+"[1].version", "", 128),
		modules + "[] cel channel and version are mutually exclusive; remove one of them": {
			set: fields{modules + "[1].channel": "fast"}, field: modules + "[1]",
		},
		windows + " maxItems 16": tooMany(windows, 16, func(int) any {
			return map[string]any{"schedule": "0 2 * * *", "duration": "1h"}
		}),
		windows + "[] required schedule":                                 missing(windows + "[0].schedule"),
		windows + "[] required duration":                                 missing(windows + "[0].duration"),
		windows + "[].schedule minLength 9":                              {set: fields{windows + "[0].schedule": "0 2 * * "}},
		windows + "[].schedule maxLength 100":                            tooLong(windows+"[0].schedule", "", 100),
		windows + "[].timeZone maxLength 64":                             tooLong(windows+"[0].timeZone", "", 64),
		windows + "[].duration maxLength 32":                             {set: fields{windows + "[0].duration": "1h" + strings.Repeat("0", 31) + "s"}},
		windows + "[].duration pattern " + duration:                      {elsewhere: "TestTwoComplaints"},
		windows + "[].duration cel duration must be between 1m and 168h": {set: fields{windows + "[0].duration": "59s"}, ok: fields{windows + "[0].duration": "168h"}},

		"status.atProvider.stalled required reason":     missing("status.atProvider.stalled.reason"),
		"status.atProvider.moduleCounts required ready": missing("status.atProvider.moduleCounts.ready"),
		"status.atProvider.moduleCounts required total": missing("status.atProvider.moduleCounts.total"),
	}
}

// channelBreaches returns the breaches for a channel. at is the path in the schema, and in is the path in the full object.
func channelBreaches(at, in string) map[string]breach {
	return map[string]breach{
		at + " minLength 3":        {set: fields{in: "ab"}, ok: fields{in: "abc"}},
		at + " maxLength 32":       tooLong(in, "", 32),
		at + " pattern " + channel: {set: fields{in: "fast-"}, ok: fields{in: "fast-1"}},
	}
}

func TestModuleTemplateRules(t *testing.T) {
	breaches := templateBreaches()
	maps.Copy(breaches, channelBreaches("spec.channel", "spec.channel"))
	maps.Copy(breaches, componentBreaches("spec.component"))
	maps.Copy(breaches, confinementBreaches("spec.allowed"))
	maps.Copy(breaches, map[string]breach{
		"spec.allowed.values maxItems 128":    tooMany("spec.allowed.values", 128, func(i int) any { return fmt.Sprint("v", i) }),
		"spec.allowed.values[] minLength 1":   empty("spec.allowed.values[0]"),
		"spec.allowed.values[] maxLength 250": tooLong("spec.allowed.values[0]", "", 250),
	})
	maps.Copy(breaches, readinessBreaches("spec.readiness"))
	maps.Copy(breaches, sourceBreaches(sourcesIn("status.resources")))
	maps.Copy(breaches, tooLongEach("status", map[string]int{
		"lastHandledReconcileAt": 1024, "moduleName": 63, "version": 255, "digest": 71,
		"resources[].name": 255, "resources[].component": 255, "resources[].type": 255, "resources[].version": 255, "resources[].install": 53,
	}))
	maps.Copy(breaches, conditionBreaches())
	testBreaches(t, "moduletemplates", fullTemplate, statusOfTemplate, breaches)
}

func templateBreaches() map[string]breach {
	const need = "spec cel exactly one of descriptor and component must be set"
	return map[string]breach{
		"required spec":              missing("spec"),
		"spec.version minLength 1":   empty("spec.version"),
		"spec.version maxLength 128": tooLong("spec.version", "", 128),
		need: {
			set: fields{"spec.descriptor": map[string]any{}}, field: "spec",
			ok: fields{"spec": map[string]any{"channel": "fast", "descriptor": map[string]any{"component": map[string]any{}}}},
		},
		"spec.moduleName maxLength 63": tooLong("spec.moduleName", "", 63),
		"spec.moduleName pattern " + moduleName: {
			set: fields{"spec.moduleName": "-sample"}, ok: fields{"spec.moduleName": "s"},
		},
		"spec.target enum remote,control-plane": unknown("spec.target"),
		"spec.data embedded":                    {set: fields{"spec.data.kind": ""}},

		// The server does not validate embedded objects in a status.
		"status.data embedded": {elsewhere: "nowhere"},
		"status.resources maxItems 256": tooMany("status.resources", 256, func(i int) any {
			return map[string]any{"name": fmt.Sprint("r", i), "type": "ociImage", "use": "None"}
		}),
		"status.resources[] required name":                                    missing("status.resources[0].name"),
		"status.resources[] required type":                                    missing("status.resources[0].type"),
		"status.resources[] required use":                                     missing("status.resources[0].use"),
		"status.resources[].use enum Install,CRDs,Config,CustomResource,None": unknown("status.resources[0].use"),
	}
}

// A ModuleTemplate with neither descriptor nor component breaks the same rule as one with both.
func TestModuleTemplateWithoutSource(t *testing.T) {
	b := breach{set: fields{"spec.component": gone{}}, field: "spec"}
	b.refused(t, object(t, fullTemplate), dryRun, "exactly one of descriptor and component must be set")
}

// Signed content, and content that module teams write, is stored unchanged.
func TestFreeFieldsOfModules(t *testing.T) {
	descriptor := map[string]any{
		"meta": map[string]any{"schemaVersion": "v2"}, "signatures": []any{},
		"component": map[string]any{"name": "kyma-project.io/module/x", "unknown": []any{nil, int64(1), "two", map[string]any{}}},
	}
	template, manifest, kyma := object(t, fullTemplate), object(t, fullManifest), object(t, fullKyma)
	set(t, template, fields{"spec.component": gone{}})
	set(t, template, fields{"spec.descriptor": descriptor})
	set(t, manifest, fields{"spec.forProvider.component": gone{}})
	set(t, manifest, fields{"spec.forProvider.descriptor": descriptor})
	for path, in := range map[string]*unstructured.Unstructured{
		"spec.descriptor": template, "spec.data": template, "spec.forProvider.descriptor": manifest, modules + "[0].values": kyma,
	} {
		t.Run(strings.ReplaceAll(path, ".", "_"), func(t *testing.T) {
			out, err := dryRun(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(toJSON(t, get(in, path)), toJSON(t, get(out, path))); diff != "" {
				t.Errorf("%s: -sent, +kept:\n%s", path, diff)
			}
		})
	}
}
