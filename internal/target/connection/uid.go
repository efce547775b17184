// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptrace"
	"regexp"
	"sync/atomic"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

const (
	// knownUIDFor is the time after which the UID is requested again, because a proxy can forward requests to a different cluster
	// without closing the network connection. It also applies to clusters that don't reveal their UID.
	knownUIDFor = time.Hour
	// hiddenUIDFor is the time after which the UID is requested again if the cluster revealed it before: an API server that has just
	// started can deny requests that it allows later.
	hiddenUIDFor = 30 * time.Second
	// acceptMetadata requests only the metadata of an object.
	acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
)

// validUID matches the UIDs that are accepted, because a server can return any text.
var validUID = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

// A ReplacedError reports that a different cluster has appeared behind the address of a connection. Everything that is known through
// the connection is about the previous cluster, so a new connection is needed.
type ReplacedError struct {
	// Host is the scheme, host and port of the API server.
	Host string
	// Before and Now are the UIDs of the namespace kube-system in the previous cluster and in the current one.
	Before, Now string
}

// Error returns a message that contains both UIDs.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("API server %s now serves the cluster with UID %s (previously %s); opening a new connection", e.Host, e.Now, e.Before)
}

// An identification is the UID of a cluster, as requested in an epoch.
type identification struct {
	// uid is empty if the cluster doesn't reveal it. It is valid in the epoch, until the time.
	uid   string
	epoch uint64
	until time.Time
}

// isValid reports whether the UID doesn't have to be requested in an epoch.
func (i *identification) isValid(epoch uint64) bool {
	return i != nil && i.epoch == epoch && time.Now().Before(i.until)
}

// A uid stores what is known about the UID of a cluster.
type uid struct {
	last atomic.Pointer[identification]
	// doubts counts the reasons to request the UID again that the transport doesn't know about.
	doubts atomic.Uint64
	// asking is held during a request. It protects known, the last UID that was not empty.
	asking chan struct{}
	known  string
	// replaced is set when a different cluster has appeared.
	replaced atomic.Pointer[ReplacedError]
}

func newUID() *uid { return &uid{asking: make(chan struct{}, 1)} }

// UID returns the UID of the namespace kube-system. It sends at most one request per hour, and one after a network connection was opened
// or closed, after an outage, and after a repeated list of a kind, because a different cluster might respond from then on. If the
// credentials don't allow reading the namespace, or the cluster doesn't have it, the result is empty. If the UID has changed, UID returns
// a *ReplacedError.
func (c *Cluster) UID(ctx context.Context) (string, error) {
	if i := c.uid.last.Load(); i.isValid(c.epoch()) {
		return i.uid, nil
	}
	select {
	case c.uid.asking <- struct{}{}:
		defer func() { <-c.uid.asking }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if i := c.uid.last.Load(); i.isValid(c.epoch()) {
		return i.uid, nil
	}
	i, err := c.identify(ctx)
	if err != nil {
		return "", errors.Wrap(err, "cannot get the UID of namespace kube-system, which identifies the cluster")
	}
	if err := c.learn(i); err != nil {
		return "", err
	}
	return i.uid, nil
}

// learn stores the result of a request. It returns a *ReplacedError if the UID has changed. The caller holds asking.
func (c *Cluster) learn(i *identification) error {
	if before := c.uid.known; i.uid != "" && before != "" && i.uid != before {
		e := &ReplacedError{Host: c.Host(), Before: before, Now: i.uid}
		c.uid.replaced.Store(e)
		c.replaced(c)
		c.notify()
		return e
	}
	i.until = time.Now().Add(knownUIDFor)
	if i.uid != "" {
		c.uid.known = i.uid
	} else if c.uid.known != "" {
		i.until = time.Now().Add(hiddenUIDFor)
	}
	if before := c.uid.last.Swap(i); before == nil || before.uid != i.uid {
		c.notify()
	}
	return nil
}

// KnowsUID reports whether UID would return this UID without a request, as of now.
func (c *Cluster) KnowsUID(uid string) bool {
	i := c.uid.last.Load()
	return i.isValid(c.epoch()) && i.uid == uid
}

// ConfirmUID is like UID, but always sends a request.
func (c *Cluster) ConfirmUID(ctx context.Context) (string, error) {
	c.doubtUID()
	return c.UID(ctx)
}

// doubtUID makes the next call of UID send a request.
func (c *Cluster) doubtUID() { c.uid.doubts.Add(1) }

// epoch returns a number that increases whenever a different cluster might respond from now on.
func (c *Cluster) epoch() uint64 { return c.transport.Epoch() + c.uid.doubts.Load() }

// identify requests the UID. The result belongs to the epoch before the request, or to the one that begins with the network connection
// of the request. If other connections are opened at the same time, UID sends another request.
func (c *Cluster) identify(ctx context.Context) (*identification, error) {
	i := &identification{epoch: c.epoch()}
	// Another request can have dialed the connection on which this one is the first.
	dialed, opened := atomic.Bool{}, atomic.Bool{}
	trace := &httptrace.ClientTrace{
		ConnectStart: func(string, string) { dialed.Store(true) },
		GotConn:      func(info httptrace.GotConnInfo) { opened.Store(!info.Reused) },
	}
	var err error
	if i.uid, err = c.askUID(httptrace.WithClientTrace(ctx, trace)); dialed.Load() && opened.Load() && c.epoch() > i.epoch {
		i.epoch++
	}
	return i, err
}

func (c *Cluster) askUID(ctx context.Context) (string, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	r := c.rest.Get().AbsPath("/api/v1/namespaces/kube-system").SetHeader("Accept", acceptMetadata).Do(ctx)
	switch err := r.Error(); {
	case err == nil:
	case kerrors.IsForbidden(err), notfound.IsObject(err, "namespaces", "kube-system"):
		return "", nil
	case notfound.Foreign(err), notfound.Is(err):
		return "", c.foreign()
	default:
		return "", err
	}
	data, err := r.Raw()
	if err != nil {
		return "", err
	}
	m := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(data, m); err != nil || m.Name != "kube-system" || !validUID.MatchString(string(m.UID)) {
		return "", errors.New("the response is not from a Kubernetes API server; check the server in the kubeconfig, and any proxies in between")
	}
	return string(m.UID), nil
}
