// SPDX-License-Identifier: Apache-2.0

// Package flags validates flags that several commands of kymactl module share.
package flags
