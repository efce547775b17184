// SPDX-License-Identifier: Apache-2.0

// Package ocitest has what the tests of pulling have in common: registries and
// chart repositories that count what they are asked, and charts to put there.
package ocitest
