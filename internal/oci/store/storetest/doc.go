// SPDX-License-Identifier: Apache-2.0

// Package storetest puts artifacts into stores for tests.
package storetest
