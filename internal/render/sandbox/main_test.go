// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
)

// probeCommand makes the test binary try actions that a child must not be able to do.
const probeCommand = "probe"

func TestMain(m *testing.M) {
	switch {
	case IsChild(os.Args):
		os.Exit(Serve())
	case len(os.Args) == 2 && os.Args[1] == probeCommand:
		probe()
		os.Exit(0)
	case len(os.Args) == 2 && (os.Args[1] == hogCommand || os.Args[1] == confinedHogCommand):
		hog(os.Args[1] == confinedHogCommand)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A probed lists the actions that a confined process was able to do.
type probed struct {
	Confinement confine.State
	Opened      bool
	Dialed      bool
	Listened    bool
	Executed    bool
	Removed     bool
}

// probe confines the process, and then tries forbidden actions.
func probe() {
	victim := os.Getenv("VICTIM")
	var out probed
	out.Confinement = confine.Process(confine.Limits{CPUSeconds: 30, Memory: DefaultMemory})
	_, err := os.Open(victim)
	out.Opened = err == nil
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
	out.Dialed = err == nil || strings.Contains(err.Error(), "refused")
	_, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	out.Listened = err == nil
	out.Executed = exec.CommandContext(ctx, os.Args[0], "-test.run=^$").Run() == nil
	out.Removed = os.Remove(victim) == nil
	text, err := json.Marshal(out)
	if err != nil {
		os.Exit(1) //nolint:gocritic // The deferred call frees nothing that outlives the process.
	}
	_, _ = os.Stdout.Write(append(text, '\n'))
}

const (
	// hogCommand makes the test binary use hogSize of memory, and then wait until its stdin is closed. With confinedHogCommand, it
	// confines itself before that.
	hogCommand         = "hog"
	confinedHogCommand = "confined-hog"

	hogSize  = 640 << 20
	hogLimit = 64 << 20
)

// hog uses memory.
func hog(confined bool) {
	if confined {
		confine.Process(confine.Limits{CPUSeconds: 600, Memory: hogLimit})
	}
	const chunk, page = 1 << 20, 4 << 10
	var all [][]byte
	for range hogSize / chunk {
		b := make([]byte, chunk)
		for i := 0; i < len(b); i += page {
			b[i] = 1
		}
		all = append(all, b)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	all[0][0]++
}

// A tree contains the files of a chart or kustomization by path.
type tree map[string]string

func (t tree) files() []input.File {
	out := make([]input.File, 0, len(t))
	for name, text := range t {
		out = append(out, input.File{Name: name, Data: []byte(text)})
	}
	slices.SortFunc(out, func(a, b input.File) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// chartOf returns a chart app with files in addition to its Chart.yaml.
func chartOf(tb testing.TB, files tree) *render.Chart {
	tb.Helper()
	all := tree{"Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.2.3\n"}
	maps.Copy(all, files)
	c, err := render.Load(all.files())
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// configMap returns a ConfigMap with a text in data.v.
func configMap(name, text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  v: " + text + "\n"
}

// newPool returns a Pool that is closed at the end of the test.
func newPool(tb testing.TB, o Options) *Pool {
	tb.Helper()
	if o.Executable == "" {
		// A test binary can be started from a path that is deleted at the end of the test.
		path, err := os.Executable()
		if err != nil {
			tb.Fatal(err)
		}
		o.Executable = path
	}
	p, err := NewPool(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Close)
	return p
}
