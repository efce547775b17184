// SPDX-License-Identifier: Apache-2.0

// Package hooks has the specs of Helm hooks and their faults.
package hooks
