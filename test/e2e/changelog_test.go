// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc"

	changelogs "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A changeLog is the service to which a provider sends its changes. In a cluster it is a container of the same pod.
type changeLog struct {
	changelogs.UnimplementedChangeLogServiceServer

	server *grpc.Server

	mu      sync.Mutex
	entries []*changelogs.ChangeLogEntry
}

// startChangeLog starts the service at a Unix socket.
func startChangeLog(ctx context.Context, socket string) (*changeLog, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", socket)
	if err != nil {
		return nil, errors.Wrap(err, "cannot start the change log")
	}
	c := &changeLog{server: grpc.NewServer()}
	changelogs.RegisterChangeLogServiceServer(c.server, c)
	go func() { _ = c.server.Serve(l) }()
	return c, nil
}

// SendChangeLog stores an entry.
func (c *changeLog) SendChangeLog(_ context.Context, r *changelogs.SendChangeLogRequest) (*changelogs.SendChangeLogResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(c.entries, r.GetEntry())
	return &changelogs.SendChangeLogResponse{}, nil
}

// of returns the operations that were logged for a kind and name, in order.
func (c *changeLog) of(kind, name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, e := range c.entries {
		if e.GetKind() == kind && e.GetName() == name {
			out = append(out, e.GetOperation().String())
		}
	}
	return out
}

func (c *changeLog) stop() {
	if c != nil {
		c.server.Stop()
	}
}
