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

// maxPassword is the maximum length of a password on stdin, in bytes.
const maxPassword = 64 << 10

// RegistryFlags holds the flags for access to registries. By default, a command uses the docker configuration of the user with
// its credential helpers, and allows plain HTTP only for registries on loopback addresses.
type RegistryFlags struct {
	username      string
	passwordStdin bool
	config        string
	plainHTTP     bool
	skipTLSVerify bool
	caFile        string
	tokenHosts    []string
}

// AddFlags adds the flags to a command.
func (r *RegistryFlags) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&r.username, "username", "", "`USER` for the registry; requires --password-stdin")
	f.BoolVar(&r.passwordStdin, "password-stdin", false, "read the password or token for the registry from stdin")
	f.StringVar(&r.config, "registry-config", "", "Docker configuration `FILE` with credentials (default: your Docker configuration)")
	f.BoolVar(&r.plainHTTP, "plain-http", false, "connect to the registry without TLS")
	f.BoolVar(&r.skipTLSVerify, "insecure-skip-tls-verify", false, "don't verify the certificate of the registry")
	f.StringArrayVar(&r.tokenHosts, "token-host", nil,
		"additional `HOST` to which credentials can be sent if the registry uses it as its token service; can be repeated")
	f.StringVar(&r.caFile, "ca-file", "", "`FILE` with PEM-encoded CA certificates to trust, in addition to the CA certificates of the system")
}

// Registries returns the registry configuration for a command whose command line names hosts. It ignores empty hosts.
// --username applies to the first host, --plain-http and --insecure-skip-tls-verify to all given hosts, but not to others that
// a module refers to. Without a host they apply to all hosts, as do the other flags.
func (r *RegistryFlags) Registries(e *Environment, hosts ...string) (oci.Registries, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	all := oci.Registry{Host: "*", Ambient: r.config == "", TokenHosts: r.tokenHosts}
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
		return nil, Usagef("--username requires a registry on the command line")
	}
	out[0].Username, out[0].Ambient = r.username, false
	if out[0].Password, err = password(e.In); err != nil {
		return nil, err
	}
	return append(out, all), nil
}

// named returns the configurations of the given hosts that differ from all, the configuration of all other hosts.
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
		return Usagef("--username requires --password-stdin: other users can read passwords on command lines")
	case r.username == "" && r.passwordStdin:
		return Usagef("--password-stdin requires --username")
	case r.plainHTTP && (r.skipTLSVerify || r.caFile != ""):
		return Usagef("--plain-http cannot be used with --insecure-skip-tls-verify or --ca-file")
	case r.skipTLSVerify && r.caFile != "":
		return Usagef("--insecure-skip-tls-verify and --ca-file cannot be used together")
	}
	return nil
}

// password reads a password from the first line of stdin.
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
		return "", Usagef("--password-stdin: stdin has no password")
	}
	return line, nil
}

// readFile reads the file that a flag names. It returns nil if the path is empty. Errors are usage errors.
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
