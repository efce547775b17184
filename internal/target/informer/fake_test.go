// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A fake is an API server that contains objects of one kind, in either form. Like older versions, it does not support streaming
// lists, unless streams is true.
type fake struct {
	mu       sync.Mutex
	version  int
	objects  map[string]*unstructured.Unstructured
	watchers []*watch.RaceFreeFakeWatcher
	// log contains all events, for watches that begin at an earlier version.
	log []watch.Event
	err error
	// gone is true if the kinds are no longer served. unasked is the error if this cannot be determined.
	gone bool
	// pages is true if lists are returned in pages, as requested.
	pages bool
	// streams is true if lists can be streamed. The watch ends after the list, as after an object that is larger than an event may be.
	streams bool
	// listing is called after a list is read and before the response is sent. It can be nil.
	listing  func(o metav1.ListOptions)
	unasked  error
	requests []string
	// from is the version from which the last watch began. reads is true if bookmarks are returned by Next.
	from  string
	reads bool
	// lasts is the duration of the last watch in seconds, and cuts is true if watches end unexpectedly.
	lasts int64
	cuts  bool
	// busy is true if streams are never idle.
	busy bool
	// attached is true if streams end with the context of their request. silent is true if the first events of a streamed list never arrive.
	attached, silent bool
	// beginning is called before the response to a watch is sent. It can be nil.
	beginning func()
	// last is the stream of the last watch.
	last *fakeStream
	// padding is added to the versions of lists, events and bookmarks when they are sent.
	padding string
	// unchecked is the error of lists of a single object, which check the version.
	unchecked error
}

func newFake() *fake {
	return &fake{version: 100, objects: map[string]*unstructured.Unstructured{}}
}

func (f *fake) request(verb string, r Resource, o metav1.ListOptions) error {
	f.requests = append(f.requests, fmt.Sprintf("%s %s/%s metadata=%t %s", verb, r.Version, r.Resource, r.MetadataOnly, o.LabelSelector))
	return f.err
}

func (f *fake) List(_ context.Context, r Resource, o metav1.ListOptions) (runtime.Object, error) {
	l, err := f.read(r, o)
	if err == nil && f.listing != nil {
		f.listing(o)
	}
	return l, err
}

func (f *fake) read(r Resource, o metav1.ListOptions) (runtime.Object, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.request("list", r, o); err != nil {
		return nil, err
	}
	if o.Limit == 1 && f.unchecked != nil {
		return nil, f.unchecked
	}
	l := &unstructured.UnstructuredList{}
	l.SetResourceVersion(strconv.Itoa(f.version) + f.padding)
	for i, n := range slices.Sorted(maps.Keys(f.objects)) {
		if f.pages && strconv.Itoa(i) == o.Continue {
			o.Continue = ""
		}
		if f.pages && o.Continue != "" {
			continue
		}
		if f.pages && int64(len(l.Items)) == o.Limit {
			l.SetContinue(strconv.Itoa(i))
			break
		}
		l.Items = append(l.Items, *f.objects[n].DeepCopy())
	}
	return l, nil
}

// make returns the summary of an object that was just written. It sends no event.
func (f *fake) make(_, set, uid string) cluster.ObjectState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return cluster.ObjectState{UID: uid, ResourceVersion: strconv.Itoa(f.version + 1), Set: set}
}

func (f *fake) Served(context.Context, schema.GroupVersionKind) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.gone && f.unasked == nil, f.unasked
}

// serve starts or stops serving the kinds.
func (f *fake) serve(yes bool) {
	f.mu.Lock()
	f.gone = !yes
	f.mu.Unlock()
	if yes {
		f.fail(nil)
		return
	}
	f.fail(errPage)
}

func (f *fake) Watch(ctx context.Context, r Resource, o metav1.ListOptions) (Stream, error) {
	if f.beginning != nil {
		f.beginning()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.SendInitialEvents != nil {
		return f.stream(r, o)
	}
	if err := f.request("watch", r, o); err != nil {
		return nil, err
	}
	w := watch.NewRaceFreeFake()
	f.watchers, f.from, f.lasts = append(f.watchers, w), o.ResourceVersion, *o.TimeoutSeconds
	from, err := strconv.Atoi(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	for _, e := range f.log {
		u := e.Object.(*unstructured.Unstructured)
		if v, err := strconv.Atoi(u.GetResourceVersion()); err == nil && v > from {
			f.send(w, e.Type, u)
		}
	}
	f.last = &fakeStream{Interface: w, reads: f.reads, cut: f.cuts, busy: f.busy}
	if f.attached {
		f.last.ctx = ctx
	}
	return f.last, nil
}

// bookmark sends a bookmark.
func (f *fake) bookmark() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetResourceVersion(strconv.Itoa(f.version))
	for _, w := range f.watchers {
		f.send(w, watch.Bookmark, u)
	}
}

// send sends an event. The caller holds the lock.
func (f *fake) send(w *watch.RaceFreeFakeWatcher, event watch.EventType, u *unstructured.Unstructured) {
	u = u.DeepCopy()
	u.SetResourceVersion(u.GetResourceVersion() + f.padding)
	w.Action(event, u)
}

// check sets the error of lists of a single object.
func (f *fake) check(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unchecked = err
}

// pad sets the padding of versions.
func (f *fake) pad(padding string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.padding = padding
}

// began returns the version from which the last watch began.
func (f *fake) began() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.from
}

// duration returns the duration of the last watch in seconds.
func (f *fake) duration() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lasts
}

// waiting returns the waiter of the last watch.
func (f *fake) waiting() Waiter { return f.current().waiter }

// current returns the stream of the last watch.
func (f *fake) current() *fakeStream {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// stream returns a streamed list. The caller holds the lock.
func (f *fake) stream(r Resource, o metav1.ListOptions) (Stream, error) {
	if !f.streams {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
	}
	if err := f.request("stream", r, o); err != nil {
		return nil, err
	}
	w := watch.NewRaceFreeFake()
	if f.silent {
		return &fakeStream{Interface: w}, nil
	}
	for _, n := range slices.Sorted(maps.Keys(f.objects)) {
		w.Add(f.objects[n].DeepCopy())
	}
	end := &unstructured.Unstructured{Object: map[string]any{}}
	end.SetResourceVersion(strconv.Itoa(f.version))
	end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	w.Action(watch.Bookmark, end)
	w.Stop()
	return &fakeStream{Interface: w}, nil
}

// A fakeStream waits for events in a goroutine, and is idle before each of them.
type fakeStream struct {
	watch.Interface

	// ctx is the context with which the stream ends. It is nil for one that is detached, as over HTTP/2.
	ctx context.Context
	// reads is true if Next returns bookmarks, too.
	reads bool
	// cut is true if the watch ends unexpectedly.
	cut bool
	// busy is true if the stream is never idle.
	busy   bool
	waiter Waiter
	// waited is true if next and err are the result of the next call of Next.
	waited bool
	next   watch.Event
	err    error
}

func (s *fakeStream) Idle(w Waiter) bool {
	if s.waited {
		return false
	}
	s.waiter = w
	if s.busy {
		return false
	}
	go func() {
		s.next, s.err = s.Next()
		for s.err == nil && s.next.Type == watch.Bookmark && !s.reads {
			w.Bookmark(s.next.Object.(*unstructured.Unstructured).GetResourceVersion())
			s.next, s.err = s.Next()
		}
		s.waited = true
		w.Wake()
	}()
	return true
}

func (s *fakeStream) Detached() func() {
	if s.ctx != nil {
		return nil
	}
	return s.Stop
}

func (s *fakeStream) Next() (watch.Event, error) {
	if s.waited {
		s.waited = false
		return s.next, s.err
	}
	var done <-chan struct{}
	if s.ctx != nil {
		done = s.ctx.Done()
	}
	select {
	case e, ok := <-s.ResultChan():
		switch {
		case !ok && s.cut:
			return e, io.ErrUnexpectedEOF
		case !ok:
			return e, io.EOF
		}
		return e, nil
	case <-done:
		return watch.Event{}, s.ctx.Err()
	}
}

// fail makes all further requests fail, and ends the watches. If err is nil, requests succeed again.
func (f *fake) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	for _, w := range f.watchers {
		w.Stop()
	}
	f.watchers = nil
}

// asked returns the requests since its last call.
func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests
	f.requests = nil
	return r
}

// set sets an object, and returns its summary.
func (f *fake) set(name, set, uid string) cluster.ObjectState {
	return f.update(name, func(u *unstructured.Unstructured) {
		u.SetAPIVersion("v1")
		u.SetKind("Secret")
		u.SetNamespace("ns")
		u.SetName(name)
		u.SetUID(types.UID(uid))
		u.SetLabels(labels(set))
	})
}

// update replaces an object, and returns its summary.
func (f *fake) update(name string, fill func(u *unstructured.Unstructured)) cluster.ObjectState {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	u := &unstructured.Unstructured{Object: map[string]any{}}
	fill(u)
	u.SetResourceVersion(strconv.Itoa(f.version))
	event := watch.Modified
	if f.objects[name] == nil {
		event = watch.Added
	}
	f.objects[name] = u
	f.log = append(f.log, watch.Event{Type: event, Object: u})
	for _, w := range f.watchers {
		f.send(w, event, u)
	}
	return fakeInterpreter{}.State(u)
}

func (f *fake) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	u := f.objects[name].DeepCopy()
	u.SetResourceVersion(strconv.Itoa(f.version))
	delete(f.objects, name)
	f.log = append(f.log, watch.Event{Type: watch.Deleted, Object: u})
	for _, w := range f.watchers {
		w.Delete(u)
	}
}
