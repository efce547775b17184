// SPDX-License-Identifier: Apache-2.0

// Package objects creates many objects of the provider, and waits until they are Ready.
package objects
