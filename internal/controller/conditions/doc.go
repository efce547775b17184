// SPDX-License-Identifier: Apache-2.0

// Package conditions writes conditions and messages so that equal ones are written once: with the generation that was examined,
// with a time that changes only if the condition does, and at most as long as the API allows.
package conditions
