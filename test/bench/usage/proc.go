// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// ticksPerSecond is the unit of CPU times in /proc: USER_HZ, which is 100 on every platform of Go. See proc_pid_stat(5).
const ticksPerSecond = 100

// cpuSeconds returns the CPU time of a process in user and system mode, in seconds, and that of its children that have ended.
func cpuSeconds(pid int) (own, children float64, err error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, errors.Wrap(err, "cannot read the CPU time of the provider")
	}
	// The second field is the name in parentheses, which may contain any characters.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 15 {
		return 0, 0, errors.New("cannot read the CPU time of the provider: its stat is too short")
	}
	var ticks [4]float64
	for i, f := range fields[11:15] { // utime, stime, cutime and cstime, fields 14 to 17 as they are counted there.
		if ticks[i], err = strconv.ParseFloat(f, 64); err != nil {
			return 0, 0, errors.Wrap(err, "cannot read the CPU time of the provider")
		}
	}
	return (ticks[0] + ticks[1]) / ticksPerSecond, (ticks[2] + ticks[3]) / ticksPerSecond, nil
}

// memoryMiB returns the resident memory of a process and its peak, in MiB.
func memoryMiB(pid int) (now, peak float64, err error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, 0, errors.Wrap(err, "cannot read the memory of the provider")
	}
	if now, err = kibOf(string(data), "VmRSS:"); err != nil {
		return 0, 0, err
	}
	peak, err = kibOf(string(data), "VmHWM:")
	return now / 1024, peak / 1024, err
}

func kibOf(status, field string) (float64, error) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib, errors.Wrap(err, "cannot read the memory of the provider")
		}
	}
	return 0, errors.Errorf("cannot read the memory of the provider: its status has no %s", field)
}

// ResetPeak makes the peak memory of the provider start from its current memory.
func (p *Provider) ResetPeak() error {
	path := filepath.Join("/proc", strconv.Itoa(p.PID()), "clear_refs")
	return errors.Wrap(os.WriteFile(path, []byte("5"), 0), "cannot reset the peak memory of the provider")
}
