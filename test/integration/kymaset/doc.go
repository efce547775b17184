// SPDX-License-Identifier: Apache-2.0

// Package kymaset has the specs of a KymaSet.
package kymaset
