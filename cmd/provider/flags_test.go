// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	f, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.poll != 10*time.Minute || f.concurrency != 10 || f.namespace != "kyma-system" || !f.managementPolicies ||
		f.renderProcesses != automatic || f.renderMemory != automatic {
		t.Errorf("parse(): defaults are %+v", f)
	}
	if f.allowExec || f.allowFiles || f.allowTenantIdentity {
		t.Errorf("parse(): flags that grant the permissions of the provider to others must be off by default: %+v", f)
	}
}

func TestParseArguments(t *testing.T) {
	cases := map[string]struct {
		reason string
		env    map[string]string
		args   []string
		check  func(f *flags) bool
		err    string
	}{
		"Flag": {
			reason: "A flag is read.",
			args:   []string{"--poll=1m", "--no-enable-management-policies", "--no-leader-election", "--allow-kubeconfig-exec"},
			check: func(f *flags) bool {
				return f.poll == time.Minute && !f.managementPolicies && !f.leaderElection && f.allowExec
			},
		},
		"Ranges": {
			reason: "Ranges are read, and the environment has one in each line.",
			env:    map[string]string{"PROVIDER_DENY_TARGET_CIDR": "10.0.0.0/8\nfd00::/8"},
			args:   []string{"--allow-target-cidr=127.0.0.0/8", "--allow-target-cidr=::1"},
			check:  func(f *flags) bool { return len(f.allowTargets) == 2 && len(f.denyTargets) == 2 },
		},
		"BadRange": {
			reason: "A range that is none is named with its flag.",
			args:   []string{"--service-cidr=kubernetes.default"},
			err:    `--service-cidr: invalid address range "kubernetes.default"`,
		},
		"Certificate": {
			reason: "A certificate that is not used is an error.",
			args:   []string{"--metrics-cert-dir=/tls"},
			err:    "--metrics-cert-dir requires --metrics-secure",
		},
		"Unknown": {
			reason: "An unknown flag is named in the error.",
			args:   []string{"--pool=1m"},
			err:    "--pool",
		},
		"BadValue": {
			reason: "An invalid value is an error.",
			args:   []string{"--max-reconcile-rate=many"},
			err:    "many",
		},
		"Defaults": {
			reason: "By default, polls have some jitter, and features that need a setup are off.",
			check: func(f *flags) bool {
				return f.jitter() == 0.1 && f.parkAfter == 0 && f.managementPolicies && !f.changeLogs && f.leaderElection && f.leaderElectionNamespace == "" &&
					f.changeLogsSocket == "/var/run/changelogs/changelogs.sock"
			},
		},
		"NoJitter": {
			reason: "The jitter can be zero.",
			args:   []string{"--poll-jitter-percentage=0"},
			check:  func(f *flags) bool { return f.jitter() == 0 },
		},
		"Variable": {
			reason: "An environment variable with our prefix is read.",
			env:    map[string]string{"PROVIDER_POLL": "7m", "PROVIDER_LEADER_ELECTION": "false"},
			check:  func(f *flags) bool { return f.poll == 7*time.Minute && !f.leaderElection },
		},
		"StandardVariable": {
			reason: "Some variables have a second name, which other providers use too.",
			env: map[string]string{
				"LEADER_ELECTION": "false", "POD_NAMESPACE": "crossplane-system", "ENABLE_MANAGEMENT_POLICIES": "false",
				"ENABLE_CHANGE_LOGS": "true", "CHANGELOGS_SOCKET_PATH": "/s", "METRICS_BIND_ADDRESS": ":1",
			},
			check: func(f *flags) bool {
				return !f.leaderElection && f.leaderElectionNamespace == "crossplane-system" && !f.managementPolicies &&
					f.changeLogs && f.changeLogsSocket == "/s" && f.metricsAddress == ":1"
			},
		},
		"OwnVariableWins": {
			reason: "A variable with our prefix takes precedence, and a flag over both.",
			env: map[string]string{
				"POD_NAMESPACE": "a", "PROVIDER_LEADER_ELECTION_NAMESPACE": "b", "METRICS_BIND_ADDRESS": ":1", "PROVIDER_METRICS_BIND_ADDRESS": ":2",
			},
			args:  []string{"--metrics-bind-address=:3"},
			check: func(f *flags) bool { return f.leaderElectionNamespace == "b" && f.metricsAddress == ":3" },
		},
		"OtherVariable": {
			reason: "Other variables without our prefix are ignored.",
			env:    map[string]string{"POLL": "1m", "DEBUG": "true"},
			check:  func(f *flags) bool { return f.poll == 10*time.Minute && !f.debug },
		},
		"AllJitter":   {reason: "The jitter must be less than the interval.", args: []string{"--poll-jitter-percentage=100"}, err: "--poll-jitter-percentage must be less than 100"},
		"BelowJitter": {reason: "The jitter must not be negative.", args: []string{"--poll-jitter-percentage=-1"}, err: "-1"},
		"NoWorkers":   {reason: "At least one worker is required.", args: []string{"--max-reconcile-rate=0"}, err: "--max-reconcile-rate must be at least 1"},
		"Park":        {reason: "Quiet clusters can be parked.", args: []string{"--park-after=30m"}, check: func(f *flags) bool { return f.parkAfter == 30*time.Minute }},
		"BadPark":     {reason: "A negative duration is an error.", args: []string{"--park-after=-1s"}, err: "--park-after must not be negative"},
		"NoPoll":      {reason: "Polls cannot be disabled.", args: []string{"--poll=0s"}, err: "--poll must be greater than 0"},
		"Pprof":       {reason: "Profiles are served on loopback.", args: []string{"--pprof-bind-address=[::1]:6060"}, check: func(f *flags) bool { return f.pprofAddress == "[::1]:6060" }},
		"PprofOpen":   {reason: "Profiles must not be served to other machines.", args: []string{"--pprof-bind-address=:6060"}, err: "--pprof-bind-address must be a loopback address"},
		"PprofAny":    {reason: "Profiles must not be served on all interfaces.", args: []string{"--pprof-bind-address=0.0.0.0:6060"}, err: "--pprof-bind-address must be a loopback address"},
		"NoTimeout":   {reason: "A pass needs some time.", args: []string{"--timeout=-1s"}, err: "--timeout must be greater than 0"},
		"NoRenderCPU": {reason: "A chart needs some time.", args: []string{"--render-cpu=0s"}, err: "--render-cpu must be greater than 0"},
		"NoMemory":    {reason: "A chart needs some memory.", args: []string{"--render-memory=0"}, err: "--render-memory must be greater than 0"},
		"NoRenderers": {reason: "Fewer than no processes cannot be.", args: []string{"--render-processes=-1"}, err: "--render-processes must be at least 0"},
		"InProcess":   {reason: "The provider can render charts itself.", args: []string{"--render-processes=0"}, check: func(f *flags) bool { return f.renderProcesses == 0 }},
		"AnyNames":    {reason: "A name without a namespace would be for all.", args: []string{"--allow-external-names=legacy"}, err: `--allow-external-names: invalid value "legacy"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			unset(t, slices.Collect(maps.Values(standardVariables()))...)
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			f, err := parse(tc.args)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nparse(...): want an error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil || !tc.check(f) {
				t.Errorf("\n%s\nparse(...): %v %+v", tc.reason, err, f)
			}
		})
	}
}

// unset removes environment variables of the flags while the test runs.
func unset(t *testing.T, names ...string) {
	t.Helper()
	for _, n := range names {
		t.Setenv(n, "")
		if err := os.Unsetenv(n); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDocumented checks that docs/operations.md lists each flag with its environment variables.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	unset(t, slices.Collect(maps.Values(standardVariables()))...)
	app := application(&flags{})
	if _, err := app.Parse(nil); err != nil {
		t.Fatal(err)
	}
	for _, flag := range app.Model().Flags {
		if flag.Hidden || flag.Name == "help" || flag.Name == "version" {
			continue
		}
		want := []string{"`--" + flag.Name + "`", "`" + variableOf(flag.Name) + "`"}
		if standard := standardVariables()[flag.Name]; standard != "" {
			want = append(want, "`"+standard+"`")
		} else if flag.Envar != variableOf(flag.Name) {
			t.Errorf("--%s is set by %s, but documented as %s", flag.Name, flag.Envar, variableOf(flag.Name))
		}
		for _, w := range want {
			if !strings.Contains(string(b), w) {
				t.Errorf("docs/operations.md does not name %s", w)
			}
		}
	}
	for name := range standardVariables() {
		if app.GetFlag(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}
