// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/json"
)

// Limits limits the resources for rendering one chart or kustomization. A zero value means the default.
type Limits struct {
	CPU     time.Duration // CPU time, a multiple of a second; default 30 s
	Memory  int64         // bytes; default 512 MiB
	Output  int64         // size of the result, in bytes; default 32 MiB
	Objects int           // number of objects in the result; default 10 000
	Values  int           // values in all objects together: numbers, texts, and the like; default 1 000 000
	Lookups int           // calls of the template function lookup; default 1 000
}

// Defaults.
const (
	DefaultCPU     = 30 * time.Second
	DefaultMemory  = 512 << 20
	DefaultOutput  = 32 << 20
	DefaultObjects = 10_000
	DefaultValues  = 1_000_000
	DefaultLookups = 1_000
)

// minMemory is the minimum memory with which a child can start.
const minMemory = 16 << 20

// withDefaults returns the limits with zero values replaced by defaults.
func (l Limits) withDefaults() Limits {
	l.CPU = or(l.CPU, DefaultCPU)
	l.Memory = max(or(l.Memory, DefaultMemory), minMemory)
	l.Output = min(or(l.Output, DefaultOutput), maxFrame)
	l.Objects = or(l.Objects, DefaultObjects)
	l.Values = or(l.Values, DefaultValues)
	l.Lookups = or(l.Lookups, DefaultLookups)
	return l
}

func or[T int | int64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// cpuSeconds returns the limit of CPU time in seconds, as the kernel counts it.
func (l Limits) cpuSeconds() uint64 {
	return uint64(max((l.CPU+time.Second-1)/time.Second, 1))
}

// envLimits is the environment variable that passes the limits to a child as JSON. It is the only way to set them.
const envLimits = "RENDER_LIMITS"

// environment returns the environment of a child. It makes the Go runtime collect garbage rarely while there is enough memory.
func (l Limits) environment() ([]string, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the limits")
	}
	soft := l.Memory - l.Memory/8
	return []string{
		envLimits + "=" + string(text), "GOMEMLIMIT=" + strconv.FormatInt(soft, 10), "GOGC=400", "GOTRACEBACK=none",
		"GOMAXPROCS=" + strconv.Itoa(min(2, runtime.GOMAXPROCS(0))),
	}, nil
}

func limitsFromEnvironment() (Limits, error) {
	l := Limits{}
	err := json.Unmarshal([]byte(os.Getenv(envLimits)), &l)
	return l.withDefaults(), err
}
