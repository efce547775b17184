// SPDX-License-Identifier: Apache-2.0

// Package lazylog defers the encoding of what loggers add to each of their entries until an entry is written. Each reconcile makes several loggers, and
// nearly none of them writes anything.
package lazylog
