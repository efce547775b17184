// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// maxPassword bounds what is read from stdin, in bytes.
const maxPassword = 64 << 10

// RegistryFlags say how registries are reached. Without any of them that is by
// the docker configuration of the user, with its credential helpers, and
// registries on loopback addresses may speak plain HTTP.
type RegistryFlags struct {
	username      string
	passwordStdin bool
	config        string
	plainHTTP     bool
	skipTLSVerify bool
	caFile        string
}

// AddFlags adds the flags to a command.
func (r *RegistryFlags) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&r.username, "username", "", "`USER` of the registry; needs --password-stdin")
	f.BoolVar(&r.passwordStdin, "password-stdin", false, "read the password or token of the registry from stdin")
	f.StringVar(&r.config, "registry-config", "", "docker configuration `FILE` with credentials, instead of that of the user")
	f.BoolVar(&r.plainHTTP, "plain-http", false, "talk to the registry without TLS")
	f.BoolVar(&r.skipTLSVerify, "insecure-skip-tls-verify", false, "accept any certificate of the registry")
	f.StringVar(&r.caFile, "ca-file", "", "`FILE` with PEM certificates to trust besides those of the system")
}

// Registries for a command whose user names some hosts; empty ones do not
// count. --username is for the first, --plain-http and --insecure-skip-tls-verify
// are for all of them: modules lead to other hosts, for which the user has
// credentials, too. Where no host is named they are for every host, as all else is.
func (r *RegistryFlags) Registries(e *Environment, hosts ...string) (oci.Registries, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	all := oci.Registry{Host: "*", Ambient: r.config == ""}
	var err error
	if all.DockerConfig, err = readFile("--registry-config", r.config); err != nil {
		return nil, err
	}
	if all.CABundle, err = readFile("--ca-file", r.caFile); err != nil {
		return nil, err
	}
	out := r.named(all, hosts)
	if len(out) == 0 {
		all.PlainHTTP, all.SkipTLSVerify = r.plainHTTP, r.skipTLSVerify
	}
	if r.username == "" {
		return append(out, all), nil
	}
	if len(out) == 0 {
		return nil, Usagef("--username needs a registry that it is for")
	}
	out[0].Username, out[0].Ambient = r.username, false
	if out[0].Password, err = password(e.In); err != nil {
		return nil, err
	}
	return append(out, all), nil
}

// named are the hosts that are not like all others.
func (r *RegistryFlags) named(all oci.Registry, hosts []string) oci.Registries {
	var out oci.Registries
	seen := map[string]bool{"": true}
	for _, host := range hosts {
		if seen[host] {
			continue
		}
		seen[host] = true
		if r.plainHTTP || r.skipTLSVerify || r.username != "" && len(out) == 0 {
			own := all
			own.Host, own.PlainHTTP, own.SkipTLSVerify = host, r.plainHTTP, r.skipTLSVerify
			out = append(out, own)
		}
	}
	return out
}

func (r *RegistryFlags) check() error {
	switch {
	case r.username != "" && !r.passwordStdin:
		return Usagef("--username needs --password-stdin: a password on a command line can be read by others")
	case r.username == "" && r.passwordStdin:
		return Usagef("--password-stdin needs --username")
	case r.plainHTTP && (r.skipTLSVerify || r.caFile != ""):
		return Usagef("--plain-http has no TLS: it excludes --insecure-skip-tls-verify and --ca-file")
	case r.skipTLSVerify && r.caFile != "":
		return Usagef("--insecure-skip-tls-verify excludes --ca-file")
	}
	return nil
}

// password is the first line of stdin.
func password(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, maxPassword+1)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", errors.Wrap(err, "cannot read the password from stdin")
	}
	if len(line) > maxPassword {
		return "", Usagef("--password-stdin: the first line of stdin is longer than %d bytes", maxPassword)
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", Usagef("--password-stdin: there is no password on stdin")
	}
	return line, nil
}

func readFile(flag, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // The user names their own file.
	if err != nil {
		return nil, WithCode(ExitUsage, errors.Wrap(err, flag))
	}
	return data, nil
}
