// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// parentVariable makes this test binary run as the parent that is killed.
const parentVariable = "PROVIDER_KYMA_TEST_PARENT_DIR"

// TestKilledParent kills a process that started a child, with a signal that the process cannot handle.
func TestKilledParent(t *testing.T) {
	if dir := os.Getenv(parentVariable); dir != "" {
		beParent(t, dir)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledParent$")
	cmd.Env = append(os.Environ(), parentVariable+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	err = Wait{What: "the child of a killed process is gone"}.Until(t.Context(), func(context.Context) (bool, string, error) {
		err := syscall.Kill(pid, 0)
		return errors.Is(err, syscall.ESRCH) || zombie(pid), "it runs", nil
	})
	if err != nil {
		t.Error(err)
	}
}

func beParent(t *testing.T, dir string) {
	t.Helper()
	p, err := Start(dir, "sleep", "/bin/sleep", nil, "600")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString(strconv.Itoa(p.PID()) + "\n")
	<-p.done
}

// zombie reports whether a process has ended but was not reaped. In a container without an init process, this never happens.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}
