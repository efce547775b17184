// SPDX-License-Identifier: Apache-2.0

// Package compare says what differs between two versions of objects, field by
// field. The data of Secrets is compared and never shown.
package compare
