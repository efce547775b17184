// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("module push", func() {
	var (
		p *testUser
		r *controlplane.Registry
		x *proxy
	)
	BeforeEach(func() {
		p, r = newTestUser(), startRegistry(controlplane.WebOptions{})
		x = newProxy(r.URL())
	})

	It("pushes all content, and nothing the second time", func(ctx SpecContext) {
		key, _ := p.hasKeys(ctx, "k")
		digest := p.makes(ctx, p.sample("source", "a", 2000), "layout", "--key", key)
		first := p.ok(ctx, "module", "push", "layout", x.host()+"/m")
		Expect(first.digest()).To(Equal(digest))
		Expect(first.reference()).To(Equal(x.host() + "/m/" + inRegistry + ":1.0.0"))
		layout := p.blobs("layout")
		for d, blob := range content(ctx, r, "m/"+inRegistry, "1.0.0") {
			Expect(layout).To(HaveKeyWithValue(d, blob))
		}
		Expect(fetch(ctx, r, "m/"+inRegistry, "manifests", strings.Replace(digest, ":", "-", 1)+".sig")).NotTo(BeNil(), "the signature of cosign")
		for _, args := range [][]string{{"layout", x.host() + "/m"}, {x.host() + "/m", "layout"}, {"layout", "oci://" + first.reference()}} {
			x.through()
			again := p.ok(ctx, append([]string{"module", "push"}, args...)...)
			Expect(again.stdout).To(Equal(first.stdout))
			Expect(x.writes()).To(BeEmpty())
		}
		Expect(*parsed[summary](p.ok(ctx, "module", "push", "layout", x.host()+"/m", "-o", "json").stdout).Uploaded).To(BeZero())
	})

	It("refuses to replace a version, unless it is told to", func(ctx SpecContext) {
		for i, layout := range []string{"a", "b", "a.tar"} {
			p.makes(ctx, p.sample(layout, []string{"a", "b", "a"}[i], 0), layout)
		}
		a := p.ok(ctx, "module", "push", "a", x.host()+"/m").digest()
		x.through()
		refused := p.fails(ctx, exitExists, []string{"1.0.0", a, "--overwrite"}, "module", "push", "b", x.host()+"/m")
		Expect(x.writes()).To(BeEmpty(), refused.String())
		Expect(p.ok(ctx, "module", "push", "a.tar", x.host()+"/m").digest()).To(Equal(a), "the same content is no other")
		b := p.ok(ctx, "module", "push", "b", x.host()+"/m", "--overwrite").digest()
		Expect(digestOf(fetch(ctx, r, "m/"+inRegistry, "manifests", "1.0.0"))).To(Equal(b))
		p.fails(ctx, exitExists, []string{b}, "module", "push", "a", x.host()+"/m")
		Expect(fetch(ctx, r, "m/"+inRegistry, "manifests", a)).NotTo(BeNil(), "what was there is found by its digest")
	})

	It("maps names to repositories, and versions to tags", func(ctx SpecContext) {
		p.makes(ctx, p.sample("source", "a", 0), "layout", "--version", "1.2.3-rc.1+b.5")
		Expect(p.ok(ctx, "module", "push", "layout", r.Host()+"/m").reference()).To(HaveSuffix("/m/" + inRegistry + ":1.2.3-rc.1.build-b.5"))
		s := p.inspect(ctx, r.Host()+"/m//"+greeter+":1.2.3-rc.1+b.5")
		Expect(s.Version).To(Equal("1.2.3-rc.1+b.5"))
		hashed := p.ok(ctx, "module", "push", "layout", r.Host()+"/m", "--name-mapping", "sha256-digest").reference()
		Expect(hashed).To(MatchRegexp(`/m/[0-9a-f]{64}:1\.2\.3-rc\.1\.build-b\.5$`))
		Expect(p.inspect(ctx, hashed).Digest).To(Equal(s.Digest))
	})

	It("of one module succeeds in 16 concurrent processes", func(ctx SpecContext) {
		digest := p.makes(ctx, p.sample("source", "a", 20_000), "layout")
		var all []*process
		for range 16 {
			all = append(all, p.start(ctx, "", "module", "push", "layout", r.Host()+"/m"))
		}
		for _, o := range all {
			done := o.wait()
			Expect(done.code).To(Equal(exitOK), done.String)
			Expect(done.digest()).To(Equal(digest))
		}
		Expect(content(ctx, r, "m/"+inRegistry, "1.0.0")).To(HaveKey(digest))
	})
})

// Two processes push different content as the same version. Registries cannot set a tag conditionally, so each process reads
// the tag again after its write.
var _ = Describe("Concurrent pushes", func() {
	It("succeed for one process, and fail for the other", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
		a, b := p.makes(ctx, p.sample("a", "a", 0), "a"), p.makes(ctx, p.sample("b", "b", 0), "b")
		Expect(a).NotTo(Equal(b))
		for round := range 5 {
			// Neither process writes the tag before both have read it, and neither reads it again before both have written it.
			asked, written := newMeeting(2), newMeeting(2)
			r.SetFault(func(_ http.ResponseWriter, q *http.Request) bool {
				if writesTag(q) {
					asked.wait(q.Context())
				}
				return false
			})
			base := fmt.Sprintf("m%d", round)
			start := func(layout string) *process {
				x := newProxy(r.URL())
				x.changes(func(resp *http.Response) {
					if writesTag(resp.Request) {
						written.wait(resp.Request.Context())
					}
				})
				return p.start(ctx, "", "module", "push", layout, x.host()+"/"+base)
			}
			one, two := start("a"), start("b")
			first, second := one.wait(), two.wait()
			r.SetFault(nil)
			Expect([]int{first.code, second.code}).To(ConsistOf(exitOK, exitExists), first.String()+second.String())
			won, lost := first, second
			if second.code == exitOK {
				won, lost = second, first
			}
			Expect(digestOf(fetch(ctx, r, base+"/"+inRegistry, "manifests", "1.0.0"))).To(Equal(won.digest()))
			Expect(theError(lost)).To(ContainSubstring(won.digest()))
			Expect(lost.stdout).To(BeEmpty())
		}
	})

	It("report the last digest that they read for the tag", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
		p.makes(ctx, p.sample("a", "a", 0), "a")
		p.makes(ctx, p.sample("b", "b", 0), "b")
		for round := range 8 {
			log := &tagLog{}
			base := fmt.Sprintf("m%d", round)
			var all []*process
			for i, layout := range []string{"a", "b"} {
				x := newProxy(r.URL())
				x.stalls = func(_ int, q *http.Request) bool {
					log.note(i, q, false)
					return false
				}
				x.changes(func(resp *http.Response) { log.note(i, resp.Request, true) })
				all = append(all, p.start(ctx, "", "module", "push", layout, x.host()+"/"+base))
			}
			var ended []run
			for _, o := range all {
				ended = append(ended, o.wait())
			}
			final := digestOf(fetch(ctx, r, base+"/"+inRegistry, "manifests", "1.0.0"))
			for i, done := range ended {
				Expect(done.code).To(BeElementOf(exitOK, exitExists), done.String)
				if done.code == exitOK && done.digest() != final {
					// This is allowed only if the other process may have written the tag after the last read of this one.
					Expect(log.mayBeUnseen(i)).To(BeTrue(), done.String()+ended[1-i].String()+fmt.Sprint(log.events))
				}
			}
			Expect([]int{ended[0].code, ended[1].code}).To(ContainElement(exitOK), ended[0].String()+ended[1].String())
		}
	})
})

func isTag(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") }

func writesTag(r *http.Request) bool { return r.Method == http.MethodPut && isTag(r) }

// A meeting lets its participants continue when all of them have come.
type meeting struct {
	missing atomic.Int32
	all     chan struct{}
}

func newMeeting(n int32) *meeting {
	m := &meeting{all: make(chan struct{})}
	m.missing.Store(n)
	return m
}

// wait returns when all participants wait, or when the context ends.
func (m *meeting) wait(ctx context.Context) {
	if m.missing.Add(-1) == 0 {
		close(m.all)
	}
	select {
	case <-m.all:
	case <-ctx.Done():
	}
}

// A tagLog records in which order the requests of two processes for a tag began and ended.
type tagLog struct {
	mu     sync.Mutex
	events []tagEvent
}

type tagEvent struct {
	who           int
	writes, ended bool
}

func (l *tagLog) note(who int, r *http.Request, ended bool) {
	if isTag(r) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.events = append(l.events, tagEvent{who, writesTag(r), ended})
	}
}

// mayBeUnseen reports whether the last read of the tag by a process began before a write by the other one had ended.
func (l *tagLog) mayBeUnseen(who int) bool {
	lastRead, otherWrote := -1, -1
	for i, e := range l.events {
		switch {
		case e.who == who && !e.writes && !e.ended:
			lastRead = i
		case e.who != who && e.writes && e.ended:
			otherWrote = i
		}
	}
	return lastRead < otherWrote
}
