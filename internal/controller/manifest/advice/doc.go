// SPDX-License-Identifier: Apache-2.0

// Package advice describes to users of a Manifest what they can do about a message of the engine.
package advice
