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
			reason: "The user's docker configuration is used.",
			want:   want{regs: oci.Registries{{Host: "*", Ambient: true}}},
		},
		"Files": {
			reason: "A docker configuration of its own replaces that of the user.",
			args:   []string{"--registry-config", config, "--ca-file", ca},
			want:   want{regs: oci.Registries{{Host: "*", DockerConfig: []byte(`{"auths":{}}`), CABundle: []byte("PEM")}}},
		},
		"Password": {
			reason: "A password is for one host, and is the first line of stdin.",
			args:   []string{"--username", "me", "--password-stdin", "--plain-http"},
			stdin:  "s3cret\r\nmore",
			want: want{regs: oci.Registries{
				{Host: host, Username: "me", Password: "s3cret", PlainHTTP: true},
				{Host: "*", Ambient: true},
			}},
		},
		"NoPassword":     {reason: "An empty password is a mistake.", args: []string{"--username", "me", "--password-stdin"}, want: want{code: ExitUsage}},
		"OnlyUser":       {reason: "A user needs a password.", args: []string{"--username", "me"}, want: want{code: ExitUsage}},
		"OnlyPassword":   {reason: "A password needs a user.", args: []string{"--password-stdin"}, want: want{code: ExitUsage}},
		"PlainWithCA":    {reason: "Plain HTTP has no certificates.", args: []string{"--plain-http", "--ca-file", ca}, want: want{code: ExitUsage}},
		"SkipWithCA":     {reason: "Both at once is a mistake.", args: []string{"--insecure-skip-tls-verify", "--ca-file", ca}, want: want{code: ExitUsage}},
		"MissingFile":    {reason: "A file that is not there is named.", args: []string{"--ca-file", filepath.Join(dir, "nope")}, want: want{code: ExitUsage}},
		"Skip":           {reason: "The user asks for it.", args: []string{"--insecure-skip-tls-verify"}, want: want{regs: oci.Registries{{Host: host, SkipTLSVerify: true, Ambient: true}, {Host: "*", Ambient: true}}}},
		"MissingConfig":  {reason: "A file that is not there is named.", args: []string{"--registry-config", filepath.Join(dir, "nope")}, want: want{code: ExitUsage}},
		"LongPassword":   {reason: "What is read is bounded.", args: []string{"--username", "me", "--password-stdin"}, stdin: strings.Repeat("x", maxPassword+1), want: want{code: ExitUsage}},
		"PasswordNoLine": {reason: "A line need not end.", args: []string{"--username", "me", "--password-stdin"}, stdin: "pw", want: want{regs: oci.Registries{{Host: host, Username: "me", Password: "pw"}, {Host: "*", Ambient: true}}}},
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

// TestRegistriesHosts says that what makes a connection unsafe is for the hosts
// that the user names, and not for those that a module leads to.
func TestRegistriesHosts(t *testing.T) {
	cases := map[string]struct {
		reason string
		flags  RegistryFlags
		hosts  []string
		want   oci.Registries
	}{
		"Two": {
			reason: "All hosts on the command line, and credentials for the first.",
			flags:  RegistryFlags{plainHTTP: true, username: "me", passwordStdin: true},
			hosts:  []string{"b.example.org", "a.example.org", "b.example.org"},
			want: oci.Registries{
				{Host: "b.example.org", PlainHTTP: true, Username: "me", Password: "pw"},
				{Host: "a.example.org", PlainHTTP: true, Ambient: true},
				{Host: "*", Ambient: true},
			},
		},
		"Layout": {
			reason: "Without any, there are only those of the module.",
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
