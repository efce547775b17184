// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"strings"
)

// installationBreaches returns the breaches for the settings of an installation, in a Manifest and in a module of a Kyma. at is
// the path in the schema, and in is the path in the full object.
func installationBreaches(at, in string) map[string]breach {
	return map[string]breach{
		at + ".drift enum Repair,Report,Ignore":       unknown(in + ".drift"),
		at + ".adoption enum Refuse,Adopt":            unknown(in + ".adoption"),
		at + ".mode enum Apply,Plan":                  unknown(in + ".mode"),
		at + ".immutableFields enum Refuse,Recreate":  unknown(in + ".immutableFields"),
		at + ".rollback.trigger enum Failed,NotReady": unknown(in + ".rollback.trigger"),
		at + ".rollback.after maxLength 32":           {set: fields{in + ".rollback.after": "1h" + strings.Repeat("0", 31) + "s"}},
		at + ".rollback.after cel after must be a duration": {
			set: fields{in + ".rollback.after": "99999999999999h"}, ok: fields{in + ".rollback.after": "9999h"},
		},
		at + ".rollback.after pattern " + durations: {elsewhere: "TestTwoComplaints"},
	}
}

// timeBreaches returns the breaches for a time. at is the path in the schema, and in is the path in the full object.
func timeBreaches(at, in string) map[string]breach {
	return map[string]breach{
		at + " maxLength 64": {set: fields{in: "2026-12-01T00:00:00." + strings.Repeat("0", 64) + "Z"}},
		at + " cel must be a time such as 2026-12-01T00:00:00Z": {
			set: fields{in: "2026-12-01T00:00:00+99:99"}, ok: fields{in: "2026-12-01T00:00:00.5+01:00"},
		},
	}
}

const durations = `^([0-9]+(\.[0-9]+)?(s|m|h))+$`

// valuesBreaches returns the breaches for references to values.
func valuesBreaches(at, in string, most int) map[string]breach {
	at += ".valuesFrom"
	first := in + ".valuesFrom[0]"
	reference := func(i int) any { return map[string]any{"kind": "Secret", "name": fmt.Sprint("s", i)} }
	return map[string]breach{
		fmt.Sprint(at, " maxItems ", most):      tooMany(in+".valuesFrom", most, reference),
		at + "[] required kind":                 missing(first + ".kind"),
		at + "[] required name":                 missing(first + ".name"),
		at + "[].kind enum Secret,ConfigMap":    unknown(first + ".kind"),
		at + "[].name minLength 1":              empty(first + ".name"),
		at + "[].name maxLength 253":            tooLong(first+".name", "", 253),
		at + "[].key minLength 1":               {elsewhere: "TestTwoComplaints"},
		at + "[].key maxLength 253":             tooLong(first+".key", "", 253),
		at + "[].key pattern ^[-._a-zA-Z0-9]+$": {set: fields{first + ".key": "a/b"}, ok: fields{first + ".key": "a-b_C.1"}},
		at + "[].targetPath minLength 1":        empty(first + ".targetPath"),
		at + "[].targetPath maxLength 250":      tooLong(first+".targetPath", "", 250),
	}
}

// outcomeBreaches returns the breaches for plans, rollbacks and tests in the status of a Manifest.
func outcomeBreaches() map[string]breach {
	const at = "status.atProvider."
	out := map[string]breach{
		at + "plan.objects maxItems 64": tooMany(at+"plan.objects", 64, func(i int) any {
			return map[string]any{"action": "Create", "kind": "ConfigMap", "name": fmt.Sprint("x", i)}
		}),
		at + "plan.objects[] required action":                          missing(at + "plan.objects[0].action"),
		at + "plan.objects[].action enum Create,Change,Recreate,Prune": unknown(at + "plan.objects[0].action"),
		at + "tests.state" + states:                                    unknown(at + "tests.state"),
		at + "tests.tests maxItems 64": tooMany(at+"tests.tests", 64, func(i int) any {
			return map[string]any{"install": "i", "kind": "Pod", "name": fmt.Sprint("x", i), "state": "Ready"}
		}),
		at + "tests.tests[].state" + states: unknown(at + "tests.tests[0].state"),
	}
	maps.Copy(out, tooLongEach("status.atProvider", map[string]int{
		"version": 255, "message": 1024, "installs[].name": 53, "installs[].version": 255, "installs[].message": 1024, "plan.message": 1024,
		"tests.token": 1024, "tests.tests[].install": 53, "tests.tests[].message": 1024,
		"rollback.desired": 128, "rollback.version": 255, "rollback.message": 1024,
	}))
	for _, f := range []string{"create", "change", "prune"} {
		out[at+"plan required "+f] = missing(at + "plan." + f)
	}
	for _, f := range []string{"desired", "since"} {
		out[at+"rollback required "+f] = missing(at + "rollback." + f)
	}
	for _, f := range []string{"token", "state"} {
		out[at+"tests required "+f] = missing(at + "tests." + f)
	}
	for _, f := range []string{"install", "state"} {
		out[at+"tests.tests[] required "+f] = missing(at + "tests.tests[0]." + f)
	}
	for _, f := range []string{"drift.observedTime", "rollback.since"} {
		maps.Copy(out, timeBreaches(at+f, at+f))
	}
	for _, list := range []string{"plan.objects", "drift.objects"} {
		maps.Copy(out, fieldsBreaches(at+list))
	}
	for _, list := range []string{"plan.objects", "drift.objects", "cededFields"} {
		out[at+list+"[].group maxLength 253"] = tooLong(at+list+"[0].group", "", 253)
	}
	for _, list := range []string{"plan.objects", "drift.objects", "cededFields", "tests.tests"} {
		maps.Copy(out, referenceBreaches(at+list))
	}
	return out
}

// driftBreaches returns the breaches for drift in the status of a Manifest.
func driftBreaches() map[string]breach {
	const at = "status.atProvider.drift"
	return map[string]breach{
		at + " required observedTime": missing(at + ".observedTime"),
		at + " required objects":      missing(at + ".objects"),
		at + ".objects maxItems 32": tooMany(at+".objects", 32, func(i int) any {
			return map[string]any{"change": "Deleted", "kind": "ConfigMap", "name": fmt.Sprint("x", i)}
		}),
		at + ".objects[] required change":                                                missing(at + ".objects[0].change"),
		at + ".objects[].change enum Changed,Deleted,Replaced,ReplacedByOther,TakenOver": unknown(at + ".objects[0].change"),
	}
}

// cededBreaches returns the breaches for ceded fields in the status of a Manifest.
func cededBreaches() map[string]breach {
	const at = "status.atProvider.cededFields"
	return map[string]breach{
		at + " maxItems 32": tooMany(at, 32, func(i int) any {
			return map[string]any{"kind": "ConfigMap", "name": fmt.Sprint("x", i), "field": "data.k", "cause": "Conflict"}
		}),
		at + "[] required field":                 missing(at + "[0].field"),
		at + "[] required cause":                 missing(at + "[0].cause"),
		at + "[].field maxLength 512":            tooLong(at+"[0].field", "", 512),
		at + "[].manager maxLength 128":          tooLong(at+"[0].manager", "", 128),
		at + "[].cause enum Convention,Conflict": unknown(at + "[0].cause"),
	}
}

// fieldsBreaches returns the breaches for the fields of objects in a list.
func fieldsBreaches(list string) map[string]breach {
	return map[string]breach{
		list + "[].fields maxItems 16":     tooMany(list+"[0].fields", 16, func(i int) any { return fmt.Sprint("data.k", i) }),
		list + "[].fields[] maxLength 512": tooLong(list+"[0].fields[0]", "", 512),
	}
}

// referenceBreaches returns the breaches for references to objects in a list.
func referenceBreaches(list string) map[string]breach {
	return map[string]breach{
		list + "[] required kind":          missing(list + "[0].kind"),
		list + "[] required name":          missing(list + "[0].name"),
		list + "[].kind maxLength 63":      tooLong(list+"[0].kind", "", 63),
		list + "[].namespace maxLength 63": tooLong(list+"[0].namespace", "", 63),
		list + "[].name maxLength 253":     tooLong(list+"[0].name", "", 253),
	}
}

const kindPattern = `^([A-Za-z][A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?|\*\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$`

// confinementBreaches returns the breaches of rules for the restrictions on the objects of a module.
func confinementBreaches(at string) map[string]breach {
	return map[string]breach{
		at + ".namespaces minItems 1":          {set: fields{at + ".namespaces": []any{}}},
		at + ".namespaces maxItems 64":         tooMany(at+".namespaces", 64, func(i int) any { return fmt.Sprint("n", i) }),
		at + ".namespaces[] minLength 1":       empty(at + ".namespaces[0]"),
		at + ".namespaces[] maxLength 63":      tooLong(at+".namespaces[0]", "", 63),
		at + ".kinds minItems 1":               {set: fields{at + ".kinds": []any{}}},
		at + ".kinds maxItems 128":             tooMany(at+".kinds", 128, func(i int) any { return fmt.Sprint("Kind", i) }),
		at + ".kinds[] maxLength 317":          tooLong(at+".kinds[0]", "", 317),
		at + ".kinds[] pattern " + kindPattern: {set: fields{at + ".kinds[0]": "*"}, ok: fields{at + ".kinds[0]": "Deployment.apps"}},
	}
}

// impersonationBreaches returns the breaches of rules for an impersonated ServiceAccount.
func impersonationBreaches(at string) map[string]breach {
	at += ".impersonate"
	account := at + ".serviceAccount"
	return map[string]breach{
		at + " required serviceAccount":     missing(account),
		account + " required name":          missing(account + ".name"),
		account + ".name minLength 1":       empty(account + ".name"),
		account + ".name maxLength 253":     tooLong(account+".name", "", 253),
		account + ".namespace minLength 1":  empty(account + ".namespace"),
		account + ".namespace maxLength 63": tooLong(account+".namespace", "", 63),
	}
}
