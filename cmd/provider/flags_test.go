// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	f, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.poll != 10*time.Minute || f.concurrency != 10 || f.namespace != "kyma-system" || !f.managementPolicies {
		t.Errorf("parse(): defaults are %+v", f)
	}
	if f.allowExec || f.allowFiles || f.allowTenantIdentity || f.leaderElection {
		t.Errorf("parse(): what lends the rights of the provider must be off by default: %+v", f)
	}
}

func TestParseArguments(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		check  func(f *flags) bool
		err    string
	}{
		"Flag": {
			reason: "A flag is read.",
			args:   []string{"--poll=1m", "--no-enable-management-policies", "--allow-kubeconfig-exec"},
			check:  func(f *flags) bool { return f.poll == time.Minute && !f.managementPolicies && f.allowExec },
		},
		"Unknown": {
			reason: "A flag that is misspelt is named.",
			args:   []string{"--pool=1m"},
			err:    "--pool",
		},
		"BadValue": {
			reason: "A value that is none is an error.",
			args:   []string{"--max-reconcile-rate=many"},
			err:    "many",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
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

// TestDocumented holds that each flag is in the documentation.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range application(&flags{}).Model().Flags {
		if flag.Hidden || flag.Name == "help" || flag.Name == "version" {
			continue
		}
		if !strings.Contains(string(b), "`--"+flag.Name+"`") {
			t.Errorf("docs/operations.md does not name --%s", flag.Name)
		}
	}
}
