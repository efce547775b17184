// SPDX-License-Identifier: Apache-2.0

// Package advice provides the parts of messages that tell users what to do. What users can set depends on the caller of the
// engine: the fields of a Bundle by default, or the API of a controller.
package advice
