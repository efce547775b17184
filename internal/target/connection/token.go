// SPDX-License-Identifier: Apache-2.0

package connection

import "github.com/crossplane-contrib/provider-kyma/internal/target/transport"

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
