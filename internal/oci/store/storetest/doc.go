// SPDX-License-Identifier: Apache-2.0

// Package storetest writes artifacts into stores for tests.
package storetest
