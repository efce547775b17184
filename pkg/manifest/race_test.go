// SPDX-License-Identifier: Apache-2.0

//go:build race

package manifest

// raceDetector is true if the race detector is part of the binary. The model then takes ten times as long.
const raceDetector = true
