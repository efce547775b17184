// SPDX-License-Identifier: Apache-2.0

// Package kyma has the specs of a Kyma.
package kyma
