// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strconv"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/wire"
)

// watchTime is the duration of a watch that does not request one.
const watchTime = 30 * time.Minute

// A watcher sends the events of a watch.
type watcher struct {
	*session

	options   cluster.ListOptions
	stream    wire.Stream
	bookmarks bool
	// version is the version up to which everything was sent.
	version uint64
}

// watch serves a watch until it times out, the client or the cluster is gone, or its events are forgotten.
func (c *session) watch() error {
	if c.target.Name != "" {
		return c.unknown()
	}
	o, err := c.listOptions()
	if err != nil {
		return err
	}
	q := c.r.URL.Query()
	w := &watcher{session: c, options: o, stream: wire.Stream{Format: c.format, Writer: c.w}, bookmarks: q.Get("allowWatchBookmarks") == "true"}
	initial := q.Get("sendInitialEvents")
	woken, stop := c.cluster.Store().Watch(c.target.Kind.GroupResource())
	defer stop()
	c.entry.add(func(n *Count) { n.OpenWatches++ })
	defer c.entry.add(func(n *Count) { n.OpenWatches-- })
	var list *cluster.List
	if initial == "true" || initial == "" && (o.Version == "" || o.Version == "0") {
		if list, err = c.cluster.List(c.target, cluster.ListOptions{Labels: o.Labels, Fields: o.Fields}); err != nil {
			return err
		}
	} else if w.version, err = c.startVersion(o.Version); err != nil {
		return err
	}
	if err := w.stream.Begin(); err != nil {
		return nil // The client is gone.
	}
	if list != nil && w.sendList(list, initial == "true") != nil {
		return nil // The client is gone.
	}
	w.run(woken, timeoutOf(q.Get("timeoutSeconds")))
	return nil
}

// startVersion returns the version after which a watch begins.
func (c *session) startVersion(version string) (uint64, error) {
	if version == "" || version == "0" {
		return c.cluster.Store().Version(), nil
	}
	return cluster.ParseVersion(version)
}

func timeoutOf(seconds string) time.Duration {
	if s, err := strconv.Atoi(seconds); err == nil && s > 0 {
		return time.Duration(s) * time.Second
	}
	return watchTime
}

// sendList sends the objects that exist as events, and then perhaps the bookmark that ends them.
func (w *watcher) sendList(l *cluster.List, end bool) error {
	for _, r := range l.Records {
		if err := w.stream.Object(watch.Added, w.item(r, r.Version())); err != nil {
			return err
		}
	}
	w.version = l.Version
	if end && w.bookmarks {
		if err := w.bookmark(map[string]any{metav1.InitialEventsAnnotationKey: "true"}); err != nil {
			return err
		}
	}
	return w.stream.Flush()
}

// run sends events until the watch ends.
func (w *watcher) run(woken <-chan struct{}, timeout time.Duration) {
	end := time.Now().Add(timeout)
	next := func() time.Duration { return max(min(w.server.options.BookmarkEvery, time.Until(end)), 0) }
	timer := time.NewTimer(next())
	defer timer.Stop()
	for {
		w.stall()
		if w.send() != nil {
			return
		}
		select {
		case <-woken:
		case <-w.r.Context().Done():
			return
		case <-timer.C:
			if w.bookmarks && w.bookmark(nil) != nil || w.stream.Flush() != nil || !time.Now().Before(end) {
				return
			}
			timer.Reset(next())
		}
	}
}

// stall waits while watches of the cluster are stalled.
func (w *watcher) stall() {
	if f := w.entry.now(); f.Mode == StalledWatches {
		select {
		case <-f.ended:
		case <-w.r.Context().Done():
		}
	}
}

// send sends the events since the last one. It returns an error if the watch must end.
func (w *watcher) send() error {
	events, latest, ok := w.cluster.Store().Since(w.target.Kind.GroupResource(), w.version)
	if !ok {
		gone := kerrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", w.version, latest))
		_ = w.stream.Error(gone) // The client may be gone.
		_ = w.stream.Flush()
		return gone
	}
	for _, e := range events {
		if err := w.sendEvent(e); err != nil {
			return err
		}
	}
	w.version = max(latest, w.version)
	if len(events) == 0 {
		return nil
	}
	return w.stream.Flush()
}

// sendEvent sends an event as the selectors of the watch see it: an object that does not match anymore is deleted.
func (w *watcher) sendEvent(e record.Event) error {
	if w.target.Namespace != "" && e.Namespace != w.target.Namespace {
		return nil
	}
	was := e.Old != nil && w.options.Matches(e.Key, e.Old)
	is := e.New != nil && w.options.Matches(e.Key, e.New)
	switch {
	case is && was:
		return w.stream.Object(watch.Modified, w.item(e.New, e.Version))
	case is:
		return w.stream.Object(watch.Added, w.item(e.New, e.Version))
	case was:
		return w.stream.Object(watch.Deleted, w.item(e.Old, e.Version))
	}
	return nil
}

func (w *watcher) bookmark(annotations map[string]any) error {
	m := map[string]any{"resourceVersion": strconv.FormatUint(w.version, 10)}
	if annotations != nil {
		m["annotations"] = annotations
	}
	return w.stream.Object(watch.Bookmark, wire.Item{
		Metadata: func() map[string]any { return m },
		Body: func() map[string]any {
			return map[string]any{"apiVersion": w.target.Kind.GroupVersion().String(), "kind": w.target.Kind.Kind, "metadata": m}
		},
	})
}
