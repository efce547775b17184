// SPDX-License-Identifier: Apache-2.0

// Package await watches objects of a control plane until they meet a condition: a Kyma or its modules are Ready or deleted, or
// any other condition that a Result expresses.
package await
