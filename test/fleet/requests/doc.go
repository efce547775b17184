// SPDX-License-Identifier: Apache-2.0

// Package requests limits the requests and reconciles of the provider: the provider installs Kymas into simulated clusters through
// a proxy that records each request to a real control plane.
package requests
