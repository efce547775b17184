// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/target/h2"
)

// quiet is the body of a response that has nothing to read after its content.
type quiet struct{ *strings.Reader }

func (quiet) Close() error { return nil }

func (q quiet) Idle(h2.Waiter) bool { return q.Len() == 0 }

// A waiter collects the versions of bookmarks.
type waiter struct{ versions []string }

func (*waiter) Wake() {}

func (*waiter) Patience() time.Duration { return 0 }

func (w *waiter) Bookmark(version string) { w.versions = append(w.versions, version) }

// TestIdle checks when the body of a watch is idle after its first event.
func TestIdle(t *testing.T) {
	const jsonType, binaryType = "application/json", "application/vnd.kubernetes.protobuf;stream=watch"
	type args struct {
		contentType, content, query string
		body                        func(string) io.ReadCloser
		// read is the number of bytes that the client reads.
		read int
	}
	idles := func(s string) io.ReadCloser { return quiet{strings.NewReader(s)} }
	cases := map[string]struct {
		reason string
		args   args
		want   bool
	}{
		"Event":     {reason: "A watch is idle after an event.", args: args{contentType: jsonType, content: "{1}\n", query: "watch=true", read: 4}, want: true},
		"LineBreak": {reason: "A decoder need not read the line break.", args: args{contentType: jsonType, content: "{1}\n", query: "watch=true", read: 3}, want: true},
		"Half":      {reason: "A watch is not idle within an event.", args: args{contentType: jsonType, content: "{1}\n", query: "watch=true", read: 2}},
		"Next":      {reason: "A watch is not idle before the next event.", args: args{contentType: jsonType, content: "{1}\n{2}\n", query: "watch=true", read: 4}},
		"NextHalf":  {reason: "A watch is not idle when the next event has begun.", args: args{contentType: jsonType, content: "{1}\n{", query: "watch=true", read: 4}},
		"Message":   {reason: "A watch is idle after a message.", args: args{contentType: binaryType, content: frame("one"), query: "watch=true", read: 7}, want: true},
		"Messages":  {reason: "A watch is not idle before the next message.", args: args{contentType: binaryType, content: frame("one") + frame("two"), query: "watch=true", read: 7}},
		"Large": {reason: "A watch that ends after a large event is not idle.",
			args: args{contentType: jsonType, content: strings.Repeat("x", largeEvent) + "\n", query: "watch=true", read: largeEvent + 1}},
		"Other": {reason: "Other bodies do not report when there is something to read.", args: args{contentType: jsonType, content: "{1}\n", query: "watch=true", read: 4,
			body: func(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }}},
		"NoWatch": {reason: "A response that is not a watch ends.", args: args{contentType: jsonType, content: "{1}\n", query: "limit=1", read: 4}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.args.body == nil {
				tc.args.body = idles
			}
			g := &guard{limits: Limits{}.withDefaults(mib), budget: decoding.New(16 * mib)}
			resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {tc.args.contentType}}, Body: tc.args.body(tc.args.content)}
			b := g.bodyOf(t.Context(), func() {}, &url.URL{RawQuery: tc.args.query}, resp, time.Now())
			// The end of the content is not read.
			if _, err := io.ReadFull(b, make([]byte, tc.args.read)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.Idle(&waiter{})); diff != "" {
				t.Errorf("\n%s\nIdle(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTake checks which data that arrives while a watch is idle need not be read.
func TestTake(t *testing.T) {
	type want struct {
		Taken    bool
		Versions []string
	}
	cases := map[string]struct {
		reason         string
		listing, large bool
		data           string
		want           want
	}{
		"Bookmark": {reason: "The waiter gets the version.", data: bookmarkOfDeployment, want: want{Taken: true, Versions: []string{"7"}}},
		"Event":    {reason: "An event must be read.", data: `{"type":"ADDED","object":{}}` + "\n"},
		"Listing":  {reason: "A bookmark can be the end of a streamed list.", listing: true, data: bookmarkOfDeployment},
		"Large":    {reason: "A watch that ends after a large event is read to its end.", large: true, data: bookmarkOfDeployment},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &waiter{}
			b := &body{waiter: w, listing: tc.listing, large: tc.large}
			got := want{Taken: b.Take([]byte(tc.data)), Versions: w.versions}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nTake(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
