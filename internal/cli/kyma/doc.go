// SPDX-License-Identifier: Apache-2.0

// Package kyma contains the commands about a whole Kyma: status and wait.
package kyma
