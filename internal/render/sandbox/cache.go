// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
)

const (
	// cachedResults limits the size of the compressed results that a Pool keeps, in bytes.
	cachedResults = 32 << 20
	// maxResult is the maximum size of a compressed result that is kept, in bytes.
	maxResult = 4 << 20
)

// A resultKey identifies a rendering by everything that its result depends on.
type resultKey [sha256.Size]byte

// results contains the compressed frames of results by their inputs, so that a chart is rendered once for all clusters in which it is
// installed with the same values. It only contains results that are the same each time.
type results = bytelru.Cache[resultKey, []byte]

func newResults() *results {
	return bytelru.New[resultKey, []byte]("rendered_charts", bytelru.Scaled(cachedResults))
}

// keyOf returns the key of a request for a chart. Unless the result is shared, it is different for each tenant. Otherwise, tenants could
// measure whether another tenant uses the same values.
func keyOf(r *chartRequest, tenant string, shared bool) (key resultKey, err error) {
	if shared {
		tenant = ""
	}
	data, err := json.Marshal(struct {
		Chart  *chartRequest `json:"chart"`
		Shared bool          `json:"shared"`
		Tenant string        `json:"tenant"`
	}{r, shared, tenant})
	return sha256.Sum256(data), err
}

// A recorder records the frames of a result, unless it is too large.
type recorder struct {
	text     bytes.Buffer
	to       *flate.Writer
	tooLarge bool
}

func newRecorder() *recorder {
	r := &recorder{}
	// The level is valid, so there is no error.
	r.to, _ = flate.NewWriter(&r.text, flate.BestSpeed)
	return r
}

// add records a frame.
func (r *recorder) add(k kind, content []byte) error {
	if r == nil || r.tooLarge {
		return nil
	}
	err := writeFrame(r.to, k, content)
	if r.text.Len() > maxResult {
		r.tooLarge, r.text = true, bytes.Buffer{}
	}
	return err
}

// store adds the recorded frames to a cache.
func (r *recorder) store(to *results, key resultKey) error {
	if r.tooLarge {
		return nil
	}
	if err := r.to.Close(); err != nil {
		return err
	}
	text := bytes.Clone(r.text.Bytes())
	to.AddSized(key, text, int64(len(key)+len(text)))
	return nil
}

// chart renders a chart in a child, or takes the result from the cache.
func (p *Pool) chart(ctx context.Context, tenant string, x *exchange, c *render.Chart, o render.Options) error {
	r := &request{Chart: newChartRequest(c, o)}
	key, err := keyOf(r.Chart, tenant, o.Shared)
	if err != nil {
		return errors.Wrap(err, "cannot encode the values")
	}
	if text, ok := p.results.Get(key); ok {
		return p.cached(ctx, tenant, x, text)
	}
	x.record = true
	if err := p.exchange(ctx, tenant, x, r, c.Files()); err != nil || !x.details.Pure {
		return err
	}
	return x.recorder.store(p.results, key)
}

// cached reads a result from the cache. It counts as a rendering, which limits how many results are decoded at the same time.
func (p *Pool) cached(ctx context.Context, tenant string, x *exchange, text []byte) error {
	release, err := p.acquire(ctx, x.subject, tenant)
	if err != nil {
		return err
	}
	defer release()
	r, _ := resultReaders.Get().(*resultReader)
	if err := r.reset(text); err != nil {
		return err
	}
	x.from = r.frames
	err = panics.Do(x.subject, x.receive)
	x.from = nil
	if r.reset(nil) == nil {
		resultReaders.Put(r)
	}
	return err
}

// resultReaders contains idle readers of results, which allocate much more than most results. What they have read stays in their buffers until they
// read something else or are collected, and nothing can read it again.
var resultReaders = sync.Pool{New: func() any { //nolint:gochecknoglobals // Pools are safe for concurrent use.
	unpacked := flate.NewReader(nil)
	return &resultReader{unpacked: unpacked, frames: bufio.NewReaderSize(unpacked, frameSize)}
}}

// frameSize is the size of the buffer of a result in the cache, in bytes. What is larger is not copied to it.
const frameSize = 4 << 10

// A resultReader reads the frames of a result from the cache.
type resultReader struct {
	unpacked io.Reader
	frames   *bufio.Reader
}

// reset makes the reader read another result.
func (r *resultReader) reset(text []byte) error {
	resetter, ok := r.unpacked.(flate.Resetter)
	if !ok {
		return errors.New("the decompressor cannot be used again")
	}
	r.frames.Reset(r.unpacked)
	return resetter.Reset(bytes.NewReader(text), nil)
}
