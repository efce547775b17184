// SPDX-License-Identifier: Apache-2.0

// Package pack makes reproducible layers from files: they do not depend on the time, the machine or the user.
package pack
