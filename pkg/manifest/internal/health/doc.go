// SPDX-License-Identifier: Apache-2.0

// Package health determines the state of an object: by its kind and kstatus (StateOf), by the outcome of a Job or a Pod
// (Outcome), by the conventions of custom resources (OfCustomResource), and by readiness rules in CEL (Rules). It sends no
// requests.
package health
