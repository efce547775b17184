// SPDX-License-Identifier: Apache-2.0

// Package artifact has the commands that work on modules as files and in
// registries. None of them needs a cluster.
package artifact
