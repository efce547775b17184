// SPDX-License-Identifier: Apache-2.0

// Package world runs what the fleet benchmark measures: a real control plane, a registry, the simulated API servers of the fleet, and
// the provider as a process. Its methods are the actions of users and operators: they create, edit, roll out, rotate, restart and
// remove.
package world
