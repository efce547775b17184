// SPDX-License-Identifier: Apache-2.0

package store

// MaxAttachments is for tests that hold it.
const MaxAttachments = maxAttachments
