// SPDX-License-Identifier: Apache-2.0

// Package gitopstest checks, in tests of controllers, how GitOps tools interpret the statuses that the controllers write.
package gitopstest
