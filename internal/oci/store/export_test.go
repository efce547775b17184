// SPDX-License-Identifier: Apache-2.0

package store

// MaxAttachments exports the limit for tests.
const MaxAttachments = maxAttachments
