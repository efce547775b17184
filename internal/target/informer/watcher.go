// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"io"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

const (
	// shortestWatch is the minimum duration of a watch. The maximum is twice as long. A watch that receives nothing because something between
	// the provider and the server has stalled is only noticed when it is renewed.
	shortestWatch = 10 * time.Minute
	// trustedWatch is the minimum duration if the server sends bookmarks: an API server sends one about each minute.
	trustedWatch = 30 * time.Minute
	// patience is the time without a bookmark after which a watch from a server that sends bookmarks is renewed.
	patience = 5 * time.Minute

	firstPause = time.Second
	mostPause  = 30 * time.Second
	// deniedPause is the maximum pause for failures that only an administrator can fix: kinds that the cluster does not
	// serve or that the credentials may not watch.
	deniedPause = 5 * time.Minute
	// resumeFor is how long an interrupted watch is resumed from its last version. After that, its kind is listed again, which
	// shows whether the history of the cluster was rewritten, for example by a restored backup.
	resumeFor = 2 * time.Minute
	// steady is the duration of an attempt after which the pauses start from the shortest one again.
	steady = 2 * time.Minute
	// pageSize is the number of objects in a page of a list.
	pageSize = 500
)

// A watcher lists and watches the objects of a kind. It does what the reflector of client-go does, but has a goroutine only while it
// works. While it waits for an event or for the end of a pause, it is parked, and continues in a new goroutine. Its fields belong to the
// goroutine that works.
type watcher struct {
	kind     *kind
	resource Resource
	life     lifetime

	// began is the start of the current attempt to list and watch, and pause is the last pause between two attempts.
	began time.Time
	pause time.Duration
	// listed is true after the list of the attempt, and version is the last resource version.
	listed  bool
	version string

	// stream is the current watch, or nil. started is the start of its request, and events is the number of its events. ordered is
	// true if all its events have increasing versions. idled is true if it was idle.
	stream  Stream
	started time.Time
	events  int
	ordered bool
	idled   bool
	// bookmarked is true if the server sends bookmarks, and it can be noticed that they are missing: this watch was idle and has received one,
	// or the previous one had and did not end unexpectedly.
	bookmarked bool

	resumed  resumption
	internal internalErrors
	// resuming is the time at which the first request to resume the watch began, or zero. outage is the last pause between two of them. down
	// is true if one of them failed although the credentials were accepted. lost is true if the watch ended unexpectedly.
	resuming time.Time
	outage   time.Duration
	down     bool
	lost     bool
}

// A progress is the result of a step of a watcher.
type progress int

const (
	working progress = iota
	// parked means that the watcher continues in another goroutine, which may be running already.
	parked
	// ended means that the attempt has ended.
	ended
)

// run works until the watcher is parked or must end.
func (w *watcher) run() {
	for {
		if w.isEnded() {
			w.endAttempt()
			w.kind.cache.running.Done()
			return
		}
		if !w.life.attempting && !w.beginAttempt() {
			continue
		}
		if w.step() == parked {
			return
		}
	}
}

// step works on the current attempt. After its end, it waits for the next one.
func (w *watcher) step() progress {
	k, now := w.kind, working
	err := panics.Do(k.subject(), func() (err error) {
		now, err = w.work()
		return err
	})
	if now == parked || now == working && err == nil && w.over() == nil {
		return now
	}
	if e := (*panics.Error)(nil); errors.As(err, &e) {
		k.fail(e)
	}
	w.endAttempt()
	if w.isEnded() {
		return working
	}
	if err != nil {
		k.cache.log.Debug("Cannot watch", "resource", w.resource.GroupVersionResource.String(), "error", err.Error())
	}
	if time.Since(w.began) > steady {
		w.pause = 0
	}
	w.pause = nextPause(w.pause, k.lastError())
	return w.rest(w.pause + rand.N(w.pause/2)) //nolint:gosec // Jitter needs no secrecy.
}

// beginAttempt begins to list and watch when the kind has a slot. It returns false if the watcher must end before.
func (w *watcher) beginAttempt() bool {
	if !w.kind.takeSlot(w.context()) {
		return false
	}
	w.kind.begin()
	w.turn(true)
	w.began = time.Now()
	w.listed, w.version, w.resuming, w.lost, w.internal = false, "", time.Time{}, false, internalErrors{}
	return true
}

// endAttempt ends the watch and the attempt.
func (w *watcher) endAttempt() {
	w.endWatch()
	if w.life.attempting {
		w.kind.returnSlot()
		w.turn(false)
	}
}

// work does the next part of the current attempt.
func (w *watcher) work() (progress, error) {
	switch {
	case w.over() != nil:
		return ended, w.over()
	case !w.listed:
		return working, w.list()
	case w.stream == nil:
		return w.watch()
	}
	return w.receive()
}

// list lists the objects: by a watch that begins with them, if the API server supports this, and otherwise by a list.
func (w *watcher) list() error {
	if features.FeatureGates().Enabled(features.WatchListClient) {
		if err := w.streamList(); err == nil || w.over() != nil {
			return err
		}
		w.endWatch()
	}
	counted, err := w.kind.list(w.context(), w.resource)
	if isExpired(err) {
		// The rest of the list expired. The next attempt begins from the start.
		counted, err = w.kind.list(w.context(), w.resource)
	}
	if err != nil {
		return errors.Wrap(err, "cannot list")
	}
	w.listed, w.version = true, counted.version
	return w.kind.replace(counted.states, counted.version)
}

// streamList begins a watch with a list. It returns an error if the list did not arrive as a whole.
func (w *watcher) streamList() error {
	k, yes := w.kind, true
	o := w.watchOptions()
	o.SendInitialEvents, o.ResourceVersionMatch = &yes, metav1.ResourceVersionMatchNotOlderThan
	w.started = time.Now()
	stream, err := k.watch(w.context(), w.resource, o)
	if err != nil {
		return err
	}
	w.follow(stream)
	w.ordered, w.idled = true, false
	counted := k.newTally()
	for {
		e, err := w.next()
		if err != nil {
			return errors.Wrap(err, "the list is not complete")
		}
		if e.Type == watch.Error {
			return apierrors.FromObject(e.Object)
		}
		if m, err := meta.Accessor(e.Object); err == nil && e.Type == watch.Bookmark && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			if over := w.over(); over != nil {
				return over // The list can be that of another version of the kind than the current one.
			}
			// The end of the list counts as an event. A watch that ends here is resumed, and does not begin with another list.
			w.listed, w.version, w.events = true, m.GetResourceVersion(), 1
			return k.replace(counted.states, w.version)
		}
		if err := counted.event(e); isTooMany(err) {
			k.exceeded(err)
			return err
		}
	}
}

// watchOptions returns the options of a watch.
func (w *watcher) watchOptions() metav1.ListOptions {
	shortest := shortestWatch
	if w.bookmarked {
		shortest = trustedWatch
	}
	seconds := int64((shortest + rand.N(shortest)) / time.Second) //nolint:gosec // Jitter needs no secrecy.
	return metav1.ListOptions{TimeoutSeconds: &seconds, AllowWatchBookmarks: true}
}

// watch watches from the last version. While the server does not respond, or rejects the credentials, it tries again from the same version, so that
// neither an outage nor a rotation of credentials causes all kinds of all clusters to be listed again.
func (w *watcher) watch() (progress, error) {
	k, o := w.kind, w.watchOptions()
	o.ResourceVersion = w.version
	if w.resuming.IsZero() {
		if w.resumed.mustList(o.ResourceVersion) {
			return ended, apierrors.NewResourceExpired("each watch from this version ends before its first event")
		}
		w.resuming, w.outage, w.down = time.Now(), 0, false
		w.started = w.resuming
		// If a server ends each watch immediately, one watch per second is started.
		if wait := firstPause - time.Since(w.resumed.at); wait > 0 {
			return w.rest(wait), nil
		}
	} else {
		k.begin()
	}
	w.resumed.at = time.Now()
	stream, err := w.resume(o)
	if w.isDecided(err) {
		w.resuming, w.lost = time.Time{}, false
		w.events, w.ordered, w.idled = 0, w.version != "" && w.version != "0", false
		err = k.answered(w.context(), err)
		if stream != nil {
			w.follow(stream)
		}
		return working, err
	}
	if w.over() != nil {
		return ended, err
	}
	k.fail(err)
	w.down = w.down || !isRefused(err)
	w.outage = nextPause(w.outage, err)
	k.cache.log.Debug("Cannot continue a watch", "resource", w.resource.GroupVersionResource.String(), "error", err.Error())
	return w.rest(w.outage), nil
}

// isDecided reports whether a request to resume the watch is not repeated with the same version.
func (w *watcher) isDecided(err error) bool {
	return err == nil || isAnswer(err) && !isRefused(err) || time.Since(w.resuming) > resumeFor
}

// receive stores the events of the watch until there are none, and is parked then.
func (w *watcher) receive() (progress, error) {
	for {
		if w.stream.Idle(w) {
			return parked, nil
		}
		e, err := w.next()
		if over := w.over(); over != nil {
			return ended, over
		}
		if err != nil {
			return w.broken(err)
		}
		if e.Type == watch.Error {
			return w.broken(apierrors.FromObject(e.Object))
		}
		if version, ok := w.kind.event(e); ok {
			w.ordered = w.ordered || e.Type != watch.Added
			if w.ordered {
				w.version = version
			}
			w.events++
			w.bookmarked = w.bookmarked || w.idled && e.Type == watch.Bookmark
		}
	}
}

// next returns the next event. An event whose version is too long ends the watch, like an error of the API server.
func (w *watcher) next() (watch.Event, error) {
	e, err := w.stream.Next()
	if err != nil {
		return e, err
	}
	if m, err := meta.Accessor(e.Object); err == nil {
		if _, err := versionOf(m); err != nil {
			return e, apierrors.NewInternalError(err)
		}
	}
	return e, nil
}

// Wake continues to work. It implements Waiter.
func (w *watcher) Wake() {
	w.idled = true
	w.run()
}

// Bookmark stores the version of a bookmark while the watcher is parked: no goroutine works then. It implements Waiter.
func (w *watcher) Bookmark(version string) {
	w.ordered, w.version, w.bookmarked = true, version, true
	w.events++
}

// Patience returns how long the watch may be idle without a bookmark. It implements Waiter.
func (w *watcher) Patience() time.Duration {
	if w.bookmarked {
		return patience
	}
	return 0
}

// broken handles the end of a watch. It is resumed, unless it ends the attempt.
func (w *watcher) broken(err error) (progress, error) {
	w.endWatch()
	w.bookmarked = w.bookmarked && w.idled && errors.Is(err, io.EOF)
	if !errors.Is(err, io.EOF) && !isAnswer(err) {
		w.lost = true
		w.kind.cache.sighting.losses.Add(1)
	}
	switch brief := w.events == 0 && time.Since(w.started) < time.Second; {
	case isEnd(err):
		if brief {
			return ended, errors.New("the watch ended immediately")
		}
		return working, nil
	case apierrors.IsTooManyRequests(err):
		return w.rest(firstPause + rand.N(mostPause)), nil //nolint:gosec // Jitter needs no secrecy.
	case isExpired(err), !apierrors.IsInternalError(err) && isAnswer(err), !w.internal.retry(time.Now()):
		return ended, err
	}
	return working, nil
}
