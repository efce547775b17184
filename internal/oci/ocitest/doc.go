// SPDX-License-Identifier: Apache-2.0

// Package ocitest provides what tests of pulling share: registries and chart repositories that count their requests,
// and charts to store there.
package ocitest
