// SPDX-License-Identifier: Apache-2.0

// Package crashes kills the provider before and after its writes to the control plane during rollouts over 20 simulated clusters, and
// requires that the rollouts end as without crashes: no Kyma is changed twice or left out, and no more Kymas than the failure budget ever
// have a version that never becomes Ready. The control plane, the registry and the provider are real.
//
// By default, the provider makes a random number of writes before each crash. With -crashes.every, it is killed before and after each
// write.
package crashes
