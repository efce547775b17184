// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// fails returns a fault that answers requests with a status.
func fails(code int) controlplane.Fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(code)
		return true
	}
}

// resets is a fault that closes the connection.
func resets(w http.ResponseWriter, _ *http.Request) bool {
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		c.Close()
	}
	return true
}

// at limits a fault to request n, counted from 0, or to request n and all later ones if
// all is true.
func at(n int64, all bool, f controlplane.Fault) controlplane.Fault {
	var seen atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) bool {
		i := seen.Add(1) - 1
		return (i == n || all && i > n) && f(w, r)
	}
}

// batch is the number of faults that run concurrently, because most of the time is spent waiting.
const batch = 32

func TestTransfersSurviveFaults(t *testing.T) {
	layout, digest := sample{library: true, cosign: true}.layout(t)
	blobs := blobsOf(t, layout)
	faults := map[string]struct {
		fault controlplane.Fault
		all   bool
		// passes means that the first attempt succeeds.
		passes bool
	}{
		"InternalError": {fault: fails(http.StatusInternalServerError), passes: true},
		"TooMany":       {fault: fails(http.StatusTooManyRequests), passes: true},
		"Reset":         {fault: resets, passes: true},
		"Forbidden":     {fault: fails(http.StatusForbidden), all: true},
		"Killed":        {all: true},
	}
	for name, tc := range faults {
		for _, what := range []string{"push", "pull"} {
			t.Run(what+name, func(t *testing.T) {
				for n := int64(0); ; n += batch {
					if n > 200 {
						t.Fatal("the fault still has an effect after 200 requests")
					}
					var missed atomic.Bool
					var group sync.WaitGroup
					for i := range int64(batch) {
						group.Go(func() {
							if !faulty(t, what, layout, digest, blobs, n+i, tc.fault, tc.all, tc.passes) {
								missed.Store(true)
							}
						})
					}
					if group.Wait(); missed.Load() || t.Failed() {
						break
					}
				}
			})
		}
	}
}

// faulty runs a transfer with a fault at request n, and then again without it. It
// reports whether there was such a request.
func faulty(t *testing.T, what, layout, digest string, blobs map[string]bool, n int64, f controlplane.Fault, all, passes bool) bool {
	t.Helper()
	r := startRegistry(t, controlplane.WebOptions{})
	defer r.Stop()
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"module", "push", layout, r.Host() + "/m"}
	reference := r.Host() + "/m//" + greeter + ":1.0.0"
	if what == "pull" {
		kymactl(t, args...).want(t, command.ExitOK, "Pushed")
		args = []string{"module", "pull", reference, "-o", out}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if f == nil {
		// The test registry would accept a truncated manifest.
		f = func(w http.ResponseWriter, q *http.Request) bool {
			cancel()
			return resets(w, q)
		}
	}
	var hit atomic.Bool
	r.SetFault(at(n, all, func(w http.ResponseWriter, q *http.Request) bool {
		hit.Store(true)
		return f(w, q)
	}))
	first := start(ctx, "", args...)
	if !hit.Load() {
		first.want(t, command.ExitOK, "")
		return false
	}
	switch {
	case passes:
		first.want(t, command.ExitOK, "")
	case first.code == command.ExitOK && all && f != nil && ctx.Err() == nil:
		t.Errorf("%s with a fault from request %d on: want it to fail", what, n)
	case first.code != command.ExitOK && strings.Count(first.err, "Error: ") != 1:
		t.Errorf("%s with a fault from request %d on: want one error, got:\n%s", what, n, first.err)
	}
	r.SetFault(nil)
	second := kymactl(t, args...).want(t, command.ExitOK, "")
	if second.lastLine() != digest {
		t.Errorf("%s after a fault of request %d: want digest %s, got %q", what, n, digest, second.out)
	}
	if what == "push" {
		kymactl(t, "module", "pull", reference, "-o", out).want(t, command.ExitOK, "")
	}
	if diff := cmp.Diff(blobs, blobsOf(t, out)); diff != "" {
		t.Errorf("%s after a fault of request %d: blobs: -want, +got:\n%s", what, n, diff)
	}
	return true
}

func TestPushInParallel(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, digest := sample{layers: 2, cosign: true}.layout(t)
	runs := make([]run, 16)
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() { runs[i] = start(t.Context(), "", "module", "push", layout, r.Host()+"/m") })
	}
	group.Wait()
	for _, got := range runs {
		got.want(t, command.ExitOK, "")
		if got.lastLine() != digest {
			t.Errorf("push: want digest %s, got %q", digest, got.out)
		}
	}
}

func TestPushRaces(t *testing.T) {
	for i := range 5 {
		r := startRegistry(t, controlplane.WebOptions{})
		var layouts, digests [2]string
		for j := range layouts {
			layouts[j], digests[j] = sample{text: fmt.Sprint(i, j)}.layout(t)
		}
		var runs [2]run
		var group sync.WaitGroup
		for j := range runs {
			group.Go(func() { runs[j] = start(t.Context(), "", "module", "push", layouts[j], r.Host()+"/m") })
		}
		group.Wait()
		winner := 0
		if runs[1].code == command.ExitOK {
			winner = 1
		}
		runs[winner].want(t, command.ExitOK, "Pushed")
		runs[1-winner].want(t, command.ExitExists, "Error: "+r.Host())
		got := kymactl(t, "module", "pull", r.Host()+"/m//"+greeter+":1.0.0", "-o", filepath.Join(t.TempDir(), "out"))
		if got.want(t, command.ExitOK, "").lastLine() != digests[winner] {
			t.Errorf("want the content of the push that succeeded, %s, got %q", digests[winner], got.out)
		}
	}
}

func TestPullInParallel(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, digest := sample{layers: 2, library: true, cosign: true}.layout(t)
	kymactl(t, "module", "push", layout, r.Host()+"/m").want(t, command.ExitOK, "")
	for _, name := range []string{"directory", "file.tar"} {
		dir := t.TempDir()
		runs := make([]run, 8)
		var group sync.WaitGroup
		for i := range runs {
			group.Go(func() {
				runs[i] = start(t.Context(), "", "module", "pull", r.Host()+"/m//"+greeter+":1.0.0", "-o", filepath.Join(dir, name))
			})
		}
		group.Wait()
		for _, got := range runs {
			got.want(t, command.ExitOK, "")
			if got.lastLine() != digest {
				t.Errorf("pull: want digest %s, got %q", digest, got.out)
			}
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("pull: want nothing but the layout, got %v (%v)", entries, err)
		}
	}
}

func TestPushLeavesNothingBehind(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, _ := sample{layers: 1}.layout(t)
	before := blobsOf(t, layout)
	dirs := map[string]string{}
	for _, name := range []string{"TMPDIR", "HOME", "XDG_CACHE_HOME"} {
		dirs[name] = t.TempDir()
		t.Setenv(name, dirs[name])
	}
	cwd := t.TempDir()
	t.Chdir(cwd)
	kymactl(t, "module", "push", layout, r.Host()+"/m").want(t, command.ExitOK, "")
	r.SetFault(at(3, true, fails(http.StatusForbidden)))
	kymactl(t, "module", "pull", r.Host()+"/m//"+greeter+":1.0.0", "-o", filepath.Join(cwd, "x.tar")).want(t, command.ExitFailure, "")
	dirs["working directory"] = cwd
	for name, dir := range dirs {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: want nothing left behind, got %v (%v)", name, entries, err)
		}
	}
	if diff := cmp.Diff(before, blobsOf(t, layout)); diff != "" {
		t.Errorf("push changed the layout: -before, +after:\n%s", diff)
	}
}

func TestCredentials(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{Username: "me", Password: "secret-word"})
	layout, _ := sample{}.layout(t)
	args := []string{"module", "push", layout, r.Host() + "/m"}
	with := slices.Concat(args, []string{"--username", "me", "--password-stdin"})
	kymactl(t, args...).want(t, command.ExitFailure, "401 Unauthorized")
	wrong := kymactlWith(t, "other-word", with...).want(t, command.ExitFailure, "401 Unauthorized")
	if strings.Contains(wrong.err+wrong.out, "other-word") {
		t.Errorf("push with a wrong password: the output shows it: %q", wrong.err)
	}
	kymactlWith(t, "secret-word\n", with...).want(t, command.ExitOK, "Pushed")

	config := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(config, []byte(`{"auths":{"`+r.Host()+`":{"username":"me","password":"secret-word"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	kymactl(t, append(args, "--registry-config", config)...).want(t, command.ExitOK, "Unchanged")

	// --username applies to the destination, and the configuration to both.
	other := startRegistry(t, controlplane.WebOptions{Username: "you", Password: "another-word"})
	kymactlWith(t, "another-word", "module", "copy", r.Host()+"/m//"+greeter+":1.0.0", other.Host()+"/m", "--registry-config", config,
		"--username", "you", "--password-stdin").want(t, command.ExitOK, "Copied")
}

func TestTLS(t *testing.T) {
	secure, open := startRegistry(t, controlplane.WebOptions{TLS: true}), startRegistry(t, controlplane.WebOptions{})
	layout, _ := sample{}.layout(t)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, secure.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		args   []string
		code   command.ExitCode
		want   string
	}{
		"SelfSigned":   {"A certificate of an unknown authority is refused, and the message names a flag that helps.", []string{secure.Host() + "/m"}, command.ExitFailure, "--ca-file"},
		"PlainToTLS":   {"Plain HTTP to a TLS server has its own message.", []string{secure.Host() + "/m", "--plain-http"}, command.ExitFailure, "--plain-http"},
		"Loopback":     {"Loopback addresses can use plain HTTP, whatever the flags.", []string{open.Host() + "/m", "--ca-file", ca}, command.ExitOK, "Pushed"},
		"CAFile":       {"A trusted certificate is accepted.", []string{secure.Host() + "/m", "--ca-file", ca}, command.ExitOK, "Pushed"},
		"SkipVerify":   {"Any certificate is accepted without verification.", []string{secure.Host() + "/n", "--insecure-skip-tls-verify"}, command.ExitOK, "Pushed"},
		"Plain":        {"Plain HTTP is used if the flag is set.", []string{open.Host() + "/n", "--plain-http"}, command.ExitOK, "Pushed"},
		"NoSuchCA":     {"The message names a missing file.", []string{secure.Host() + "/m", "--ca-file", ca + "x"}, command.ExitUsage, "--ca-file"},
		"Contradicted": {"Flags that contradict each other are refused.", []string{secure.Host() + "/m", "--plain-http", "--ca-file", ca}, command.ExitUsage, "--plain-http"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := kymactl(t, append([]string{"module", "push", layout}, tc.args...)...)
			t.Log(strings.TrimSpace(got.err))
			if got.code != tc.code || !strings.Contains(got.err, tc.want) {
				t.Errorf("\n%s\nwant exit code %d and %q, got %d:\n%s", tc.reason, tc.code, tc.want, got.code, got.err)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, _ := sample{}.layout(t)
	kymactl(t, "module", "push", layout, r.Host()+"/m").want(t, command.ExitOK, "")
	r.SetFault(func(_ http.ResponseWriter, q *http.Request) bool {
		<-q.Context().Done()
		return true
	})
	for _, args := range [][]string{
		{"push", layout, r.Host() + "/m"},
		{"pull", r.Host() + "/m//" + greeter + ":1.0.0", "-o", filepath.Join(t.TempDir(), "out")},
		{"copy", r.Host() + "/m//" + greeter + ":1.0.0", r.Host() + "/n"},
	} {
		start := time.Now()
		kymactl(t, append([]string{"module", "--timeout", "300ms"}, args...)...).want(t, command.ExitTimeout, "--timeout is 300ms")
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: it took %s", args[0], took)
		}
	}
}

func TestRegistryIsGone(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	layout, _ := sample{}.layout(t)
	host := r.Host()
	r.Stop()
	kymactl(t, "module", "push", layout, host+"/m").want(t, command.ExitFailure, host)
}
