// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// A server keeps events by name. fail returns the error of a request, by its number and method.
type server struct {
	mu       sync.Mutex
	requests int
	events   map[string]*corev1.Event
	fail     func(n int, method string) error
}

func (s *server) do(method string, e *corev1.Event) (*corev1.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.fail != nil {
		if err := s.fail(s.requests, method); err != nil {
			return nil, err
		}
	}
	if s.events == nil {
		s.events = map[string]*corev1.Event{}
	}
	s.events[e.Name] = e.DeepCopy()
	return e, nil
}

func (s *server) CreateWithEventNamespaceWithContext(_ context.Context, e *corev1.Event) (*corev1.Event, error) {
	return s.do("create", e)
}

func (s *server) PatchWithEventNamespaceWithContext(_ context.Context, e *corev1.Event, _ []byte) (*corev1.Event, error) {
	return s.do("patch", e)
}

// counts returns the counts of the events by object, reason and message.
func (s *server) counts() map[string]int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int32{}
	for _, e := range s.events {
		out[e.InvolvedObject.Name+" "+e.Reason+" "+e.Message] += e.Count
	}
	return out
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: types.UID(name)}}
}

// newTestQueue returns a queue without delays between attempts, and the number of dropped events by cause.
func newTestQueue(s Sink) (*Queue, map[string]int) {
	var mu sync.Mutex
	dropped := map[string]int{}
	q := NewQueue(s, clientgoscheme.Scheme, logging.NewNopLogger(), func(cause string) {
		mu.Lock()
		defer mu.Unlock()
		dropped[cause]++
	})
	q.work.ShutDown()
	q.work = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Microsecond, time.Microsecond))
	return q, dropped
}

// run starts a queue until it is empty, and returns once it has stopped.
func run(t *testing.T, q *Queue) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- q.Start(ctx) }()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		q.mu.Lock()
		empty := len(q.pending) == 0
		q.mu.Unlock()
		if empty {
			break
		}
		if time.Since(begin) > time.Minute {
			t.Fatal("events still wait after a minute")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func status(code int32, reason metav1.StatusReason) error {
	return &kerrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason, Message: "refused"}}
}

// TestQueue checks what is written and what is dropped when requests fail.
func TestQueue(t *testing.T) {
	boom := errors.New("connection refused")
	first := func(most int, err error) func(int, string) error {
		return func(n int, _ string) error {
			if n <= most {
				return err
			}
			return nil
		}
	}
	kind := schema.GroupResource{Resource: "events"}
	cases := map[string]struct {
		reason  string
		fail    func(n int, method string) error
		record  func(q *Queue)
		want    map[string]int32
		dropped map[string]int
	}{
		"Written":     {reason: "An event is written.", want: map[string]int32{"a Failed x": 1}},
		"Unreachable": {reason: "An event is written again until that succeeds.", fail: first(30, boom), want: map[string]int32{"a Failed x": 1}},
		"Overloaded":  {reason: "An event is written again if the API server is overloaded.", fail: first(30, kerrors.NewTooManyRequests("busy", 1)), want: map[string]int32{"a Failed x": 1}},
		"Quota":       {reason: "A quota may have room a moment later.", fail: first(3, kerrors.NewForbidden(kind, "a", boom)), want: map[string]int32{"a Failed x": 1}},
		"Forbidden": {
			reason: "Without the permission to create events, there are no further attempts.", fail: first(1000, kerrors.NewForbidden(kind, "a", boom)),
			want: map[string]int32{}, dropped: map[string]int{"Rejected": 1},
		},
		"Invalid": {
			reason: "An invalid event is dropped, and the next one is written.", fail: first(1, status(422, metav1.StatusReasonInvalid)),
			record: func(q *Queue) { q.Recorder("c").Event(pod("a"), "Warning", "Failed", "next") },
			want:   map[string]int32{"a Failed next": 1}, dropped: map[string]int{"Rejected": 1},
		},
		"Expired": {
			reason: "An event is dropped after an hour, when the API server would delete it.", record: func(q *Queue) {
				later := time.Now().Add(2 * time.Hour)
				q.now = func() time.Time { return later }
			},
			want: map[string]int32{}, dropped: map[string]int{"Expired": 1},
		},
		"Lost": {
			reason: "If the response is lost and the event exists, it was written.", fail: func(n int, _ string) error {
				if n == 1 {
					return boom
				}
				return kerrors.NewAlreadyExists(kind, "a")
			},
			want: map[string]int32{},
		},
		"Exists": {
			reason: "If another event has the same name, the event is dropped.", fail: first(1, kerrors.NewAlreadyExists(kind, "a")),
			want: map[string]int32{}, dropped: map[string]int{"Rejected": 1},
		},
		"Long": {
			reason: "A long message is truncated, because events must not need much memory.",
			record: func(q *Queue) { q.Recorder("c").Event(pod("a"), "Warning", "Long", strings.Repeat("ü", maxMessage)) },
			want:   map[string]int32{"a Failed x": 1, "a Long " + strings.Repeat("ü", maxMessage/2-2) + "…": 1},
		},
		"Merged": {
			reason: "An event that repeats a waiting one needs no request.",
			record: func(q *Queue) { q.Recorder("c").Event(pod("a"), "Warning", "Failed", "x") },
			want:   map[string]int32{"a Failed x": 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &server{fail: tc.fail}
			q, dropped := newTestQueue(s)
			q.Recorder("c").AnnotatedEventf(pod("a"), nil, "Warning", "Failed", "%s", "x")
			if tc.record != nil {
				tc.record(q)
			}
			run(t, q)
			if diff := cmp.Diff(tc.want, s.counts()); diff != "" {
				t.Errorf("\n%s\nwritten: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.dropped == nil {
				tc.dropped = map[string]int{}
			}
			if diff := cmp.Diff(tc.dropped, dropped); diff != "" {
				t.Errorf("\n%s\ndropped: -want, +got:\n%s", tc.reason, diff)
			}
			if q.total != 0 || len(q.pending) != 0 {
				t.Errorf("\n%s\nwant no waiting events, got %d, %d", tc.reason, q.total, len(q.pending))
			}
		})
	}
}

// TestRepeats checks that an event that was written before is counted, and that frequent events do not suppress others.
func TestRepeats(t *testing.T) {
	s := &server{}
	q, dropped := newTestQueue(s)
	write := func(reason, message string) {
		q.Recorder("c").Eventf(pod("a"), "Warning", reason, "%s", message)
		key, _ := q.work.Get()
		q.writeAll(t.Context(), key)
		q.work.Done(key)
	}
	for range 100 {
		write("Failed", "x")
	}
	write("RolledBack", "y")
	if diff := cmp.Diff(map[string]int32{"a Failed x": maxRepeats, "a RolledBack y": 1}, s.counts()); diff != "" {
		t.Errorf("written: -want, +got:\n%s", diff)
	}
	s.fail = func(_ int, method string) error {
		if method == "patch" {
			return kerrors.NewNotFound(schema.GroupResource{Resource: "events"}, "a")
		}
		return nil
	}
	write("RolledBack", "y")
	if got := s.counts()["a RolledBack y"]; got != 2 {
		t.Errorf("an event that was deleted must be created again with its count 2, got %d", got)
	}
	if diff := cmp.Diff(map[string]int{"Frequent": 100 - maxRepeats}, dropped); diff != "" {
		t.Errorf("dropped: -want, +got:\n%s", diff)
	}
}

// TestMany checks that no event of many objects is lost while the API server is unavailable.
func TestMany(t *testing.T) {
	const objects = 5_000
	s := &server{fail: func(n int, _ string) error {
		if n%3 == 0 {
			return kerrors.NewServiceUnavailable("busy")
		}
		return nil
	}}
	q, dropped := newTestQueue(s)
	for i := range objects {
		q.Recorder("c").Event(pod(strconv.Itoa(i)), "Warning", "Failed", "x")
		q.Recorder("c").Event(pod(strconv.Itoa(i)), "Normal", "Installed", "x")
	}
	run(t, q)
	if got := len(s.counts()); got != 2*objects || len(dropped) != 0 {
		t.Errorf("want %d events, got %d, dropped %v", 2*objects, got, dropped)
	}
}

// TestStop checks that events that wait for another attempt are written when the provider stops, and that those that cannot be written
// are counted.
func TestStop(t *testing.T) {
	boom := errors.New("connection refused")
	cases := map[string]struct {
		reason  string
		lasts   bool
		want    map[string]int32
		dropped map[string]int
	}{
		"Recovered":   {"The last attempt does not wait.", false, map[string]int32{"a Failed x": 1, "a Failed y": 1}, map[string]int{}},
		"Unreachable": {"What is lost is counted.", true, map[string]int32{}, map[string]int{"Stopped": 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			failed, once := make(chan struct{}), sync.Once{}
			s := &server{fail: func(n int, _ string) error {
				once.Do(func() { close(failed) })
				if n == 1 || tc.lasts {
					return boom
				}
				return nil
			}}
			q, dropped := newTestQueue(s)
			q.work = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Hour))
			q.Recorder("c").Event(pod("a"), "Warning", "Failed", "x")
			q.Recorder("c").Event(pod("a"), "Warning", "Failed", "y")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- q.Start(ctx) }()
			<-failed
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, s.counts()); diff != "" {
				t.Errorf("\n%s\nwritten: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.dropped, dropped); diff != "" {
				t.Errorf("\n%s\ndropped: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A lastWords runnable records an event when it stops, like a controller whose reconcile ends.
type lastWords struct {
	started chan struct{}
	record  func()
}

// Start waits for the end of the context, and until all others have noticed it, and records. It must be called in a synctest bubble.
func (l *lastWords) Start(ctx context.Context) error {
	close(l.started)
	<-ctx.Done()
	synctest.Wait()
	l.record()
	return nil
}

// TestProducer checks that the queue stops after the runnables that record events, and in the same group of the manager, whose runnables
// stop at the same time and before the lease is released.
func TestProducer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		q, dropped := newTestQueue(s)
		words := &lastWords{started: make(chan struct{}), record: func() { q.Recorder("c").Event(pod("a"), "Normal", "Installed", "x") }}
		p := q.Producer(words)
		for name, r := range map[string]any{"Queue": q, "Producer": p} {
			if l, ok := r.(manager.LeaderElectionRunnable); ok && !l.NeedLeaderElection() {
				t.Errorf("%s: want a runnable of the leader", name)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Start(ctx) }()
		<-words.started
		go func() { ended <- q.Start(ctx) }()
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(map[string]int32{"a Installed x": 1}, s.counts()); diff != "" || len(dropped) != 0 {
			t.Errorf("written: -want, +got:\n%s\ndropped %v", diff, dropped)
		}
	})
}

// TestTotal checks the limits of all waiting events.
func TestTotal(t *testing.T) {
	const limit, each = 40 << 10, perEvent + 1
	cases := map[string]struct {
		reason             string
		size               int64
		eventType, message string
		dropped            int
	}{
		"Room":         {reason: "The last event fits.", size: limit/4*3 - each, eventType: "Normal", message: "y"},
		"Full":         {reason: "Normal events leave room for warnings.", size: limit/4*3 - each + 1, eventType: "Normal", message: "y", dropped: 1},
		"Warning":      {reason: "There is room for warnings.", size: limit - each, eventType: "Warning", message: "y"},
		"FullWarnings": {reason: "Even for them, the memory is limited.", size: limit - each + 1, eventType: "Warning", message: "y", dropped: 1},
		"Long":         {reason: "A long message takes more room.", size: limit - each, eventType: "Warning", message: "yy", dropped: 1},
		"Merged":       {reason: "An event that repeats a waiting one needs no room.", size: limit, eventType: "Normal", message: "x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, dropped := newTestQueue(&server{})
			q.limit = limit
			q.Recorder("c").Event(pod("a"), "Normal", "Reason", "x")
			q.size = tc.size
			q.Recorder("c").Event(pod("a"), tc.eventType, "Reason", tc.message)
			if dropped["Full"] != tc.dropped {
				t.Errorf("\n%s\nwant %d dropped events, got %v", tc.reason, tc.dropped, dropped)
			}
		})
	}
}

// TestSize checks that the size of the waiting events is known.
func TestSize(t *testing.T) {
	q, _ := newTestQueue(&server{fail: func(int, string) error { return kerrors.NewForbidden(schema.GroupResource{}, "a", nil) }})
	for i := range 2 * maxPending {
		q.Recorder("c").Event(pod("a"), "Warning", "Reason", strings.Repeat("x", i))
	}
	want := int64(0)
	for _, e := range q.pending {
		want += sizeOf(e)
	}
	if q.size != want || want == 0 {
		t.Errorf("want a size of %d bytes, got %d", want, q.size)
	}
	run(t, q)
	if q.size != 0 || q.total != 0 {
		t.Errorf("want no waiting events, got %d with %d bytes", q.total, q.size)
	}
}
