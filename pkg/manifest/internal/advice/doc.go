// SPDX-License-Identifier: Apache-2.0

// Package advice provides the parts of messages that advise users what to do. The settings that users can change depend on the
// caller of the engine: the fields of a Bundle by default, or the API of a controller.
package advice
