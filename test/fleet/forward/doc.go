// SPDX-License-Identifier: Apache-2.0

// Package forward forwards the requests of a provider to a control plane, so that tests can count or stop them on the way.
package forward
