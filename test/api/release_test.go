// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

const (
	fullRelease = `
apiVersion: kyma.m.crossplane.io/v1alpha1
kind: ModuleReleaseMeta
metadata: {name: full}
spec:
  moduleName: sample
  ocmComponentName: kyma-project.io/module/sample
  channels:
  - {channel: fast, version: 1.1.0, rolloutPolicy: careful, paused: true, abortedVersion: 1.0.9, retry: again}
  - {channel: regular, version: 1.0.0}
  kymaSelector: {matchLabels: {tier: gold}, matchExpressions: [{key: ring, operator: In, values: [canary]}]}
`
	statusOfRelease = `
conditions:
- {type: Ready, status: "True", reason: Available, lastTransitionTime: "2020-01-01T00:00:00Z"}
channels:
- {channel: fast, version: 1.1.0, previous: 1.0.0, phase: Failed, wave: 1, waveName: rest, threshold: 17, startedAt: "2020-01-01T00:00:00Z",
   wavesDigest: none, batchStartedAt: "2020-01-01T00:00:00Z", soakingSince: "2020-01-01T00:00:00Z", retry: again, total: 3, updated: 2, ready: 1, failed: 1,
   offline: 0, waiting: 0, failures: [{namespace: team-a, name: kyma, message: wrong}], message: wrong}
- {channel: regular, version: 1.0.0, phase: Complete}
`
	fullPolicy = `
apiVersion: kyma.m.crossplane.io/v1alpha1
kind: RolloutPolicy
metadata: {name: full}
spec:
  waves:
  - {name: canary, selector: {matchLabels: {ring: canary}, matchExpressions: [{key: ring, operator: In, values: [canary]}]}, batch: 1, soak: 10m}
  - {name: rest, batch: 10%, soak: 5m}
  failureBudget: 2%
  progressDeadline: 10m
  maxDeferral: 168h
  onFailure: Rollback
`
)

func TestReleaseRules(t *testing.T) {
	const (
		channels = "spec.channels"
		status   = "status.channels"
		failures = status + "[].failures"
		phases   = " enum Progressing,Paused,Failed,RollingBack,RolledBack,Complete"
	)
	mandatory := fields{"spec.channels": gone{}, "spec.mandatory": map[string]any{"version": "1.0.0"}}
	with := func(name string, value any) fields {
		return fields{"spec.channels": gone{}, "spec.mandatory": map[string]any{"version": "1.0.0", name: value}}
	}
	breaches := map[string]breach{
		"required spec": missing("spec"),
		"spec cel exactly one of channels and mandatory must be set": {
			set: fields{"spec.mandatory": map[string]any{"version": "1.0.0"}}, field: "spec", ok: mandatory,
		},
		"spec required moduleName":              missing("spec.moduleName"),
		"spec.moduleName minLength 1":           {elsewhere: "TestTwoComplaints"},
		"spec.moduleName maxLength 63":          tooLong("spec.moduleName", "", 63),
		"spec.moduleName pattern " + moduleName: {set: fields{"spec.moduleName": "-sample"}, ok: fields{"spec.moduleName": "s"}},
		"spec.ocmComponentName maxLength 255":   tooLong("spec.ocmComponentName", "example.org/", 255),
		"spec.ocmComponentName pattern ^[a-z0-9.\\-]+[.][a-z][a-z]+/[-a-z0-9/_.]*$": {
			set: fields{"spec.ocmComponentName": "sample"}, ok: fields{"spec.ocmComponentName": "example.org/a"},
		},
		"spec.kymaSelector.matchExpressions[] required key":      missing("spec.kymaSelector.matchExpressions[0].key"),
		"spec.kymaSelector.matchExpressions[] required operator": missing("spec.kymaSelector.matchExpressions[0].operator"),
		channels + " maxItems 32": tooMany(channels, 32, func(i int) any {
			return map[string]any{"channel": fmt.Sprint("channel-", i), "version": "1.0.0"}
		}),
		channels + " minItems 1":         {set: fields{channels: []any{}}},
		channels + " keys channel":       twice(channels, "channel", "fast"),
		channels + "[] required channel": missing(channels + "[0].channel"),
		channels + "[].channel cel the name mandatory is reserved for mandatory modules": {
			set: fields{channels + "[0].channel": "mandatory"}, ok: fields{channels + "[0].channel": "mandatory-fast"},
		},
		channels + "[] required version":              missing(channels + "[0].version"),
		channels + "[].version minLength 1":           {set: fields{channels + "[0].version": ""}},
		channels + "[].version maxLength 128":         tooLong(channels+"[0].version", "", 128),
		"spec.mandatory required version":             {set: fields{"spec.channels": gone{}, "spec.mandatory": map[string]any{}}, field: "spec.mandatory.version", ok: mandatory},
		"spec.mandatory.version minLength 1":          {set: with("version", ""), field: "spec.mandatory.version", ok: mandatory},
		"spec.mandatory.version maxLength 128":        {set: with("version", pad("", 129)), field: "spec.mandatory.version", ok: with("version", pad("", 128))},
		"spec.mandatory.rolloutPolicy maxLength 253":  {set: with("rolloutPolicy", pad("", 254)), field: "spec.mandatory.rolloutPolicy", ok: with("rolloutPolicy", pad("", 253))},
		"spec.mandatory.abortedVersion maxLength 128": {set: with("abortedVersion", pad("", 129)), field: "spec.mandatory.abortedVersion", ok: with("abortedVersion", pad("", 128))},
		"spec.mandatory.retry maxLength 128":          {set: with("retry", pad("", 129)), field: "spec.mandatory.retry", ok: with("retry", pad("", 128))},

		status + " maxItems 33": tooMany(status, 33, func(i int) any {
			return map[string]any{"channel": fmt.Sprint("channel-", i), "version": "1.0.0", "phase": "Complete"}
		}),
		status + " keys channel":       twice(status, "channel", "fast"),
		status + "[] required channel": missing(status + "[0].channel"),
		status + "[] required version": missing(status + "[0].version"),
		status + "[] required phase":   missing(status + "[0].phase"),
		status + "[].phase" + phases:   unknown(status + "[0].phase"),
		failures + " maxItems 10": tooMany(status+"[0].failures", 10, func(i int) any {
			return map[string]any{"namespace": "n", "name": fmt.Sprint("k", i)}
		}),
		failures + "[] required namespace": missing(status + "[0].failures[0].namespace"),
		failures + "[] required name":      missing(status + "[0].failures[0].name"),
	}
	maps.Copy(breaches, channelBreaches(channels+"[].channel", channels+"[0].channel"))
	maps.Copy(breaches, tooLongEach("spec", map[string]int{
		"channels[].rolloutPolicy": 253, "channels[].abortedVersion": 128, "channels[].retry": 128,
	}))
	maps.Copy(breaches, tooLongEach("status", map[string]int{
		"channels[].channel": 32, "channels[].version": 128, "channels[].previous": 128, "channels[].waveName": 63, "channels[].wavesDigest": 32, "channels[].retry": 128,
		"channels[].message": 1024, "channels[].failures[].namespace": 63, "channels[].failures[].name": 253, "channels[].failures[].message": 256,
	}))
	maps.Copy(breaches, conditionBreaches())
	for _, f := range []string{"startedAt", "batchStartedAt", "soakingSince"} {
		maps.Copy(breaches, timeBreaches(status+"[]."+f, status+"[0]."+f))
	}
	testBreaches(t, "modulereleasemetas", fullRelease, statusOfRelease, breaches)
}

func TestPolicyRules(t *testing.T) {
	const waves = "spec.waves"
	breaches := map[string]breach{
		"required spec":                                            missing("spec"),
		waves + " maxItems 16":                                     tooMany(waves, 16, func(i int) any { return map[string]any{"name": fmt.Sprint("w", i)} }),
		waves + " keys name":                                       twice(waves, "name", "canary"),
		waves + "[] required name":                                 missing(waves + "[0].name"),
		waves + "[].name minLength 1":                              {elsewhere: "TestTwoComplaints"},
		waves + "[].name maxLength 63":                             tooLong(waves+"[0].name", "", 63),
		waves + "[].name pattern " + dnsLabel:                      {set: fields{waves + "[0].name": "Canary"}, ok: fields{waves + "[0].name": "canary-1"}},
		waves + "[].selector.matchExpressions[] required key":      missing(waves + "[0].selector.matchExpressions[0].key"),
		waves + "[].selector.matchExpressions[] required operator": missing(waves + "[0].selector.matchExpressions[0].operator"),
		waves + "[].batch cel batch must be a number from 1 to 1000000, or a percentage from 1% to 100%": {
			set: fields{waves + "[0].batch": int64(0)}, ok: fields{waves + "[0].batch": int64(1)},
		},
		waves + "[].batch pattern ^([1-9][0-9]?|100)%$": {set: fields{waves + "[0].batch": "0%"}, ok: fields{waves + "[0].batch": "1%"}},
		"spec.failureBudget cel failureBudget must be a number from 1 to 1000000, or a percentage from 0% to 100%": {
			set: fields{"spec.failureBudget": int64(0)}, ok: fields{"spec.failureBudget": int64(1)},
		},
		"spec.failureBudget pattern ^([0-9][0-9]?|100)%$": {set: fields{"spec.failureBudget": "101%"}, ok: fields{"spec.failureBudget": "0%"}},
		"spec.progressDeadline cel progressDeadline must be at least 5s": {
			set: fields{"spec.progressDeadline": "4s"}, ok: fields{"spec.progressDeadline": "5s"},
		},
		"spec.progressDeadline pattern " + duration: {elsewhere: "TestTwoComplaints"},
		"spec.maxDeferral pattern " + duration:      {elsewhere: "TestTwoComplaints"},
		waves + "[].soak pattern " + duration:       {elsewhere: "TestTwoComplaints"},
		"spec.maxDeferral cel maxDeferral must be a duration": {
			set: fields{"spec.maxDeferral": "99999999999999h"}, ok: fields{"spec.maxDeferral": "9999h"},
		},
		waves + "[].soak cel soak must be a duration": {set: fields{waves + "[0].soak": "99999999999999h"}, ok: fields{waves + "[0].soak": "0s"}},
		"spec.onFailure enum Stop,Rollback":           unknown("spec.onFailure"),
	}
	for path, in := range map[string]string{"progressDeadline": "progressDeadline", "maxDeferral": "maxDeferral", "waves[].soak": "waves[0].soak"} {
		breaches["spec."+path+" maxLength 32"] = breach{set: fields{"spec." + in: strings.Repeat("0", 31) + "9s"}, ok: fields{"spec." + in: strings.Repeat("0", 30) + "9s"}}
	}
	testBreaches(t, "rolloutpolicies", fullPolicy, "", breaches)
}
