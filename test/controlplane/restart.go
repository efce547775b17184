// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// keepAPIServer restarts an API server after its first unexpected end, like the kubelet of a control plane. kube-apiserver v1.36.3 can
// panic while it merges the OpenAPI documents of CRDs, which no client can prevent. The second end counts as a crash, so that an API
// server that always ends is not hidden.
func (c *Cluster) keepAPIServer(p *process.Process) {
	go func() {
		<-p.Done()
		c.mu.Lock()
		defer c.mu.Unlock()
		ended := p.Err()
		if ended == nil { // It was stopped.
			return
		}
		if c.restarted {
			c.record(ended)
			return
		}
		c.restarted = true
		_, _ = fmt.Fprintf(os.Stderr, "cluster %q: restarting its API server: %v\n", c.options.Name, ended)
		if err := c.startAPIServer(context.Background()); err != nil {
			c.record(err)
		}
	}()
}
