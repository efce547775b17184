// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
)

const mib = 1 << 20

// frame returns an event of a watch in the binary format.
func frame(content string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(content)))) + content
}

// chunk returns what a body returns at once, with repeated characters shortened.
func chunk(p []byte) string {
	if n := len(p); n > 100 {
		return string(p[:10]) + "..."
	}
	return string(p)
}

// TestEvents checks that a watch is read event by event, each within the limits.
func TestEvents(t *testing.T) {
	const jsonType, binaryType = "application/json", "application/vnd.kubernetes.protobuf;stream=watch"
	large := strings.Repeat("x", largeEvent+1)
	const bookmark = `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	type want struct {
		Parts    []string
		TooLarge bool
	}
	cases := map[string]struct {
		reason, contentType, content, query string
		want                                want
	}{
		"Lines":       {reason: "Each line is an event.", contentType: jsonType, content: "{1}\n{2}\n{3}", want: want{Parts: []string{"{1}\n", "{2}\n", "{3}"}}},
		"Messages":    {reason: "Each message is an event.", contentType: binaryType, content: frame("one") + frame("") + frame("two\nlines"), want: want{Parts: []string{frame("one"), frame(""), frame("two\nlines")}}},
		"Cut":         {reason: "The client decides about an incomplete message.", contentType: binaryType, content: frame("one") + frame("two")[:5], want: want{Parts: []string{frame("one"), frame("two")[:5]}}},
		"CutLength":   {reason: "The client decides about an incomplete length of a message.", contentType: binaryType, content: frame("one") + "\x00\x00", want: want{Parts: []string{frame("one"), "\x00\x00"}}},
		"Large":       {reason: "After a large event, the watch is continued by another request, so that no buffer stays large.", contentType: jsonType, content: large + "\n{2}\n", want: want{Parts: []string{"xxxxxxxxxx..."}}},
		"LargeBinary": {reason: "After a large message, the watch is continued by another request.", contentType: binaryType, content: frame(large) + frame("two"), want: want{Parts: []string{frame(large)[:10] + "..."}}},
		"LargeList": {
			reason: "A list is streamed to its end even after a large event, because another request would begin it again.", contentType: jsonType, query: "&sendInitialEvents=true",
			content: large + "\n" + large + "k8s.io/initial-events-end BOOKMARK\n" + bookmark + "{4}\n",
			want:    want{Parts: []string{"xxxxxxxxxx...", "xxxxxxxxxx...", bookmark}},
		},
		"LargeBinaryList": {
			reason: "A list of messages is streamed to its end even after a large message.", contentType: binaryType, query: "&sendInitialEvents=true",
			content: frame(large) + frame("two") + frame("\n\x08BOOKMARK\x12 k8s.io/initial-events-end") + frame("four"),
			want:    want{Parts: []string{frame(large)[:10] + "...", frame("two"), frame("\n\x08BOOKMARK\x12 k8s.io/initial-events-end")}},
		},
		"SmallList": {
			reason: "The watch continues after the list if no event was large.", contentType: jsonType, query: "&sendInitialEvents=true",
			content: "{1}\n" + bookmark + "{3}\n" + large + "\n{5}\n", want: want{Parts: []string{"{1}\n", bookmark, "{3}\n", "xxxxxxxxxx..."}},
		},
		"Endless":   {reason: "An event without end is not read completely.", contentType: jsonType, content: "{1}\n" + strings.Repeat("x", mib+1), want: want{Parts: []string{"{1}\n"}, TooLarge: true}},
		"Announced": {reason: "A message whose announced length is too large is not read.", contentType: binaryType, content: frame("one") + "\xff\xff\xff\xff", want: want{Parts: []string{frame("one")}, TooLarge: true}},
		"Values":    {reason: "An event that becomes too large when it is decoded is not read.", contentType: jsonType, content: strings.Repeat("{}", 200_000) + "\n", want: want{TooLarge: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, rc := newTLS(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.contentType)
				_, _ = io.WriteString(w, tc.content)
			})
			budget := decoding.New(16 * mib)
			tr := newTransport(t, rc, Options{Budget: budget, Limits: Limits{EventBytes: mib}})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, rc.Host+"/x?watch=true"+tc.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, p := want{}, make([]byte, 2*mib)
			for err == nil {
				var n int
				if n, err = resp.Body.Read(p); n > 0 {
					got.Parts = append(got.Parts, chunk(p[:n]))
				}
			}
			got.TooLarge = IsTooLarge(err)
			if !got.TooLarge && !errors.Is(err, io.EOF) {
				t.Errorf("%s\nRead(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEventsArrive checks that an event is delivered although the next one has not begun.
func TestEventsArrive(t *testing.T) {
	end := make(chan struct{})
	_, rc := newTLS(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "{1}\n")
		w.(http.Flusher).Flush()
		<-end
	})
	defer close(end)
	tr := newTransport(t, rc, Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, rc.Host+"/x?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	var event json.RawMessage = make([]byte, 4)
	if _, err := io.ReadFull(resp.Body, event); err != nil || string(event) != "{1}\n" {
		t.Errorf("got %q, %v", event, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if _, err := resp.Body.Read(event); err == nil {
		t.Error("a closed body returns an error")
	}
}

// TestManyClusters checks that many clusters that send large lists at the same time take no more memory than the budget of the process
// has.
func TestManyClusters(t *testing.T) {
	const clusters, size = 24, 32 * mib
	list := `{"items":[` + strings.TrimSuffix(strings.Repeat("{},", 60_000), ",") + `]}`
	budget := decoding.New(size)
	transports := make([]*Transport, clusters)
	for i := range transports {
		_, rc := newTLS(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, list) })
		transports[i] = newTransport(t, rc, Options{Budget: budget})
	}
	before := heaptest.Bytes()
	var mu sync.Mutex
	var most int64
	var all sync.WaitGroup
	for _, tr := range transports {
		all.Go(func() {
			ctx, done := decoding.Hold(t.Context())
			defer done()
			text, _, err := get(ctx, tr, tr.URL())
			if err != nil {
				t.Error(err)
				return
			}
			var decoded any
			if err := json.Unmarshal([]byte(text), &decoded); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			most = max(most, heaptest.Bytes()-before)
			runtime.KeepAlive(decoded)
		})
	}
	all.Wait()
	// What the servers and connections take is not part of the budget.
	if most > size+32*mib {
		t.Errorf("%d clusters took %d bytes at the same time; want about %d at most", clusters, most, size)
	}
}

// TestBusy checks the error for a caller whose context ends while it waits for the budget, and that a closed body holds nothing.
func TestBusy(t *testing.T) {
	list := `{"items":[` + strings.TrimSuffix(strings.Repeat("{},", 30_000), ",") + `]}`
	_, rc := newTLS(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, list) })
	tr := newTransport(t, rc, Options{Budget: decoding.New(24 * mib)})
	ctx, done := decoding.Hold(t.Context())
	if _, _, err := get(ctx, tr, rc.Host); err != nil {
		t.Fatal(err)
	}
	inner, innerDone := decoding.Hold(ctx)
	defer innerDone()
	_, _, err := get(inner, tr, rc.Host)
	if u := (*UnreachableError)(nil); !errors.As(err, &u) || u.Down || u.Reason != errBusy.Error() {
		t.Errorf("a holder must not wait again: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := get(ended, tr, rc.Host); !errors.Is(err, context.Canceled) {
		t.Errorf("want the error of the caller, got %v", err)
	}
	done()
	for range 3 {
		if _, _, err := get(t.Context(), tr, rc.Host); err != nil {
			t.Errorf("a body that was closed holds nothing: %v", err)
		}
	}
}

// described returns the reason and the text of an error.
func described(err error) string { return fmt.Sprintf("%s: %v", apierrors.ReasonForError(err), err) }

// TestLongErrors checks that an error of a read request that is too long becomes a short one with the same status code, and that those of
// writes stay as they are.
func TestLongErrors(t *testing.T) {
	const jsonType, binaryType = "application/json", "application/vnd.kubernetes.protobuf"
	const replaced = "the response exceeds the size limit"
	status := func(message string) string {
		return `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"` + message + `","reason":"Forbidden","code":403}`
	}
	long := strings.Repeat("x", mib)
	type args struct {
		method, contentType, message string
		code                         int
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Short":  {reason: "An error of the usual size is returned.", args: args{http.MethodGet, jsonType, "no", 403}, want: "Forbidden: no"},
		"Long":   {reason: "A long error is still one of its kind.", args: args{http.MethodGet, jsonType, long, 403}, want: "Forbidden: " + replaced},
		"Code":   {reason: "The status code counts.", args: args{http.MethodGet, jsonType, long, 409}, want: "Conflict: the server reported a conflict"},
		"Binary": {reason: "In the binary format, only the code is kept.", args: args{http.MethodGet, binaryType, long, 403}, want: "Forbidden: unknown"},
		"Write":  {reason: "The causes of a rejected write are needed.", args: args{http.MethodPatch, jsonType, long, 403}, want: "Forbidden: " + long},
	}
	for name, tc := range cases {
		for how, flushed := range map[string]bool{"Announced": false, "Streamed": true} {
			t.Run(name+how, func(t *testing.T) {
				_, rc := newTLS(t, func(w http.ResponseWriter, _ *http.Request) {
					content := status(tc.args.message)
					w.Header().Set("Content-Type", tc.args.contentType)
					if !flushed {
						w.Header().Set("Content-Length", strconv.Itoa(len(content)))
					}
					w.WriteHeader(tc.args.code)
					_, _ = io.WriteString(w, content)
				})
				rc.GroupVersion, rc.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
				c, err := rest.RESTClientForConfigAndClient(rc, &http.Client{Transport: newTransport(t, rc, Options{})})
				if err != nil {
					t.Fatal(err)
				}
				err = c.Verb(tc.args.method).AbsPath("/x").Do(t.Context()).Error()
				if diff := cmp.Diff(tc.want, described(err)); diff != "" {
					t.Errorf("\n%s\n-want, +got:\n%.1000s", tc.reason, diff)
				}
			})
		}
	}
}

// TestKept checks what is left of an error that is kept.
func TestKept(t *testing.T) {
	long := strings.Repeat("x", 2*mostKept)
	failure := func(reason, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReason(reason), Message: message}}
	}
	down := &UnreachableError{Host: "h", Reason: "down"}
	plain := errors.New("no")
	cases := map[string]struct {
		reason string
		err    error
		want   error
	}{
		"None":       {reason: "No error is not an error."},
		"Short":      {reason: "An error of the usual size stays as it is.", err: plain, want: plain},
		"Typed":      {reason: "Callers distinguish types.", err: down, want: down},
		"Long":       {reason: "The text of a long error is shortened.", err: errors.New(long), want: errors.New(long[:mostKept] + "…")},
		"Status":     {reason: "A long error of an API server keeps its reason.", err: failure("Forbidden", long), want: failure("Forbidden", long[:mostKept]+"…")},
		"LongReason": {reason: "The reason can be long too.", err: failure(long, "no"), want: failure(long[:mostKept]+"…", "no")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(described(tc.want), described(Kept(tc.err))); diff != "" {
				t.Errorf("\n%s\nKept(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
