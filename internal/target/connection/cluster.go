// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// How long answers about the whole cluster are believed.
const (
	versionFor  = time.Hour
	versionsFor = time.Minute
)

// A Cluster is the connection to one target cluster. All its clients share one transport.
type Cluster struct {
	config    *rest.Config
	transport *transport.Transport
	rest      *rest.RESTClient
	discovery *discovery.DiscoveryClient
	mapper    *mapper.Mapper
	informer  *informer.Cache
	identity  string
	done      func()

	version  *remembered[string]
	known    atomic.Pointer[string]
	changed  func(*Cluster)
	versions *remembered[[]string]
}

var _ cluster.Cluster = &Cluster{}

// Options of a connection. The zero value is right.
type Options struct {
	Transport transport.Options
	// Builtin are kinds whose mapping is not asked for.
	Builtin mapper.Table
	// Change is told of changes that others make; nil for no one.
	Change informer.ChangeFunc
	// Log of failing watches; nil for none.
	Log logging.Logger
	// Changed is called when the outcome of the requests has changed, or the version that was answered last; optional.
	Changed func(*Cluster)
	// Done is called when the connection was closed; optional.
	Done func()
}

// New returns a connection to a cluster. The interpreter decides what its cache watches and keeps. New sends nothing. Errors
// name what is wrong with the config.
func New(rc *rest.Config, i cluster.Interpreter, o Options) (*Cluster, error) {
	c := &Cluster{done: o.Done, changed: o.Changed, version: newRemembered[string](), versions: newRemembered[[]string]()}
	o.Transport.Changed = c.notify
	t, err := transport.New(rc, o.Transport)
	if err != nil {
		return nil, errors.Wrap(err, "cannot connect with these credentials")
	}
	c.transport, c.config, c.identity = t, shared(rc, t), identityOf(rc, t.Host())
	client := &http.Client{Transport: t}
	if c.rest, err = restClient(c.config, client); err != nil {
		return nil, errors.Wrap(err, "cannot make a client")
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(c.config, client); err != nil {
		return nil, errors.Wrap(err, "cannot make a client")
	}
	watcher, err := newWatchClient(c.config, client, c.get)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a client")
	}
	c.mapper = mapper.New(c.get, o.Builtin)
	var options []informer.Option
	if o.Log != nil {
		options = append(options, informer.WithLogger(o.Log))
	}
	if o.Change != nil {
		options = append(options, informer.WithChange(o.Change))
	}
	c.informer = informer.New(watcher, c.mapper.Mapping, i, options...)
	return c, nil
}

// shared is a REST config for any number of clients, which send their requests through a transport that has the
// credentials.
func shared(rc *rest.Config, t *transport.Transport) *rest.Config {
	return &rest.Config{
		Host:           t.URL(),
		Transport:      t,
		QPS:            -1,
		UserAgent:      rc.UserAgent,
		WarningHandler: rest.NoWarnings{},
	}
}

// restClient for any path. Its codec knows nothing but the answers that API servers give to all: above all, Status.
func restClient(rc *rest.Config, client *http.Client) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	rc = rest.CopyConfig(rc)
	rc.APIPath = "/"
	rc.GroupVersion = &schema.GroupVersion{}
	rc.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	rc.ContentType = runtime.ContentTypeJSON
	return rest.RESTClientForConfigAndClient(rc, client)
}

// Host is scheme, host and port of the API server.
func (c *Cluster) Host() string { return c.transport.Host() }

// Identity of the cluster, as far as the connection proves it: equal ones are of one cluster, whatever the credentials.
func (c *Cluster) Identity() string { return c.identity }

// REST returns a REST client for absolute paths.
func (c *Cluster) REST() rest.Interface { return c.rest }

// Config for other clients. It shares the connection and holds no credentials.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Cache returns what the watches of the connection know.
func (c *Cluster) Cache() cluster.Cache { return c.informer }

// Mapping of a kind.
func (c *Cluster) Mapping(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	return c.mapper.Mapping(ctx, gvk)
}

// Learn the mapping of a kind.
func (c *Cluster) Learn(gvk schema.GroupVersionKind, m cluster.Mapping) { c.mapper.Learn(gvk, m) }

// Version returns the version of the cluster. It asks the cluster at most once an hour.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	return c.version.get(ctx, versionFor, func(ctx context.Context) (string, error) {
		data, err := c.get(ctx, "/version")
		if err != nil {
			return "", errors.Wrap(err, "cannot get the version of the cluster")
		}
		info := &version.Info{}
		if err := json.Unmarshal(data, info); err != nil || info.GitVersion == "" {
			return "", errors.New("cannot get the version of the cluster: the answer holds none")
		}
		if before := c.known.Swap(&info.GitVersion); before == nil || *before != info.GitVersion {
			c.notify()
		}
		return info.GitVersion, nil
	})
}

// LastVersion returns the version that Version returned last, or an empty text. It sends nothing.
func (c *Cluster) LastVersion() string {
	if v := c.known.Load(); v != nil {
		return *v
	}
	return ""
}

// Outcome is what the latest requests came to. It sends nothing.
func (c *Cluster) Outcome() transport.Outcome { return c.transport.Outcome() }

func (c *Cluster) notify() {
	if c.changed != nil {
		c.changed(c)
	}
}

// APIVersions that the cluster serves, sorted, as group/version and group/version/Kind. They are asked for once a minute
// at most. Groups whose server does not answer are left out.
func (c *Cluster) APIVersions(ctx context.Context) ([]string, error) {
	return c.versions.get(ctx, versionsFor, func(ctx context.Context) ([]string, error) {
		groups, lists, err := c.discovery.ServerGroupsAndResourcesWithContext(ctx)
		if err = c.failed(groups, err); err != nil {
			return nil, errors.Wrap(err, "cannot get the API versions of the cluster")
		}
		var all []string
		for _, g := range groups {
			for _, v := range g.Versions {
				all = append(all, v.GroupVersion)
			}
		}
		for _, l := range lists {
			for _, r := range l.APIResources {
				all = append(all, l.GroupVersion+"/"+r.Kind)
			}
		}
		slices.Sort(all)
		return slices.Compact(all), nil
	})
}

// failed says why discovery failed. Groups whose server does not answer are not failure, but one that is not found is: the
// client takes any 404 for the word of an API server, and leaves out what it is about.
func (c *Cluster) failed(groups []*metav1.APIGroup, err error) error {
	if g := (*discovery.ErrGroupDiscoveryFailed)(nil); errors.As(err, &g) {
		for _, err := range g.Groups {
			if notfound.Foreign(err) {
				return c.foreign()
			}
		}
		err = nil
	}
	if notfound.Foreign(err) || notfound.Is(err) {
		return c.foreign()
	}
	named := func(g *metav1.APIGroup) bool { return g.Name != "" }
	core := func(g *metav1.APIGroup) bool { return g.Name == "" }
	if err == nil && (!slices.ContainsFunc(groups, core) || !slices.ContainsFunc(groups, named)) {
		return c.foreign()
	}
	return err
}

func (c *Cluster) foreign() error { return &notfound.Error{Host: c.Host()} }

func (c *Cluster) get(ctx context.Context, path string) ([]byte, error) {
	r := c.rest.Get().AbsPath(path).Do(ctx)
	// Raw would return an error that knows less of the server's answer.
	if err := r.Error(); err != nil {
		if notfound.Foreign(err) {
			return nil, c.foreign()
		}
		return nil, err
	}
	return r.Raw()
}

// Close the connection. Watches end first, as they would reconnect.
func (c *Cluster) Close() {
	c.informer.Close()
	c.transport.Close()
	if c.done != nil {
		c.done()
	}
}

// remembered is a value that is asked for once in a while, and by one caller at a time.
type remembered[T any] struct {
	// asking is held by who reads or writes the value. Unlike a mutex, waiting for it ends with a context.
	asking chan struct{}
	value  T
	asked  time.Time
}

func newRemembered[T any]() *remembered[T] {
	return &remembered[T]{asking: make(chan struct{}, 1)}
}

func (r *remembered[T]) get(ctx context.Context, ttl time.Duration, ask func(context.Context) (T, error)) (T, error) {
	select {
	case r.asking <- struct{}{}:
		defer func() { <-r.asking }()
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
	if !r.asked.IsZero() && time.Since(r.asked) < ttl {
		return r.value, nil
	}
	v, err := ask(ctx)
	if err == nil {
		r.value, r.asked = v, time.Now()
	}
	return v, err
}
