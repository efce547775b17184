// SPDX-License-Identifier: Apache-2.0

// Package advice has the parts of messages that tell users what to do. They name what users set, which depends on who calls the
// engine: the fields of a Bundle by default, or the API of a controller.
package advice
