// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
	"github.com/crossplane-contrib/provider-kyma/internal/render/templates"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

const (
	watchInterval = 25 * time.Millisecond
	// patience is how long a child runs before its priority is lowered.
	patience = 100 * time.Millisecond
	// maxCompeting is the CPU time after which a child gets only what others leave, even of a single CPU. A child of low priority still
	// delays each process that becomes ready to run by up to a scheduling period. Charts that are used in practice take less.
	maxCompeting = time.Second
	// memoryReserve is the memory that a child can use in addition to its limit before the parent kills it, for example memory
	// that the Go runtime reserves. Usually, the child ends itself before that, unless it is too busy to measure its memory.
	memoryReserve = 128 << 20
)

// Chart renders a chart in a child, with the same result as c.Render. If the child does not respond, Chart returns an *Error.
// Renderings with the same tenant, which can be empty, share processes. A result that is the same each time is cached, and is also used
// for other tenants if it is shared.
func (p *Pool) Chart(ctx context.Context, tenant string, c *render.Chart, o render.Options) (*render.Rendered, error) {
	x := &exchange{
		subject: "chart " + quote(c.Name()), root: c.Name() + "/", limits: p.options.Limits,
		lookup: func() templates.LookupFunc {
			if o.Lookup != nil {
				return o.Lookup
			}
			return templates.NewLookup(ctx, o.REST)
		},
	}
	if err := p.chart(ctx, tenant, x, c, o); err != nil {
		return nil, err
	}
	out := c.Rendered(o, x.details)
	out.Objects = x.objects
	if !o.SkipCRDs {
		out.CRDs = x.crds
	}
	return out, nil
}

// Kustomization returns the objects of the kustomization in a directory of files, in the order of kustomize.Build, and
// their size in bytes.
func (p *Pool) Kustomization(
	ctx context.Context, tenant string, files []input.File, dir string,
) (objects []*unstructured.Unstructured, size int, err error) {
	x := &exchange{subject: "kustomization " + quote(dir), limits: p.options.Limits, lookup: noLookup}
	if err := p.exchange(ctx, tenant, x, &request{Directory: dir}, files); err != nil {
		return nil, 0, err
	}
	return x.objects, int(x.used.bytes), nil
}

// smallPlain is the size in bytes up to which a file of plain objects without anchors is read in this process. The objects in
// such a file take at most a few megabytes.
const smallPlain = 32 << 10

// Plain returns the objects of each file of YAML or JSON, as yamldoc.Files does.
func (p *Pool) Plain(ctx context.Context, tenant string, files []input.File) ([][]*unstructured.Unstructured, error) {
	if len(files) == 0 || len(files) == 1 && len(files[0].Data) <= smallPlain && !bytes.ContainsRune(files[0].Data, '&') {
		return yamldoc.Files(files)
	}
	x := &exchange{subject: "layer", limits: p.options.Limits, lookup: noLookup}
	if err := p.exchange(ctx, tenant, x, &request{Plain: true}, files); err != nil {
		return nil, err
	}
	if len(x.files) != len(files) {
		return nil, errors.Errorf("%s: the rendering process read %d of %d files", x.subject, len(x.files), len(files))
	}
	return x.files, nil
}

func noLookup() templates.LookupFunc { return templates.NewLookup(context.Background(), nil) }

func quote(s string) string { return `"` + input.Line(s) + `"` }

// exchange sends a request to a child, and stores the answers in x.
func (p *Pool) exchange(ctx context.Context, tenant string, x *exchange, r *request, files []input.File) error {
	begin := time.Now()
	defer func() { p.options.Observe(time.Since(begin)) }()
	release, err := p.acquire(ctx, x.subject, tenant)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		release()
		return stopped(ctx, x.subject, "")
	}
	c, err := p.take()
	if err != nil {
		release()
		return errors.Wrap(err, x.subject)
	}
	done := make(chan struct{})
	defer func() {
		close(done)
		// The result does not have to wait until the memory of the child is freed. The next rendering does.
		go func() {
			c.end()
			release()
			p.refill()
		}()
	}()
	go p.watch(ctx, c, done)

	x.process, x.from = c, c.out
	if x.record {
		x.recorder = newRecorder()
	}
	written := r.write(c.in, files)
	if written == nil {
		written = panics.Do(x.subject, x.receive)
	}
	return x.outcome(ctx, written)
}

// watch kills a child when ctx ends, or when its memory exceeds the limit. If a child takes long, watch lowers its priority,
// and starts its successor. If it takes even longer, it only gets idle CPUs.
func (p *Pool) watch(ctx context.Context, c *process, done <-chan struct{}) {
	begin, pid := time.Now(), c.cmd.Process.Pid
	low, idle := false, false
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-c.ended:
			return
		case <-ctx.Done():
			c.kill(ReasonDeadline)
			return
		case <-tick.C:
		}
		if !confine.Race && memoryOf(pid) > p.options.Limits.Memory+memoryReserve {
			c.kill(ReasonMemory)
			return
		}
		if !low && time.Since(begin) > patience {
			low = true
			lowerPriority(pid)
			p.refill()
		}
		if !idle && cpuTimeOf(pid) > maxCompeting {
			idle = true
			useIdleCPUs(pid)
		}
	}
}

// stopped returns the error of a rendering whose context has ended.
func stopped(ctx context.Context, subject, template string) error {
	cause := context.Cause(ctx)
	return &Error{
		Reason: ReasonDeadline, Subject: subject, Template: template, Cause: cause,
		Detail: "rendering was stopped: " + cause.Error(),
	}
}

// An exchange is one request and its answer.
type exchange struct {
	subject string
	root    string // beginning of the paths of templates
	limits  Limits
	process *process
	from    *bufio.Reader // messages of the child
	lookup  func() templates.LookupFunc

	record   bool      // whether to record the messages of the result
	recorder *recorder // may be nil

	used     usage
	template string
	looker   templates.LookupFunc

	crds, objects []*unstructured.Unstructured
	files         [][]*unstructured.Unstructured
	details       render.Details
}

// A contentError is an error in the chart or kustomization, which would also occur if it was rendered in this process.
type contentError struct{ text string }

func (e *contentError) Error() string { return e.text }

// outcome returns the error of an exchange, given the error of the messages.
func (x *exchange) outcome(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e := (*contentError)(nil); errors.As(err, &e) {
		return errors.New(e.text)
	}
	if panics.Is(err) {
		return err
	}
	template := strings.TrimPrefix(x.template, x.root)
	if e := (*excessError)(nil); errors.As(err, &e) {
		return &Error{Reason: ReasonOutput, Subject: x.subject, Template: template, Detail: e.text}
	}
	if e := (*tooLargeError)(nil); errors.As(err, &e) {
		return &Error{Reason: ReasonOutput, Subject: x.subject, Template: template, Detail: x.limits.tooLarge()}
	}
	if ctx.Err() != nil {
		return stopped(ctx, x.subject, template)
	}
	// In the remaining case, the pipe has ended because the process has ended.
	x.process.kill("")
	<-x.process.ended
	r := x.process.reason(x.limits)
	out := &Error{Reason: r, Subject: x.subject, Template: template}
	switch r {
	case ReasonCPU:
		out.Detail = "rendering was stopped: the CPU time exceeds the limit of " + x.limits.CPU.String()
	case ReasonMemory:
		out.Detail = "rendering was stopped: the memory usage exceeds the limit of " + bytesOf(x.limits.Memory)
	default:
		out.Detail = "the rendering process ended: " + input.Line(x.process.lastWords())
	}
	return out
}

// receive receives the messages of the child until the last one.
func (x *exchange) receive() error {
	for {
		k, content, err := readFrame(x.from, max(x.limits.Output-x.used.bytes, maxReady))
		if err != nil {
			return err
		}
		switch k {
		case kindTemplate:
			x.template = input.Line(string(content))
		case kindLookup:
			err = x.answer(content)
		case kindCRD:
			x.crds, err = x.object(x.crds, k, content)
		case kindObject:
			x.objects, err = x.object(x.objects, k, content)
		case kindFile:
			// This message marks the end of the objects of a file.
			x.files, x.objects = append(x.files, x.objects), nil
			err = x.used.add(x.limits, content, 0)
		case kindError:
			return &contentError{text: string(content[:min(len(content), maxReady)])}
		case kindExcess:
			return &excessError{text: input.Line(string(content[:min(len(content), maxReady)]))}
		case kindDetails:
			return x.decodeDetails(content)
		default:
			return &excessError{text: "the rendering process sent an unknown message"}
		}
		if err != nil {
			return err
		}
	}
}

func (x *exchange) object(to []*unstructured.Unstructured, k kind, content []byte) ([]*unstructured.Unstructured, error) {
	if err := x.used.add(x.limits, content, 1); err != nil {
		return to, err
	}
	if err := x.recorder.add(k, content); err != nil {
		return to, err
	}
	o, err := decodeMap(content)
	if err != nil {
		return to, &contentError{text: x.subject + ": cannot decode an object: " + input.Line(err.Error())}
	}
	return append(to, &unstructured.Unstructured{Object: o}), nil
}

func (x *exchange) decodeDetails(content []byte) error {
	if err := x.used.add(x.limits, content, 0); err != nil {
		return err
	}
	if err := x.recorder.add(kindDetails, content); err != nil {
		return err
	}
	err := decodeNumbers(content, &x.details)
	if err == nil {
		err = json.ConvertMapNumbers(x.details.Values, 0)
	}
	if err != nil {
		return &contentError{text: x.subject + ": cannot decode the result: " + input.Line(err.Error())}
	}
	return nil
}

// answer answers a call of lookup.
func (x *exchange) answer(content []byte) error {
	var q lookupRequest
	if err := json.Unmarshal(content, &q); err != nil {
		return &contentError{text: x.subject + ": cannot decode a lookup request: " + input.Line(err.Error())}
	}
	if x.used.lookups++; x.used.lookups > x.limits.Lookups {
		return &excessError{text: x.limits.tooManyLookups()}
	}
	if x.looker == nil {
		x.looker = x.lookup()
	}
	var a lookupAnswer
	object, err := x.looker(q.APIVersion, q.Kind, q.Namespace, q.Name)
	if err != nil {
		a.Error = err.Error()
	} else {
		a.Object = exact(object)
	}
	data, err := json.Marshal(a)
	if err != nil {
		return errors.Wrap(err, "cannot encode the result of a lookup")
	}
	return writeFrame(x.process.in, kindAnswer, data)
}
