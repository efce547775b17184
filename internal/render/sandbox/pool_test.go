// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/attacktest"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
)

// TestConfinement checks that a child can neither open files, nor reach the network, nor start processes, regardless of what
// the machine supports.
func TestConfinement(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], probeCommand)
	cmd.Env = []string{"VICTIM=" + victim}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got probed
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	t.Logf("missing on this machine: %q", got.Confinement.Missing())
	want := probed{Confinement: got.Confinement, Removed: !got.Confinement.Seccomp && !got.Confinement.Landlock}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a confined process: -want, +got:\n%s", diff)
	}
	known := runtime.GOOS == "linux" || runtime.GOOS == "darwin"
	if c := got.Confinement; known && (!c.Files || !c.CPU) {
		t.Errorf("the limits of open files and of CPU time need no privileges, got %+v", c)
	}
	if c := got.Confinement; runtime.GOOS == "linux" && c.Memory == confine.Race {
		t.Errorf("the memory must be limited, unless the race detector is on: %+v", c)
	}
}

// TestNothingPassed checks that a child does not inherit the environment of the parent.
func TestNothingPassed(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	c, err := startReady(newPool(t, Options{}).options)
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	for _, v := range c.cmd.Env {
		name, _, _ := strings.Cut(v, "=")
		if name != envLimits && !strings.HasPrefix(name, "GO") {
			t.Errorf("a child gets the variable %s", name)
		}
	}
}

// block returns the options for a rendering that begins, and then waits until the channel is closed.
func block() (render.Options, <-chan struct{}, chan struct{}) {
	began, end := make(chan struct{}), make(chan struct{})
	return render.Options{ReleaseName: "rel", Lookup: func(string, string, string, string) (map[string]any, error) {
		close(began)
		<-end
		return map[string]any{}, nil
	}}, began, end
}

// TestShares checks that a tenant gets at most half of the processes.
func TestShares(t *testing.T) {
	p := newPool(t, Options{Processes: 2, Wait: time.Millisecond})
	asking := chartOf(t, tree{"templates/a.yaml": configMap("a", `{{ lookup "v1" "Secret" "n" "m" | len }}`)})
	plain := chartOf(t, tree{"templates/a.yaml": configMap("a", "x")})
	blocked, began, end := block()
	result := make(chan error)
	go func() {
		_, err := p.Chart(t.Context(), "team-a", asking, blocked)
		result <- err
	}()
	<-began

	_, err := p.Chart(t.Context(), "team-a", plain, render.Options{ReleaseName: "rel"})
	if e := (*Error)(nil); !errors.As(err, &e) || e.Reason != ReasonBusy {
		t.Errorf("a second rendering of the tenant: want reason %s, got %v", ReasonBusy, err)
	}
	if _, err := p.Chart(t.Context(), "team-b", plain, render.Options{ReleaseName: "rel"}); err != nil {
		t.Errorf("a rendering of another tenant: %v", err)
	}
	close(end)
	// The following code waits until the process has ended.
	p.options.Wait = time.Minute
	if err := <-result; err != nil {
		t.Errorf("the first rendering: %v", err)
	}
	if _, err := p.Chart(t.Context(), "team-a", plain, render.Options{ReleaseName: "rel"}); err != nil {
		t.Errorf("a rendering of the tenant after the first one: %v", err)
	}
}

// TestDeadline checks that a rendering ends when the context ends, regardless of what its template does.
func TestDeadline(t *testing.T) {
	p := newPool(t, Options{})
	blocked, began, end := block()
	defer close(end)
	c := chartOf(t, tree{"templates/a.yaml": configMap("a", `{{ lookup "v1" "Secret" "n" "m" | len }}`) + attacktest.Endless})
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("it took too long")
	o := render.Options{ReleaseName: "rel"}
	o.Lookup = func(string, string, string, string) (map[string]any, error) {
		cancel(cause)
		return map[string]any{}, nil
	}
	_, err := p.Chart(ctx, "", c, o)
	var e *Error
	if !errors.As(err, &e) || e.Reason != ReasonDeadline || !errors.Is(err, cause) {
		t.Errorf("want reason %s, got %v", ReasonDeadline, err)
	}
	if !strings.HasPrefix(text(err), `chart "app": templates/a.yaml: `) || !strings.HasSuffix(text(err), "rendering was stopped: it took too long") {
		t.Errorf("the error names chart and template: %v", err)
	}
	_, err = p.Chart(ctx, "", c, blocked)
	if !errors.Is(err, cause) {
		t.Errorf("after the deadline, nothing is rendered: %v", err)
	}
	select {
	case <-began:
		t.Error("after the deadline, nothing is rendered, but it began")
	default:
	}
}

// TestSpares checks that spare children are started, replaced when they die, and ended.
func TestSpares(t *testing.T) {
	p := newPool(t, Options{Spares: 1})
	c := chartOf(t, tree{"templates/a.yaml": configMap("a", "x")})
	first := awaitSpare(t, p)
	first.kill("")
	<-first.ended
	if _, err := p.Chart(t.Context(), "", c, render.Options{ReleaseName: "rel", Revision: 1}); err != nil {
		t.Errorf("a spare child that died: %v", err)
	}
	second := awaitSpare(t, p)
	if _, err := p.Chart(t.Context(), "", c, render.Options{ReleaseName: "rel", Revision: 2}); err != nil {
		t.Error(err)
	}
	<-second.ended // A child serves one request.
	third := awaitSpare(t, p)
	p.Close()
	<-third.ended
	if _, err := p.Chart(t.Context(), "", c, render.Options{ReleaseName: "rel", Revision: 3}); err == nil {
		t.Error("a closed Pool renders nothing")
	}
}

// awaitSpare returns the spare child once it is ready. The child stays in the Pool.
func awaitSpare(tb testing.TB, p *Pool) *process {
	tb.Helper()
	for {
		p.mu.Lock()
		spares := p.spares
		p.mu.Unlock()
		if len(spares) > 0 {
			return spares[0]
		}
		select {
		case <-tb.Context().Done():
			tb.Fatal("no spare child was started")
		case <-time.After(time.Millisecond):
		}
	}
}

// TestNoChild checks that if a binary cannot be started, the error contains its path.
func TestNoChild(t *testing.T) {
	p := newPool(t, Options{Executable: filepath.Join(t.TempDir(), "missing")})
	_, err := p.Chart(t.Context(), "", chartOf(t, tree{}), render.Options{ReleaseName: "rel"})
	if err == nil || !strings.HasPrefix(err.Error(), `chart "app": cannot start a rendering process: `) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Check(); err == nil {
		t.Error("Check must fail")
	}
}

// TestPanicOfLookup checks that a lookup that panics in this process is an error of the chart, and that the share of the
// rendering is released.
func TestPanicOfLookup(t *testing.T) {
	p := newPool(t, Options{Processes: 1})
	c := chartOf(t, tree{"templates/a.yaml": configMap("a", `{{ lookup "v1" "Secret" "n" "m" | len }}`)})
	o := render.Options{ReleaseName: "rel", Lookup: func(string, string, string, string) (map[string]any, error) { panic("a bad object") }}
	if _, err := p.Chart(t.Context(), "", c, o); !panics.Is(err) || !strings.Contains(text(err), `chart "app"`) {
		t.Errorf("want the error of a panic that names the chart, got %v", err)
	}
	o.Lookup = func(string, string, string, string) (map[string]any, error) { return map[string]any{}, nil }
	if _, err := p.Chart(t.Context(), "", c, o); err != nil {
		t.Errorf("the next rendering: %v", err)
	}
}

// TestObserve checks that each rendering is measured, even if it fails.
func TestObserve(t *testing.T) {
	calls := 0
	p, err := NewPool(Options{Observe: func(time.Duration) { calls++ }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	files := []input.File{{Name: "a.yaml", Data: []byte(configMap("a", "x"))}, {Name: "b.yaml", Data: []byte("{")}}
	if _, err := p.Plain(t.Context(), "", files); err == nil || calls != 1 {
		t.Errorf("Plain(...): want an error and one call, got %v and %d", err, calls)
	}
}
