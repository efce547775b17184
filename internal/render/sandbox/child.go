// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"context"
	"io"
	stdlog "log"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
	_ "time/tzdata" // A child cannot read files.

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/kustomize"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// Command is the argument with which a Pool starts the running binary as a child.
const Command = "render"

// The exit codes of a child. The Go runtime uses 2.
const (
	exitDone   = 0
	exitFailed = 1
	exitMemory = 3
	exitCPU    = 4
)

const (
	// maxStack limits the stack of a goroutine in a child, in bytes. Go cannot recover from a stack overflow.
	maxStack = 128 << 20
	// memoryInterval is the interval at which a child checks its memory.
	memoryInterval = 10 * time.Millisecond
)

// IsChild reports whether the arguments of the process, including its name, are the arguments of a child. If so, call Serve
// before anything else.
func IsChild(args []string) bool {
	return len(args) == 2 && args[1] == Command && os.Getenv(envLimits) != ""
}

// Serve answers one request of the parent, on stdin and stdout, and returns the exit code of the process.
func Serve() int {
	l, err := limitsFromEnvironment()
	if err != nil {
		return exitFailed
	}
	os.Clearenv()
	// Libraries log values, which can be confidential.
	stdlog.SetOutput(io.Discard)
	debug.SetMaxStack(maxStack)
	// The time zone is read from a file, which the process will not be able to open later.
	_, _ = time.Now().Zone()
	watchCPU()
	c := newChild(l, os.Stdin, os.Stdout)
	ready, err := json.Marshal(confine.Process(confine.Limits{CPUSeconds: l.cpuSeconds(), Memory: l.Memory}))
	if err == nil {
		err = warmUp()
	}
	if err == nil {
		err = c.send(kindReady, ready)
	}
	if err == nil {
		go watchMemory(l.Memory)
		err = c.serve()
	}
	if err != nil {
		return exitFailed
	}
	return exitDone
}

// watchCPU ends the process when it has used its CPU time. The kernel kills it a second later.
func watchCPU() {
	used := make(chan os.Signal, 1)
	notifyCPU(used)
	go func() {
		<-used
		os.Exit(exitCPU)
	}()
}

// watchMemory ends the process when its memory exceeds the limit. The kernel limits are a second line of defense, because they
// also include memory that the Go runtime only reserves.
func watchMemory(limit int64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	for range time.Tick(memoryInterval) {
		metrics.Read(sample)
		if used := sample[0].Value.Uint64() + sample[1].Value.Uint64(); used > uint64(limit) { //nolint:gosec // It is positive.
			os.Exit(exitMemory)
		}
	}
}

// A child serves one request.
type child struct {
	limits  Limits
	in      *bufio.Reader
	out     *bufio.Writer
	answers chan []byte

	used   usage
	result []message
}

// A message is a part of the result. The child sends no message before it knows that all of them are within the limits.
// Otherwise, the parent could decode a large part of a result that it then rejects.
type message struct {
	kind    kind
	content []byte
}

func newChild(l Limits, in io.Reader, out io.Writer) *child {
	return &child{limits: l, in: bufio.NewReaderSize(in, pipeSize), out: bufio.NewWriterSize(out, pipeSize), answers: make(chan []byte)}
}

// send sends a message immediately, before the messages of the result.
func (c *child) send(k kind, content []byte) error {
	if err := writeFrame(c.out, k, content); err != nil {
		return err
	}
	return c.out.Flush()
}

func (c *child) serve() error {
	k, head, err := readFrame(c.in, maxFrame)
	if err != nil || k != kindRequest {
		return err // The parent has closed the pipe, because it no longer needs the child.
	}
	r, err := decodeRequest(head)
	if err != nil {
		return c.fail(errors.Wrap(err, "cannot decode the request"))
	}
	files, err := r.readFiles(c.in)
	if err != nil {
		return err
	}
	go c.readAnswers()
	switch {
	case r.Chart != nil:
		return c.chart(r.Chart, files)
	case r.Plain:
		return c.plain(files)
	}
	return c.kustomization(r.Directory, files)
}

// readAnswers reads the answers of the parent, and ends the process if the parent exits.
func (c *child) readAnswers() {
	for {
		k, content, err := readFrame(c.in, maxFrame)
		if err != nil || k != kindAnswer {
			os.Exit(exitFailed)
		}
		c.answers <- content
	}
}

func (c *child) chart(r *chartRequest, files []input.File) error {
	chart, err := render.Load(files, render.WithDigest(r.Digest))
	if err != nil {
		return c.fail(err)
	}
	o := r.options()
	o.Lookup, o.Begin = c.lookup, func(template string) { _ = c.send(kindTemplate, []byte(template)) }
	rendered, err := chart.Render(context.Background(), o)
	if err != nil {
		return c.fail(err)
	}
	return c.answer(rendered)
}

// answer sends a rendered chart.
func (c *child) answer(rendered *render.Rendered) error {
	// The parent decodes hooks when it runs them.
	for i := range rendered.Hooks {
		objects, err := yamldoc.ChartObjects([]byte(rendered.Hooks[i].Manifest + "\n"))
		if err != nil {
			continue
		}
		if err := c.add(0, objects); err != nil {
			return c.end(err)
		}
	}
	if err := c.add(kindCRD, rendered.CRDs); err != nil {
		return c.end(err)
	}
	if err := c.add(kindObject, rendered.Objects); err != nil {
		return c.end(err)
	}
	d := rendered.Details()
	d.Values = exact(d.Values)
	return c.finish(d)
}

func (c *child) kustomization(dir string, files []input.File) error {
	text, err := kustomize.Build(context.Background(), files, dir)
	if err != nil {
		return c.fail(err)
	}
	objects, err := yamldoc.Objects(text)
	if err != nil {
		return c.fail(err)
	}
	if err := c.add(kindObject, objects); err != nil {
		return c.end(err)
	}
	return c.finish(render.Details{})
}

// plain reads the files one after the other, so that only one of them is in memory at a time.
func (c *child) plain(files []input.File) error {
	for i := range files {
		if err := c.send(kindTemplate, []byte(files[i].Name)); err != nil {
			return err
		}
		read, err := yamldoc.Files(files[i : i+1])
		if err != nil {
			return c.fail(err)
		}
		if err := c.add(kindObject, read[0]); err != nil {
			return c.end(err)
		}
		c.result = append(c.result, message{kind: kindFile})
	}
	return c.finish(render.Details{})
}

// fail sends an error in the content.
func (c *child) fail(err error) error {
	return c.send(kindError, []byte(err.Error()))
}

// end sends an error that add returned.
func (c *child) end(err error) error {
	if e := (*excessError)(nil); errors.As(err, &e) {
		return c.send(kindExcess, []byte(e.text))
	}
	return c.fail(err)
}

// add adds objects to the result. Objects of kind 0 are only counted. If there are too many objects, it returns an
// *excessError.
func (c *child) add(k kind, objects []*unstructured.Unstructured) error {
	for _, u := range objects {
		data, err := json.Marshal(exact(u.Object))
		if err != nil {
			return errors.Wrapf(err, "cannot encode %s %q", u.GetKind(), u.GetName())
		}
		if err := c.used.add(c.limits, data, 1); err != nil {
			return err
		}
		if k != 0 {
			c.result = append(c.result, message{kind: k, content: data})
		}
	}
	return nil
}

// finish sends the result.
func (c *child) finish(d render.Details) error {
	data, err := json.Marshal(d)
	if err != nil {
		return c.fail(errors.Wrap(err, "cannot encode the result"))
	}
	if err := c.used.add(c.limits, data, 0); err != nil {
		return c.end(err)
	}
	for _, m := range c.result {
		if err := writeFrame(c.out, m.kind, m.content); err != nil {
			return err
		}
	}
	return c.send(kindDetails, data)
}

// lookup is the template function lookup. The parent answers.
func (c *child) lookup(apiVersion, kind, namespace, name string) (map[string]any, error) {
	q, err := json.Marshal(lookupRequest{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
	if err != nil {
		return nil, err
	}
	if err := c.send(kindLookup, q); err != nil {
		return nil, err
	}
	a := lookupAnswer{}
	if err := decodeNumbers(<-c.answers, &a); err != nil {
		return nil, err
	}
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	return a.Object, json.ConvertMapNumbers(a.Object, 0)
}
