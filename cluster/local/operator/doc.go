// SPDX-License-Identifier: Apache-2.0

// Package operator stands for the programs of the modules of the demo, which
// no one can run without containers. It reports the state of each module's custom
// resources as those would: from the Deployment of the module, and from what the
// custom resource says.
package operator
