// SPDX-License-Identifier: Apache-2.0

// Package process runs servers as child processes on the loopback interface: it finds free ports for them, waits until
// they are ready, and stops them. A child never outlives the process that started it.
package process
