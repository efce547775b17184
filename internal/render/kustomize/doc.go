// SPDX-License-Identifier: Apache-2.0

/*
Package kustomize builds kustomizations. It is the only package that
depends on kustomize.

Kustomize cannot be stopped, fetches anything that resembles a URL, and ends the
process in one place. Build checks all files first, and refuses what it cannot
bound.
*/
package kustomize
