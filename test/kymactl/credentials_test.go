// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	user  = "test-user"
	token = "correct-horse-battery-staple"
	wrong = "wrong-horse-battery-staple"
)

// auths returns a Docker configuration with credentials for a host.
func auths(host, user, password string) string {
	return encoded(values{"auths": values{host: values{"auth": base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}}})
}

var _ = Describe("Credentials", func() {
	var (
		p    *testUser
		r    *controlplane.Registry
		push func(more ...string) []string
	)
	BeforeEach(func(ctx SpecContext) {
		p, r = newTestUser(), startRegistry(controlplane.WebOptions{Username: user, Password: token})
		p.secrets = append(p.secrets, token, wrong, base64.StdEncoding.EncodeToString([]byte(user+":"+token)), base64.StdEncoding.EncodeToString([]byte(user+":"+wrong)))
		p.makes(ctx, p.sample("source", "a", 0), "layout")
		push = func(more ...string) []string {
			return slices.Concat([]string{"module", "push", "layout", r.Host() + "/m"}, more)
		}
	})

	// refused checks that kymactl fails because the registry rejects the credentials, and names the registry.
	refused := func(ctx context.Context, stdin string, args ...string) {
		GinkgoHelper()
		expectFailure(p.runWith(ctx, stdin, append(args, "--quiet")...), exitFailure, r.Host(), "credentials")
	}

	It("are read from the Docker configuration of the user", func(ctx SpecContext) {
		refused(ctx, "", push()...)
		p.hasHome(".docker/config.json", auths(r.Host(), user, wrong), 0o600)
		refused(ctx, "", push()...)
		p.hasHome(".docker/config.json", auths("other.example.org", user, token), 0o600)
		refused(ctx, "", push()...)
		p.hasHome(".docker/config.json", auths(r.Host(), user, token), 0o600)
		ref := p.ok(ctx, push()...).reference()
		p.inspect(ctx, ref)
		p.ok(ctx, "module", "copy", ref, r.Host()+"/n")
		p.ok(ctx, "module", "pull", ref, "-o", p.output("pulled"))
	})

	It("are read from $DOCKER_CONFIG", func(ctx SpecContext) {
		p.env = []string{"DOCKER_CONFIG=" + filepath.Dir(p.input("docker/config.json", auths(r.Host(), user, token)))}
		p.ok(ctx, push()...)
	})

	It("are read from --registry-config instead of the configuration of the user", func(ctx SpecContext) {
		p.hasHome(".docker/config.json", auths(r.Host(), user, wrong), 0o600)
		p.ok(ctx, push("--registry-config", p.input("good.json", auths(r.Host(), user, token)))...)
		refused(ctx, "", push("--registry-config", p.input("none.json", `{"auths":{}}`))...)
		p.fails(ctx, exitUsage, []string{"--registry-config", "no such file"}, push("--registry-config", p.path("input/nothing.json"))...)
		bad := p.run(ctx, push("--registry-config", p.input("bad.json", `{"auths": `+token), "--quiet")...)
		expectFailure(bad, bad.code, "Docker")
		Expect(bad.code).To(BeElementOf(exitFailure, exitUsage))
	})

	It("are read from --username and stdin, which take precedence over files", func(ctx SpecContext) {
		p.hasHome(".docker/config.json", auths(r.Host(), user, wrong), 0o600)
		p.okWith(ctx, token+"\n", push("--username", user, "--password-stdin")...)
		p.okWith(ctx, token, push("--username", user, "--password-stdin")...)
		refused(ctx, wrong+"\n", push("--username", user, "--password-stdin")...)
		for _, args := range [][]string{{"--username", user}, {"--password-stdin"}} {
			expectFailure(p.runWith(ctx, token, push(append(args, "--quiet")...)...), exitUsage, "--password-stdin")
		}
		expectFailure(p.runWith(ctx, "", push("--username", user, "--password-stdin", "--quiet")...), exitUsage, "stdin")
	})

	It("are sent to no other host", func(ctx SpecContext) {
		var leaked atomic.Bool
		other := startRegistry(controlplane.WebOptions{})
		other.SetFault(func(_ http.ResponseWriter, q *http.Request) bool {
			if q.Header.Get("Authorization") != "" {
				leaked.Store(true)
			}
			return false
		})
		ref := p.okWith(ctx, token, push("--username", user, "--password-stdin")...).reference()
		p.ok(ctx, "module", "push", "layout", other.Host()+"/m")
		p.hasHome(".docker/config.json", auths(r.Host(), user, token), 0o600)
		p.ok(ctx, "module", "copy", ref, other.Host()+"/n")
		Expect(leaked.Load()).To(BeFalse())
	})

	It("are read from credential helpers, and a missing helper is reported", func(ctx SpecContext) {
		p.hasHome(".docker/config.json", encoded(values{"credHelpers": values{r.Host(): "vault-of-test"}}), 0o600)
		p.fails(ctx, exitFailure, []string{"docker-credential-vault-of-test", "install it"}, push()...)
		helper := func(text string) {
			GinkgoHelper()
			Expect(os.WriteFile(filepath.Join(p.path("path"), "docker-credential-vault-of-test"), []byte("#!/bin/sh\n"+text), 0o755)).To(Succeed())
		}
		helper("read -r host\necho '" + `{"ServerURL":"'"$host"'","Username":"` + user + `","Secret":"` + token + `"}` + "'\n")
		p.ok(ctx, push()...)
		helper("echo '" + token + "'; exit 1\n")
		p.fails(ctx, exitFailure, []string{r.Host(), "helper"}, push()...)
	})
})

var _ = Describe("TLS", func() {
	It("is verified, unless a flag disables it", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{TLS: true, Username: user, Password: token})
		p.secrets = append(p.secrets, token)
		p.hasHome(".docker/config.json", auths(r.Host(), user, token), 0o600)
		p.makes(ctx, p.sample("source", "a", 0), "layout")
		p.fails(ctx, exitFailure, []string{r.Host(), "certificate", "--ca-file"}, "module", "push", "layout", r.Host()+"/m")
		for _, q := range r.Requests() {
			Expect(q.Authorized).To(BeFalse(), "nothing is sent to who is not trusted")
		}
		p.fails(ctx, exitFailure, []string{r.Host()}, "module", "push", "layout", r.Host()+"/m", "--plain-http")
		ref := p.ok(ctx, "module", "push", "layout", r.Host()+"/m", "--ca-file", p.input("ca.crt", string(r.CA()))).reference()
		p.inspect(ctx, ref, "--insecure-skip-tls-verify")
		other := startRegistry(controlplane.WebOptions{TLS: true})
		p.fails(ctx, exitFailure, []string{"certificate"}, "module", "inspect", ref, "--ca-file", p.input("other.crt", string(other.CA())))
		p.fails(ctx, exitUsage, []string{"--ca-file"}, "module", "inspect", ref, "--ca-file", p.path("input/nothing.crt"))
		for _, args := range [][]string{{"--plain-http", "--insecure-skip-tls-verify"}, {"--insecure-skip-tls-verify", "--ca-file", p.path("input/ca.crt")}} {
			p.fails(ctx, exitUsage, []string{"--insecure-skip-tls-verify"}, append([]string{"module", "inspect", ref}, args...)...)
		}
	})

	It("is only disabled with --plain-http, or for the local host", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
		p.makes(ctx, p.sample("source", "a", 0), "layout")
		// A name that does not exist is reached through a proxy, which sees the requested addresses.
		var plain, tunnels atomic.Int32
		to := httputil.NewSingleHostReverseProxy(must(url.Parse(r.URL())))
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.Method == http.MethodConnect {
				tunnels.Add(1)
				http.Error(w, "no tunnels", http.StatusForbidden)
				return
			}
			plain.Add(1)
			to.ServeHTTP(w, q)
		}))
		DeferCleanup(web.Close)
		p.env = []string{"HTTP_PROXY=" + web.URL, "HTTPS_PROXY=" + web.URL}
		p.fails(ctx, exitFailure, []string{"registry.example.org"}, "module", "push", "layout", "registry.example.org/m")
		Expect(plain.Load()).To(BeZero())
		Expect(tunnels.Load()).NotTo(BeZero())
		ref := p.ok(ctx, "module", "push", "layout", "registry.example.org/m", "--plain-http").reference()
		Expect(ref).To(Equal("registry.example.org/m/" + inRegistry + ":1.0.0"))
		p.inspect(ctx, ref, "--plain-http")
	})

	It("cannot be set by the scheme of a reference: http:// and https:// are rejected", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
		p.makes(ctx, p.sample("source", "a", 0), "layout")
		for _, scheme := range []string{"https://", "http://"} {
			p.fails(ctx, exitUsage, []string{scheme}, "module", "push", "layout", scheme+r.Host()+"/m")
			p.fails(ctx, exitUsage, []string{scheme}, "module", "inspect", scheme+r.Host()+"/m//"+greeter+":1.0.0")
		}
		p.secrets = append(p.secrets, "hunter2hunter2")
		p.fails(ctx, exitUsage, nil, "module", "push", "layout", "https://me:hunter2hunter2@"+r.Host()+"/m")
		p.fails(ctx, exitUsage, nil, "module", "inspect", "me:hunter2hunter2@"+r.Host()+"/m//"+greeter+":1.0.0")
		ref := p.ok(ctx, "module", "push", "layout", "oci://"+r.Host()+"/m").reference()
		Expect(strings.Contains(ref, "://")).To(BeFalse())
		Expect(encoded(p.template(ctx, ref))).NotTo(ContainSubstring("://"))
	})
})
