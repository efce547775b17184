// SPDX-License-Identifier: Apache-2.0

// Package kyma has the commands about a Kyma as a whole: its status, and waiting
// for it.
package kyma
