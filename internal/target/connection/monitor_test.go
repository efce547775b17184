// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// A fakeServer is a server for a monitor.
type fakeServer struct {
	up     atomic.Bool
	probes atomic.Int32
	state  atomic.Value
}

func (f *fakeServer) probe(ctx context.Context) {
	f.probes.Add(1)
	if f.up.Load() {
		f.state.Store(transport.Connected)
		return
	}
	<-ctx.Done()
	f.state.Store(transport.Unreachable)
}

func (f *fakeServer) fail(m *monitor) {
	f.state.Store(transport.Unreachable)
	m.start()
}

// admitted lets a probe be sent at once.
func admitted(context.Context) (func(), bool) { return func() {}, true }

func newFakeServer() (*fakeServer, *monitor) {
	f := &fakeServer{}
	f.state.Store(transport.Unknown)
	return f, newMonitor(admitted, f.probe, func() transport.State { return f.state.Load().(transport.State) })
}

// TestMonitorHanging counts the probes of a server that never responds. The pauses between them grow to five minutes.
func TestMonitorHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newFakeServer()
		defer m.stop()
		m.start()
		m.start()
		time.Sleep(time.Hour)
		// Pauses of 1 to 256 s are over after about 10 minutes, and each later probe takes 8 s and a pause of 225 to 300 s.
		if n := f.probes.Load(); n < 18 || n > 25 {
			t.Errorf("want 18 to 25 probes in an hour, got %d", n)
		}
		probes := f.probes.Load()
		f.up.Store(true)
		time.Sleep(lastProbe + probeTime)
		if n := f.probes.Load() - probes; n != 1 || m.state() != transport.Connected {
			t.Errorf("want a server that is back to be found by one probe, got %d probes and state %s", n, m.state())
		}
		time.Sleep(time.Hour)
		if n := f.probes.Load() - probes; n != 1 {
			t.Errorf("want no probe of a connected server at rest, got %d", n-1)
		}
		m.mu.Lock()
		active := m.active
		m.mu.Unlock()
		if active {
			t.Error("want no goroutine for a connected server")
		}
	})
}

// TestMonitorHurries checks when a server is probed that callers need.
func TestMonitorHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newFakeServer()
		defer m.stop()
		m.start()
		synctest.Wait()
		m.hurry()
		time.Sleep(probeTime)
		synctest.Wait()
		if n := f.probes.Load(); n != 1 {
			t.Errorf("want no further probe because of a caller during the first one, got %d", n-1)
		}
		time.Sleep(30 * time.Minute)

		before := f.probes.Load()
		for range 60 * 60 {
			m.hurry()
			time.Sleep(time.Second)
		}
		if n, most := f.probes.Load()-before, int32(time.Hour/(hurried+probeTime)); n < most/2 || n > most {
			t.Errorf("want %d to %d probes in an hour in which callers always need the server, got %d", most/2, most, n)
		}

		time.Sleep(lastProbe)
		f.up.Store(true)
		time.Sleep(hurried + probeTime)
		before = f.probes.Load()
		m.hurry()
		synctest.Wait()
		if n := f.probes.Load() - before; n != 1 || m.state() != transport.Connected {
			t.Errorf("want a server that is back to be found at once when a caller needs it, got %d probes and state %s", n, m.state())
		}
		m.hurry()
		time.Sleep(time.Hour)
		if n := f.probes.Load() - before; n != 1 {
			t.Errorf("want no probe of a connected server, got %d", n-1)
		}
	})
}

// TestKeepProbes checks that an unreachable cluster is probed when something has changed for it.
func TestKeepProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := atomic.Int32{}
		c, err := New(&rest.Config{Host: "https://example.org", Dial: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return nil, errors.New("refused")
		}}, nothing{}, Options{Monitored: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.Ready()
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		before := dials.Load()
		time.Sleep(hurried)
		c.Keep()
		synctest.Wait()
		if n := dials.Load() - before; n != 1 {
			t.Errorf("want one probe, got %d", n)
		}
	})
}

// TestMonitorFlapping counts the probes of a server that only answers probes, so that it fails again each time.
func TestMonitorFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newFakeServer()
		defer m.stop()
		f.up.Store(true)
		m.start()
		synctest.Wait()
		for start := time.Now(); time.Since(start) < time.Hour; {
			time.Sleep(time.Second)
			if m.state() == transport.Connected {
				f.fail(m)
			}
		}
		if n := f.probes.Load(); n > 25 {
			t.Errorf("want at most 25 probes in an hour, got %d", n)
		}
		time.Sleep(lastProbe)
		time.Sleep(steady + time.Second)
		before := f.probes.Load()
		f.fail(m)
		synctest.Wait()
		if n := f.probes.Load() - before; n != 1 {
			t.Errorf("want a server that was steady to be probed at once, got %d probes", n)
		}
	})
}

// TestMonitorStops checks that no goroutine is left after stop, and that no new one is started.
func TestMonitorStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := newFakeServer()
		m.start()
		time.Sleep(time.Minute)
		m.stop()
		before := f.probes.Load()
		m.start()
		time.Sleep(time.Hour)
		if n := f.probes.Load() - before; n != 0 {
			t.Errorf("want no probe of a closed connection, got %d", n)
		}
	})
}

// TestMonitorSurvivesPanics checks that a probe that panics is repeated in the same way as a failed probe.
func TestMonitorSurvivesPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := newFakeServer()
		m := newMonitor(admitted, func(context.Context) {
			f.probes.Add(1)
			panic("a bad version")
		}, func() transport.State { return f.state.Load().(transport.State) })
		defer m.stop()
		m.start()
		time.Sleep(time.Hour)
		if n := f.probes.Load(); n < 15 || n > 25 {
			t.Errorf("want 15 to 25 probes in an hour, got %d", n)
		}
	})
}
