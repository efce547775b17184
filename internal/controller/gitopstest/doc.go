// SPDX-License-Identifier: Apache-2.0

// Package gitopstest checks in tests of controllers what GitOps tools make of the statuses that the controllers write.
package gitopstest
