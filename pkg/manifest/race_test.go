// SPDX-License-Identifier: Apache-2.0

//go:build race

package manifest

// raceDetector is true if the race detector is part of the binary. The tests that then take ten times as long do less.
const raceDetector = true
