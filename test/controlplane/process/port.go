// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Loopback is the address that all servers listen on.
const Loopback = "127.0.0.1"

// Ports come from below those that systems hand out to outgoing connections. A
// stopped server then finds its port free when it comes back.
const (
	firstPort = 10000
	lastPort  = 32000
)

// FreePort returns a port on the loopback interface that no one listened on a
// moment ago. Another process may still be quicker: callers try again.
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
		return port, errors.Wrap(l.Close(), "cannot free a port")
	}
	return 0, errors.Wrap(last, "cannot find a free port")
}
