// SPDX-License-Identifier: Apache-2.0

// Package conditions writes conditions and messages to a status so that equal ones are written once: with the generation that
// was reconciled, with a time that changes only if the condition does, and no longer than the API allows.
package conditions
