// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
)

// plenty is a CPU time that no test exceeds.
const plenty = 10 * time.Minute

// TestMemory checks that the memory of a child is limited if its CPU time is not. Without a limit, the charts would be rendered.
func TestMemory(t *testing.T) {
	cases := map[string]struct {
		reason string
		chart  string
	}{
		"Growing":  {reason: "A list of large texts.", chart: `{{ $d := dict }}{{ range $i := until 640 }}{{ $_ := set $d (toString $i) (repeat 1000000 "x") }}{{ end }}`},
		"Doubling": {reason: "A text that doubles.", chart: `{{ $s := repeat 1000000 "x" }}{{ range until 9 }}{{ $s = printf "%s%s" $s $s }}{{ end }}`},
	}
	l := Limits{CPU: plenty, Memory: 128 << 20}
	// A child has some memory in addition, also for its binary.
	const reserve = 256 << 20
	p := newPool(t, Options{Limits: l})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), plenty)
			defer cancel()
			c := chartOf(t, tree{"templates/a.yaml": tc.chart})
			x := &exchange{subject: "chart", limits: p.options.Limits, lookup: noLookup}
			err := p.exchange(ctx, "", x, &request{Chart: newChartRequest(c, render.Options{ReleaseName: "rel"})}, c.Files())
			if e := (*Error)(nil); !errors.As(err, &e) || e.Reason != ReasonMemory {
				t.Errorf("\n%s\nwant reason %s, got %v", tc.reason, ReasonMemory, err)
			}
			<-x.process.ended
			usage, ok := x.process.cmd.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok {
				t.Fatal("the memory of the child is unknown")
			}
			if used := usage.Maxrss << 10; !confine.Race && used > l.Memory+reserve {
				t.Errorf("\n%s\nwant at most %d bytes, got %d", tc.reason, l.Memory+reserve, used)
			}
		})
	}
}

// TestMemoryOfBlockedChild checks that a child whose own check does not run is ended by the parent, and by the kernel.
func TestMemoryOfBlockedChild(t *testing.T) {
	if confine.Race {
		t.Skip("the race detector uses too much memory")
	}
	cases := map[string]struct {
		reason  string
		command string
		// watched is true if the parent watches the child.
		watched bool
	}{
		"Parent": {reason: "The parent kills it.", command: hogCommand, watched: true},
		"Kernel": {reason: "The kernel refuses memory.", command: confinedHogCommand},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			c := &process{cmd: exec.CommandContext(ctx, os.Args[0], tc.command), crash: &head{most: maxCrash}, ended: make(chan struct{})}
			c.cmd.Stderr = c.crash
			in, err := c.cmd.StdinPipe()
			if err == nil {
				err = c.cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close() }()
			go func() {
				_ = c.cmd.Wait()
				close(c.ended)
			}()
			l := Limits{CPU: plenty, Memory: hogLimit}
			if tc.watched {
				newPool(t, Options{Limits: l}).watch(ctx, c, nil)
			}
			<-c.ended
			if got := c.reason(l); ctx.Err() != nil || got != ReasonMemory {
				t.Errorf("\n%s\nwant reason %s, got %s, %v: %s", tc.reason, ReasonMemory, got, ctx.Err(), c.lastWords())
			}
		})
	}
}
