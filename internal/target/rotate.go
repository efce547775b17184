// SPDX-License-Identifier: Apache-2.0

package target

import (
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/internal/target/kubeconfig"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// The lineage of credentials identifies everything about them but the token: the key of the Secret that they come from, who may write
// it, and how they connect. Credentials with the same lineage replace each other, so they have one connection, whose token Rotate
// replaces. A connection has a lineage as long as all of its consumers have always had credentials from the same key of the same Secret.
// Once credentials from elsewhere, which were equal at that time, have shared it, its token is never replaced again: a pass that still
// has the connection could send requests with the token of another Secret. Consumers then move to connections of their own.

// lineageOf returns the lineage of credentials, or an empty string if their token can't be replaced. Only Secrets report changes, so the
// credentials of other sources are used as they were read.
func lineageOf(c Credentials, k *kubeconfig.Result) string {
	if c.origin == "" || c.injected || c.identity != nil || k.ExceptToken == "" {
		return ""
	}
	return strings.Join([]string{c.origin, strconv.FormatBool(c.platform), k.ExceptToken}, "/")
}

// share records that credentials from an origin use a connection. The caller holds mu.
func (p *Pool) share(e *entry, origin string) {
	if e.origin == origin || e.lineage == "" {
		return
	}
	delete(p.lineages, e.lineage)
	e.lineage = ""
}

// Rotate uses new credentials for the connection of their lineage from now on: it replaces the token, and the connection and its watches
// continue. It sends no requests itself. It returns the consumers that have a connection with other credentials, and must call Get to
// move, and whether the connection of the others is Connected. If it isn't, they are called when it is.
//
// Only Rotate replaces tokens. Get joins a connection of the same lineage whatever the token, because it may be called with credentials
// that were read before the last rotation. The caller must read the credentials after each change of the Secret, and call Rotate with
// the last ones last.
func (p *Pool) Rotate(consumers []string, c Credentials) (left []string, connected bool) {
	replaced := p.exchange(c)
	p.mu.Lock()
	for _, consumer := range consumers {
		if e := p.consumers[consumer]; e != nil && e.digest != c.Digest {
			left = append(left, consumer)
		}
	}
	e := p.clusters[c.Digest]
	connected = e != nil && e.cluster.Outcome().State == transport.Connected
	p.mu.Unlock()
	if replaced != nil {
		replaced.TokenReplaced()
	}
	return left, connected
}

// exchange replaces the token of the connection that was opened with an earlier version of the credentials. It returns nil if no
// connection has their lineage, or if a connection uses these credentials already. If that is a different connection, which was opened
// with the new credentials, the consumers move to it.
func (p *Pool) exchange(c Credentials) *Cluster {
	k, err := p.restConfig(c)
	if err != nil {
		return nil // The consumers report the error.
	}
	lineage := lineageOf(c, k)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.lineages[lineage]
	if e == nil || p.clusters[c.Digest] != nil || !e.cluster.SetToken(k.Config.BearerToken) {
		return nil
	}
	delete(p.clusters, e.digest)
	e.digest = c.Digest
	p.clusters[c.Digest] = e
	p.log.Debug("Replaced the token of the connection to a cluster", "host", e.cluster.Host())
	return e.cluster
}
