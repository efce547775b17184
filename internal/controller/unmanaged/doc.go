// SPDX-License-Identifier: Apache-2.0

// Package unmanaged determines whether the objects of a Manifest stay in the cluster because its Kyma does not manage the module.
package unmanaged
