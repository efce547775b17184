// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

func TestRegistries(t *testing.T) {
	dir := t.TempDir()
	config, ca := filepath.Join(dir, "config.json"), filepath.Join(dir, "ca.crt")
	for path, data := range map[string]string{config: `{"auths":{}}`, ca: "PEM"} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const host = "registry.example.org"
	type want struct {
		regs oci.Registries
		code ExitCode
	}
	cases := map[string]struct {
		reason string
		args   []string
		stdin  string
		want   want
	}{
		"Default": {
			reason: "The docker configuration of the user is the default.",
			want:   want{regs: oci.Registries{{Host: "*", Ambient: true}}},
		},
		"Files": {
			reason: "--registry-config replaces the docker configuration of the user.",
			args:   []string{"--registry-config", config, "--ca-file", ca},
			want:   want{regs: oci.Registries{{Host: "*", DockerConfig: []byte(`{"auths":{}}`), CABundle: []byte("PEM")}}},
		},
		"Password": {
			reason: "A password is the first line of stdin, and is only for one host.",
			args:   []string{"--username", "me", "--password-stdin", "--plain-http"},
			stdin:  "s3cret\r\nmore",
			want: want{regs: oci.Registries{
				{Host: host, Username: "me", Password: "s3cret", PlainHTTP: true},
				{Host: "*", Ambient: true},
			}},
		},
		"NoPassword":     {reason: "An empty password is a mistake.", args: []string{"--username", "me", "--password-stdin"}, want: want{code: ExitUsage}},
		"OnlyUser":       {reason: "--username requires a password.", args: []string{"--username", "me"}, want: want{code: ExitUsage}},
		"OnlyPassword":   {reason: "--password-stdin requires a user name.", args: []string{"--password-stdin"}, want: want{code: ExitUsage}},
		"PlainWithCA":    {reason: "Plain HTTP has no certificates.", args: []string{"--plain-http", "--ca-file", ca}, want: want{code: ExitUsage}},
		"SkipWithCA":     {reason: "Skipping verification makes a CA useless.", args: []string{"--insecure-skip-tls-verify", "--ca-file", ca}, want: want{code: ExitUsage}},
		"MissingFile":    {reason: "A missing file is wrong usage.", args: []string{"--ca-file", filepath.Join(dir, "nope")}, want: want{code: ExitUsage}},
		"Skip":           {reason: "--insecure-skip-tls-verify applies to the host.", args: []string{"--insecure-skip-tls-verify"}, want: want{regs: oci.Registries{{Host: host, SkipTLSVerify: true, Ambient: true}, {Host: "*", Ambient: true}}}},
		"MissingConfig":  {reason: "A missing file is wrong usage.", args: []string{"--registry-config", filepath.Join(dir, "nope")}, want: want{code: ExitUsage}},
		"LongPassword":   {reason: "The length of a password is limited.", args: []string{"--username", "me", "--password-stdin"}, stdin: strings.Repeat("x", maxPassword+1), want: want{code: ExitUsage}},
		"PasswordNoLine": {reason: "The line break is optional.", args: []string{"--username", "me", "--password-stdin"}, stdin: "pw", want: want{regs: oci.Registries{{Host: host, Username: "me", Password: "pw"}, {Host: "*", Ambient: true}}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var r RegistryFlags
			f := pflag.NewFlagSet("test", pflag.ContinueOnError)
			r.AddFlags(f)
			if err := f.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			regs, err := r.Registries(&Environment{In: strings.NewReader(tc.stdin)}, host)
			if diff := cmp.Diff(tc.want, want{regs, CodeOf(err)}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nRegistries: -want, +got (%v):\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestRegistriesHosts checks that flags for insecure connections only apply to hosts that the user names, not to those that a
// module refers to.
func TestRegistriesHosts(t *testing.T) {
	cases := map[string]struct {
		reason string
		flags  RegistryFlags
		hosts  []string
		want   oci.Registries
	}{
		"Two": {
			reason: "Flags apply to all hosts on the command line, credentials only to the first.",
			flags:  RegistryFlags{plainHTTP: true, username: "me", passwordStdin: true},
			hosts:  []string{"b.example.org", "a.example.org", "b.example.org"},
			want: oci.Registries{
				{Host: "b.example.org", PlainHTTP: true, Username: "me", Password: "pw"},
				{Host: "a.example.org", PlainHTTP: true, Ambient: true},
				{Host: "*", Ambient: true},
			},
		},
		"Layout": {
			reason: "Without hosts, flags apply to all hosts of the module.",
			flags:  RegistryFlags{skipTLSVerify: true},
			hosts:  []string{""},
			want:   oci.Registries{{Host: "*", SkipTLSVerify: true, Ambient: true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.flags.Registries(&Environment{In: strings.NewReader("pw")}, tc.hosts...)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("\n%s\nRegistries(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
