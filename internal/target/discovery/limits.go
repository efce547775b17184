// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Limits limit a discovery, that is, all of its documents together. Zero values select the defaults, which exceed what the largest
// known clusters serve several times.
type Limits struct {
	// Groups is the maximum number of API groups. The default is 2,000.
	Groups int
	// Versions is the maximum number of versions of all groups. The default is 4,000.
	Versions int
	// Kinds is the maximum number of kinds of all versions. The default is 20,000.
	Kinds int
	// Names is the maximum size of the result, in bytes. The default is 4 MiB.
	Names int
	// Bytes is the maximum size of the documents. The default is 32 MiB.
	Bytes int
	// Time is the time after which no more documents are requested. The default is one minute.
	Time time.Duration
}

func (l Limits) withDefaults() Limits {
	set := func(n *int, usual int) {
		if *n == 0 {
			*n = usual
		}
	}
	set(&l.Groups, 2_000)
	set(&l.Versions, 4_000)
	set(&l.Kinds, 20_000)
	set(&l.Names, 4<<20)
	set(&l.Bytes, 32<<20)
	if l.Time == 0 {
		l.Time = time.Minute
	}
	return l
}

// A LimitError reports that a discovery exceeds one of the limits.
type LimitError struct {
	// Host is the scheme, host and port of the API server.
	Host string
	// Exceeded is the limit, for example "2000 groups".
	Exceeded string
}

// Error returns one line that names the cluster and the limit, and explains what to do.
func (e *LimitError) Error() string {
	return "API server " + e.Host + ": the cluster has too many APIs: more than " + e.Exceeded +
		"; delete CRDs and APIServices that are not needed"
}

// ErrorForBytes returns the error of a document that is too large to read.
func (l Limits) ErrorForBytes(host string) *LimitError {
	return &LimitError{Host: host, Exceeded: fmt.Sprintf("%d MiB of documents", l.withDefaults().Bytes>>20)}
}

// A tally counts what a discovery has found. It is safe for concurrent use.
type tally struct {
	host   string
	limits Limits
	start  time.Time

	mu   sync.Mutex
	used Limits
}

// add adds to what was found. It returns a *LimitError if this is too much.
func (t *tally) add(more Limits) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	l, u := t.limits, &t.used
	u.Groups += more.Groups
	u.Versions += more.Versions
	u.Kinds += more.Kinds
	u.Names += more.Names
	u.Bytes += more.Bytes
	var exceeded string
	switch {
	case u.Groups > l.Groups:
		exceeded = fmt.Sprintf("%d groups", l.Groups)
	case u.Versions > l.Versions:
		exceeded = fmt.Sprintf("%d versions", l.Versions)
	case u.Kinds > l.Kinds:
		exceeded = fmt.Sprintf("%d kinds", l.Kinds)
	case u.Names > l.Names:
		exceeded = fmt.Sprintf("%d MiB of names", l.Names>>20)
	case u.Bytes > l.Bytes:
		return l.ErrorForBytes(t.host)
	default:
		return nil
	}
	return &LimitError{Host: t.host, Exceeded: exceeded}
}

// late returns a *LimitError if the time is over.
func (t *tally) late() error {
	if time.Since(t.start) <= t.limits.Time {
		return nil
	}
	return &LimitError{Host: t.host, Exceeded: "can be listed in " + t.limits.Time.String()}
}

// A counted reader adds the bytes that are read to a tally.
type counted struct {
	io.Reader

	tally *tally
}

// Read reads from the reader. It returns a *LimitError if all documents together are too large.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if e := c.tally.add(Limits{Bytes: n}); e != nil {
		return 0, e
	}
	return n, err
}
