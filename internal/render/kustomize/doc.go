// SPDX-License-Identifier: Apache-2.0

/*
Package kustomize builds kustomizations. It is the only package that
depends on kustomize.

Kustomize fetches anything that resembles a URL. Build checks all kustomizations
first, and refuses what would be fetched or executed. Kustomize cannot be stopped
or bounded, and ends the process in one place, so that kustomizations of others
are built in child processes: see package sandbox.
*/
package kustomize
