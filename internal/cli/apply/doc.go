// SPDX-License-Identifier: Apache-2.0

// Package apply applies the objects of the commands deploy and install with server-side apply, waits for them, and reports what
// was done with each object. The command undeploy uses its view of the control plane and its report, too.
package apply
