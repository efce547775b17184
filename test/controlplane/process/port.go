// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Loopback is the address on which all servers listen.
const Loopback = "127.0.0.1"

// Ports are below the range of outgoing connections, so that a restarted server finds its port free.
const (
	firstPort = 10000
	lastPort  = 32000
)

// FreePort returns a port on the loopback interface that was free a moment ago. Callers must retry, because another
// process may take it first.
func FreePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	var last error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort(Loopback, strconv.Itoa(port)))
		if err != nil {
			last = err
			continue
		}
		return port, errors.Wrap(l.Close(), "cannot release a port")
	}
	return 0, errors.Wrap(last, "cannot find a free port")
}
