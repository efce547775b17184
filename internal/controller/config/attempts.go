// SPDX-License-Identifier: Apache-2.0

package config

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// A Connection is a connection to a target cluster. It must be comparable.
type Connection interface {
	// Host returns the scheme, host and port of the API server.
	Host() string
	// Outcome returns the outcome of the latest requests.
	Outcome() transport.Outcome
	// LastVersion returns the version of the cluster, or an empty string if it is unknown.
	LastVersion() string
	// LastUID returns the UID of the cluster, or an empty string if the credentials don't allow reading it. It doesn't wait: if it returns
	// false, the UID is being requested, and Attempts.Changed is called when the result is known.
	LastUID() (uid string, known bool, err error)
}

// A key identifies a config.
type key struct {
	kind string
	name types.NamespacedName
}

func keyOfConfig(c *Config) key {
	return key{kind: c.Kind, name: types.NamespacedName{Namespace: c.Namespace, Name: c.Name}}
}

// An attempt is the latest attempt to connect with a config. It either resulted in a connection, or failed before a request was
// sent.
type attempt struct {
	generation int64
	connection Connection
	err        error
	users      int
}

// same reports whether two attempts have the same generation, connection and error text.
func (a *attempt) same(b *attempt) bool {
	if a.generation != b.generation || a.connection != b.connection || (a.err == nil) != (b.err == nil) {
		return false
	}
	return a.err == nil || a.err.Error() == b.err.Error()
}

// Attempts holds the latest attempt to connect with each config that is in use, and notifies the controllers of configs of
// changes. It is safe for concurrent use.
type Attempts struct {
	mu       sync.Mutex
	byConfig map[key]*attempt
	byUser   map[string]key
	configs  map[Connection]map[key]bool
	notify   map[string]func(types.NamespacedName)
}

// NewAttempts returns Attempts without any attempt.
func NewAttempts() *Attempts {
	return &Attempts{
		byConfig: map[key]*attempt{},
		byUser:   map[string]key{},
		configs:  map[Connection]map[key]bool{},
		notify:   map[string]func(types.NamespacedName){},
	}
}

// Connected records that a connection was established with a config for a user. The name of a user can be anything that
// identifies a managed resource.
func (a *Attempts) Connected(user string, c *Config, connection Connection) {
	a.record(user, c, attempt{generation: c.Generation, connection: connection})
}

// Failed records that connecting with a config failed.
func (a *Attempts) Failed(user string, c *Config, err error) {
	a.record(user, c, attempt{generation: c.Generation, err: err})
}

// Forget removes a user.
func (a *Attempts) Forget(user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.removeUser(user)
}

// Changed reports that the outcome, the version or the UID of a connection has changed.
func (a *Attempts) Changed(connection Connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range a.configs[connection] {
		a.notifyListener(k)
	}
}

// Latest reports whether a config is in use, and whether the latest attempt to connect with it failed before a request was sent.
func (a *Attempts) Latest(c *Config) (used, failed bool) {
	at, used := a.of(keyOfConfig(c))
	return used, at.err != nil
}

// of returns the latest attempt to connect with a config, and whether there is one.
func (a *Attempts) of(k key) (attempt, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.byConfig[k]; ok {
		return *at, true
	}
	return attempt{}, false
}

// listen registers f for a kind of configs. It calls f for each config that has an attempt, and later for each config whose
// attempt changes. f must not block.
func (a *Attempts) listen(kind string, f func(types.NamespacedName)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notify[kind] = f
	for k := range a.byConfig {
		if k.kind == kind {
			f(k.name)
		}
	}
}

func (a *Attempts) record(user string, c *Config, next attempt) {
	k := keyOfConfig(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	if before, ok := a.byUser[user]; !ok || before != k {
		a.removeUser(user)
		a.byUser[user] = k
		if a.byConfig[k] == nil {
			a.byConfig[k] = &attempt{}
		}
		a.byConfig[k].users++
	}
	at := a.byConfig[k]
	if at.same(&next) {
		return
	}
	a.disconnect(k, at)
	next.users = at.users
	*at = next
	if next.connection != nil {
		if a.configs[next.connection] == nil {
			a.configs[next.connection] = map[key]bool{}
		}
		a.configs[next.connection][k] = true
	}
	a.notifyListener(k)
}

// removeUser removes a user from its config, if it has one. A config without users has no attempt. The caller of removeUser and of the
// methods below must hold the lock.
func (a *Attempts) removeUser(user string) {
	k, ok := a.byUser[user]
	if !ok {
		return
	}
	delete(a.byUser, user)
	at := a.byConfig[k]
	at.users--
	if at.users > 0 {
		return
	}
	a.disconnect(k, at)
	delete(a.byConfig, k)
	a.notifyListener(k)
}

func (a *Attempts) disconnect(k key, at *attempt) {
	configs := a.configs[at.connection]
	delete(configs, k)
	if len(configs) == 0 {
		delete(a.configs, at.connection)
	}
}

func (a *Attempts) notifyListener(k key) {
	if f := a.notify[k.kind]; f != nil {
		f(k.name)
	}
}
