// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
	"github.com/crossplane-contrib/provider-kyma/internal/target/slots"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// These are the times after which data about the whole cluster is requested again.
const (
	versionFor  = time.Hour
	versionsFor = time.Minute
)

// openingTime is how long a new connection counts as being opened at most. Most servers respond earlier, and those that don't respond must
// not delay others.
const openingTime = 100 * time.Millisecond

// A Cluster is the connection to one target cluster. All its clients share one transport.
type Cluster struct {
	transport *transport.Transport
	// agent is the User-Agent of requests.
	agent    string
	rest     *rest.RESTClient
	mapper   *mapper.Mapper
	informer *informer.Cache
	identity string
	done     func()
	// impersonates is the user that the credentials impersonate, if any.
	impersonates string

	monitored bool
	monitor   *monitor
	opening   *slots.Line
	reopening *reopening
	parking   *parking
	silence   *silence
	inquiry   *inquiry
	recovered func()
	// refused is true if Ready returned that the server is not Connected, and Recovered was not called since then.
	refused atomic.Bool
	// probed is true if a request has succeeded or failed.
	probed atomic.Bool

	version  *remembered[string]
	uid      *uid
	known    atomic.Pointer[string]
	changed  func(*Cluster)
	replaced func(*Cluster)
	versions *remembered[apis]
}

var _ cluster.Cluster = &Cluster{}

// Options are the options of a connection. The zero value is valid.
type Options struct {
	Transport transport.Options
	// Builtin contains the kinds whose mapping requires no discovery.
	Builtin mapper.Table
	// Change is called for changes by other clients, with the identity of the cluster; optional.
	Change func(identity, set string, key cluster.ObjectRef, old, now *cluster.ObjectState)
	// Log logs failing watches, and clusters that send too much; optional.
	Log logging.Logger
	// Changed is called when the outcome of the requests, the last known version or the last known UID has changed, and when LastUID can be
	// called again; optional. It must not block.
	Changed func(*Cluster)
	// Replaced is called when UID found that a different cluster has appeared behind the address. The owner of the connection must
	// close it, because its caches contain objects of the previous cluster; optional. It must not block.
	Replaced func(*Cluster)
	// Done is called after the connection was closed; optional.
	Done func()
	// Lists limits how many kinds all connections with the same slots list at the same time; optional.
	Lists *slots.Slots
	// Openings limits how many connections with the same slots are opened, or opened again, at the same time if they are monitored; optional.
	Openings *slots.Slots
	// Budget limits the caches of all connections with the same budget together; optional.
	Budget *informer.Budget
	// Monitored means that callers can be called back, so that nothing makes them wait: a goroutine probes the server while it is
	// not Connected, and all other requests fail immediately during that time. The first call of Ready starts the goroutine. The
	// cache returns a *cluster.ListingError for kinds that are being listed.
	Monitored bool
	// Recovered is called when callers that got an error from Ready should try again, because the server is Connected again, and its
	// watches continue, or because the first probe failed, and when a parked connection is used again; optional. It must not block.
	Recovered func(*Cluster)
	// ParkAfter is how long a monitored connection must be quiet before its watches are closed. If it is 0, they are never closed.
	ParkAfter time.Duration
}

// New returns a connection to a cluster. The interpreter determines what its cache watches and keeps. New sends no
// requests. Errors describe what is wrong with the config.
func New(rc *rest.Config, i cluster.Interpreter, o Options) (*Cluster, error) {
	c := &Cluster{
		done: o.Done, changed: o.Changed, replaced: o.Replaced, uid: newUID(), version: newRemembered[string](), versions: newRemembered[apis](),
	}
	if c.replaced == nil {
		c.replaced = func(*Cluster) {}
	}
	o.Transport.Changed, o.Transport.Monitored = c.outcomeChanged, o.Monitored
	o.Transport.Opened = func() { c.reopening.opened() }
	c.recovered = func() {
		if o.Recovered != nil {
			o.Recovered(c)
		}
	}
	c.inquiry = newInquiry(c.inquire, c.notify)
	c.opening = o.Openings.NewLine(1)
	c.parking = newParking(o.ParkAfter, func() bool { return c.Outcome().State == transport.Connected && c.informer.Park() }, c.notify)
	c.monitor = newMonitor(c.admit, c.probe, func() transport.State { return c.transport.Outcome().State })
	if o.Monitored {
		o.Transport.Doubted = c.monitor.start
	}
	c.monitored = o.Monitored
	o.Transport.Slowed = func() { logSlowed(o.Log, c.Host()) }
	t, err := transport.New(rc, o.Transport)
	if err != nil {
		return nil, errors.Wrap(err, "cannot connect with these credentials")
	}
	c.impersonates = rc.Impersonate.UserName
	c.transport, c.agent, c.identity = t, rc.UserAgent, identityOf(rc, t.Host())
	c.silence = &silence{heard: t.Heard, resumed: c.recovered}
	if c.rest, err = RESTClient(c.Config(), &http.Client{Transport: &typed{t}}); err != nil {
		return nil, errors.Wrap(err, "cannot create a client")
	}
	c.reopening = &reopening{line: o.Openings.NewLine(1), allow: t.Refusal, isOpen: t.IsOpen}
	watcher := &watchClient{watches: watches{rest: c.rest, reopening: c.reopening}, config: c.Config, get: c.get}
	c.mapper = mapper.New(c.get, o.Builtin)
	options := []informer.Option{informer.WithRelisted(c.doubtUID), informer.WithBudget(o.Budget)}
	if o.Log != nil {
		options = append(options, informer.WithLogger(o.Log))
	}
	if o.Monitored {
		options = append(options, informer.WithoutWaiting())
	}
	if o.Lists != nil {
		options = append(options, informer.WithSlots(o.Lists))
	}
	if o.Change != nil {
		options = append(options, informer.WithChange(func(set string, key cluster.ObjectRef, old, now *cluster.ObjectState) {
			c.parking.keep()
			o.Change(c.identity, set, key, old, now)
		}))
	}
	c.informer = informer.New(watcher, c.mapper.Mapping, i, options...)
	return c, nil
}

// logSlowed logs that the server at a host has sent too much. The log can be nil.
func logSlowed(log logging.Logger, host string) {
	if log != nil {
		log.Info("A cluster sends more data than the provider can share among its clusters; its data is read more slowly", "host", host)
	}
}

// RESTClient returns a client for any path. Its codec decodes only the types that all API servers return, mainly Status.
func RESTClient(rc *rest.Config, client *http.Client) (*rest.RESTClient, error) {
	rc = rest.CopyConfig(rc)
	rc.APIPath = "/"
	rc.GroupVersion = &schema.GroupVersion{}
	rc.NegotiatedSerializer = sharedCodecs().responses
	rc.ContentType = runtime.ContentTypeJSON
	return rest.RESTClientForConfigAndClient(rc, client)
}

// Host returns the scheme, host and port of the API server.
func (c *Cluster) Host() string { return c.transport.Host() }

// Identity returns the identity of the cluster as far as the connection proves it. Equal identities mean the same
// cluster, whatever the credentials.
func (c *Cluster) Identity() string { return c.identity }

// Impersonates returns the user that the credentials impersonate, or an empty string.
func (c *Cluster) Impersonates() string { return c.impersonates }

// REST returns a REST client for absolute paths.
func (c *Cluster) REST() rest.Interface { return c.rest }

// Config returns a REST config for other clients, of which there can be any number. They send their requests through the transport, which has the
// credentials.
func (c *Cluster) Config() *rest.Config {
	return &rest.Config{Host: c.transport.URL(), Transport: c.transport, QPS: -1, UserAgent: c.agent, WarningHandler: rest.NoWarnings{}}
}

// Cache returns the cache that the watches of the connection fill.
func (c *Cluster) Cache() cluster.Cache { return c.informer }

// Mapping returns the mapping of a kind.
func (c *Cluster) Mapping(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	return c.mapper.Mapping(ctx, gvk)
}

// AddMapping stores the mapping of a kind.
func (c *Cluster) AddMapping(gvk schema.GroupVersionKind, m cluster.Mapping) {
	c.mapper.AddMapping(gvk, m)
}

// Outcome returns the outcome of the latest requests. It sends no requests.
func (c *Cluster) Outcome() transport.Outcome { return c.transport.Outcome() }

// ResponseTime returns the average time between requests and the end of their responses, or 0 before the first response.
func (c *Cluster) ResponseTime() time.Duration { return c.transport.ResponseTime() }

// Ready returns nil if the cluster can be used, and otherwise the error of transport.Transport.Ready. If the server has been quiet, Ready waits up
// to a second for the response to a ping; without a response, it returns a *transport.NotConnectedError in the state Unknown. It sends no requests
// itself. If the connection is not monitored, it always returns nil.
func (c *Cluster) Ready() error {
	if !c.monitored {
		return nil
	}
	if c.parking.use() {
		c.recovered()
	}
	if err := c.connectedOrProbe(); err != nil {
		return err
	}
	if !c.silence.holds() {
		return nil
	}
	c.monitor.start()
	// The server can have been found to be Unreachable before the caller was held back.
	if err := c.connectedOrProbe(); err != nil {
		return err
	}
	return &transport.NotConnectedError{Message: "waiting for a response of API server " + c.Host()}
}

// connectedOrProbe returns the error of transport.Transport.Ready, and has the server probed if it is not Connected.
func (c *Cluster) connectedOrProbe() error {
	err := c.transport.Ready()
	if e := (*transport.NotConnectedError)(nil); errors.As(err, &e) {
		c.monitor.start()
		c.refused.Store(true)
		// The server can be Connected meanwhile, and Recovered will not be called again.
		err = c.transport.Ready()
	}
	return err
}

// connected calls Recovered, unless no caller waits for it: what changed in the cluster meanwhile is reported by its watches.
func (c *Cluster) connected() {
	if c.refused.Swap(false) {
		c.recovered()
	}
}

// SetPriority sets the priority of the connection when it is opened, and when kinds are listed for the first time. A higher one comes first.
func (c *Cluster) SetPriority(priority int) {
	c.opening.SetPriority(priority)
	c.reopening.prioritize(priority)
	c.informer.SetPriority(priority)
}

// Keep keeps the watches for the time of ParkAfter, and ends a long pause between the probes of a server that is not Connected. Call it when
// something has changed, or is about to change.
func (c *Cluster) Keep() {
	c.parking.keep()
	c.monitor.hurry()
}

// IsParked reports whether the watches are closed, because the connection was quiet. The next call of Ready ends this state.
func (c *Cluster) IsParked() bool { return c.parking.isParked() }

// admit waits until a new connection can be opened.
func (c *Cluster) admit(ctx context.Context) (opened func(), ok bool) {
	switch {
	case !c.probed.Load():
		return c.opening.Take(ctx, openingTime)
	case c.transport.IsOpen():
		return func() {}, true
	}
	return c.reopening.take(ctx)
}

// probe requests the version, which a new connection needs first anyway.
func (c *Cluster) probe(ctx context.Context) {
	// The transport records the result.
	_, _ = c.version.get(ctx, 0, c.requestVersion)
}

// outcomeChanged is called when the outcome of the requests has changed.
func (c *Cluster) outcomeChanged() {
	if c.monitored {
		switch c.transport.Outcome().State {
		case transport.Connected:
			c.probed.Store(true)
			c.inquiry.outdate()
			c.informer.Retry(c.connected)
		case transport.Unreachable, transport.Unauthorized:
			c.monitor.start()
			c.silence.decided()
			if !c.probed.Swap(true) {
				c.recovered()
			}
		case transport.Unknown, transport.WrongCluster, transport.Parked:
		}
	}
	c.notify()
}

// SetToken replaces the token of the credentials. The connection and its watches continue. Call TokenReplaced afterwards. It returns
// false, and changes nothing, if the connection doesn't authenticate with a token alone. It doesn't block.
func (c *Cluster) SetToken(token string) bool { return c.transport.SetToken(token) }

// TokenReplaced checks everything that depends on the token after it was replaced. A goroutine probes the server at once: if the server
// rejected the previous token, it can now be Connected, and if it rejects the new one, the outcome says so although the cluster is idle.
// Watches that failed are tried again, because the user of the token may have other permissions. The UID is requested again, because a
// proxy can choose the cluster by the token. TokenReplaced doesn't block.
func (c *Cluster) TokenReplaced() {
	c.doubtUID()
	c.inquiry.outdate()
	if c.monitored {
		c.monitor.probeNow()
	}
	if c.Outcome().State == transport.Connected {
		c.informer.Retry(func() {})
	}
	c.notify()
}

func (c *Cluster) notify() {
	if c.changed != nil {
		c.changed(c)
	}
}

func (c *Cluster) foreign() error { return &notfound.Error{Host: c.Host()} }

func (c *Cluster) get(ctx context.Context, path string) ([]byte, error) {
	r := c.rest.Get().AbsPath(path).Do(ctx)
	// Raw would return an error with fewer details of the response.
	if err := r.Error(); err != nil {
		if notfound.Foreign(err) {
			return nil, c.foreign()
		}
		return nil, err
	}
	return r.Raw()
}

// Close closes the connection. It ends the watches first, because they would reconnect.
func (c *Cluster) Close() {
	c.parking.stop()
	c.monitor.stop()
	c.inquiry.stop()
	c.informer.Close()
	c.transport.Close()
	if c.done != nil {
		c.done()
	}
}
