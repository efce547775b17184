// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// launcher is the name under which the binary of the tests starts what is in the directory jail beside it.
	launcher = "launcher"
	jail     = "jail"
	// program is the only file in the jail.
	program = "/provider"
	// nonRoot is the user of the image.
	nonRoot = 65532
	// failed is the exit code of a launcher that cannot start its program.
	failed = 125
)

func isLauncher(path string) bool { return filepath.Base(path) == launcher }

// launch runs the program of the jail as a container runs it: with no other file, without privileges, and with no way to get some. Without
// root, it needs a user namespace.
func launch(args []string) int {
	// The attributes are those of this thread, and of the processes that it starts.
	runtime.LockOSThread()
	attributes := &syscall.SysProcAttr{Chroot: filepath.Join(filepath.Dir(args[0]), jail), Pdeathsig: syscall.SIGKILL}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if os.Geteuid() == 0 {
		for c := uintptr(0); c <= unix.CAP_LAST_CAP && err == nil; c++ {
			err = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
		attributes.Credential = &syscall.Credential{Uid: nonRoot, Gid: nonRoot}
	} else {
		attributes.Cloneflags = syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: nonRoot, HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: nonRoot, HostID: os.Getgid(), Size: 1}}
	}
	cmd := exec.Command(program, args[1:]...) //nolint:noctx // It ends with this process.
	cmd.Env, cmd.Dir, cmd.SysProcAttr = os.Environ(), "/", attributes
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err == nil {
		err = cmd.Run()
	}
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		fmt.Fprintf(os.Stderr, "cannot run a program as a container does, which takes root or a user namespace: %v\n", err)
		return failed
	case exit.ExitCode() >= 0:
		return exit.ExitCode()
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok {
		_ = syscall.Kill(os.Getpid(), status.Signal())
	}
	return failed
}

// newJail makes a launcher, and a jail for it that is like the scratch image with a read-only root: it has the provider and an empty /tmp.
// It returns the launcher and the provider.
func newJail(t *testing.T) (string, string) {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, jail)
	if err := os.MkdirAll(filepath.Join(root, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	provider, err := controlplane.BuildProvider(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, launcher))
	}
	if err == nil {
		err = os.Chmod(root, 0o555) // Another user must be able to read it.
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(root, 0o755) })
	return filepath.Join(dir, launcher), provider
}

// statusOf returns the fields of /proc/PID/status that want has, of the process that executes a file. It is empty if there is none.
func statusOf(t *testing.T, file string, want map[string]string) map[string]string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, exe := range all {
		if to, err := os.Readlink(exe); err != nil || to != file {
			continue
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(exe), "status"))
		if err != nil {
			continue // It has ended.
		}
		for line := range bytes.Lines(text) {
			name, value, _ := strings.Cut(string(line), ":")
			if _, ok := want[name]; ok {
				out[name] = strings.Join(strings.Fields(value), " ")
			}
		}
	}
	return out
}

// TestScratchImage checks that the provider renders in its image: with no other file, a read-only root, as another user than root, and with
// neither capabilities nor a way to get some. Its children are confined as anywhere else.
func TestScratchImage(t *testing.T) {
	launcher, provider := newJail(t)
	outside, err := newPool(t, sandbox.Options{Executable: provider}).Check()
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(t, sandbox.Options{Executable: launcher, Spares: 1, Limits: sandbox.Limits{Memory: 64 << 20, CPU: 2 * time.Second}})
	inside, err := p.Check()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outside, inside); diff != "" || !inside.Memory || !inside.CPU {
		t.Errorf("how a child is confined: -elsewhere, +in the image:\n%s", diff)
	}
	none := strings.Repeat("0", 16)
	want := map[string]string{"NoNewPrivs": "1", "CapInh": none, "CapPrm": none, "CapEff": none, "CapAmb": none}
	if inside.Seccomp {
		want["Seccomp"] = "2"
	}
	if os.Geteuid() == 0 {
		id := fmt.Sprintf("%[1]d %[1]d %[1]d %[1]d", nonRoot)
		want["Uid"], want["Gid"], want["Groups"], want["CapBnd"] = id, id, "", none
	}
	// The spare child is confined soon after it has been started.
	deadline := time.Now().Add(time.Minute)
	got := statusOf(t, provider, want)
	for ; !cmp.Equal(want, got) && time.Now().Before(deadline); got = statusOf(t, provider, want) {
		<-time.After(10 * time.Millisecond)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a child: -want, +got:\n%s", diff)
	}

	chart := mustLoad(t, "== templates/a.yaml\n"+cm+"  at: {{ dateInZone \"15\" (toDate \"2006-01-02\" \"2024-01-01\") \"Europe/Berlin\" | quote }}\n  found: {{ (lookup \"v1\" \"Secret\" \"n\" \"m\").x }}\n")
	o := render.Options{ReleaseName: releaseName, Lookup: func(string, string, string, string) (map[string]any, error) { return map[string]any{"x": "y"}, nil }}
	here, err := chart.Render(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	there, err := p.Chart(t.Context(), "", chart, o)
	if diff := cmp.Diff(here, there, cmpopts.IgnoreUnexported(render.Rendered{}), cmpopts.IgnoreTypes(&record.Draft{}), cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("a chart: %v, -here, +in the image:\n%s", err, diff)
	}
	objects, _, err := p.Kustomization(t.Context(), "", []input.File{
		{Name: "kustomization.yaml", Data: []byte("resources: [a.yaml]\nnamePrefix: p-\n")},
		{Name: "a.yaml", Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n")},
	}, "")
	if err != nil || len(objects) != 1 || objects[0].GetName() != "p-a" {
		t.Errorf("a kustomization: got %v, %v", objects, err)
	}

	_, err = p.Chart(t.Context(), "", mustLoad(t, "== templates/a.yaml\n{{ range until 10000000 }}{{ range until 10000000 }}{{ end }}{{ end }}\n"), o)
	if e := (*sandbox.Error)(nil); !errors.As(err, &e) || e.Reason != sandbox.ReasonCPU && e.Reason != sandbox.ReasonMemory {
		t.Errorf("a chart without end: want a limit, got %v", err)
	}

	// Without a limit of its memory, this chart would be rendered.
	patient := newPool(t, sandbox.Options{Executable: launcher, Limits: sandbox.Limits{Memory: 64 << 20, CPU: 10 * time.Minute}})
	_, err = patient.Chart(t.Context(), "", mustLoad(t, "== templates/a.yaml\n{{ $x := repeat 600000000 \"x\" }}\n"), o)
	if e := (*sandbox.Error)(nil); !errors.As(err, &e) || e.Reason != sandbox.ReasonMemory {
		t.Errorf("a chart that needs much memory: want reason %s, got %v", sandbox.ReasonMemory, err)
	}
}

// mustLoad loads a chart with files in the form of func files.
func mustLoad(t *testing.T, text string) *render.Chart {
	t.Helper()
	c, err := render.Load(inputs(files(chartYAML + text)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
