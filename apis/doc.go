// SPDX-License-Identifier: Apache-2.0

// Package apis holds the API groups of the provider. Its directives generate the CRDs in package/crds and the methods that
// crossplane-runtime requires of a kind; run them with `make generate`.
package apis

//go:generate sh -c "rm -f ../package/crds/*.yaml"
//go:generate go tool controller-gen object:headerFile=../hack/boilerplate.go.txt paths=./... crd:crdVersions=v1 output:artifacts:config=../package/crds
//go:generate go run ../hack/crds ../package/crds
//go:generate go tool angryjet generate-methodsets --header-file=../hack/boilerplate.go.txt ./...
