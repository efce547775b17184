// SPDX-License-Identifier: Apache-2.0

package sbom

// MediaType is the media type of a document, and the type of its artifact in a registry.
const MediaType = "application/spdx+json"

// These constants are defined by SPDX 2.3.
const (
	spdxVersion = "SPDX-2.3"
	dataLicense = "CC0-1.0"
	documentID  = "SPDXRef-DOCUMENT"
	noAssertion = "NOASSERTION"
	describes   = "DESCRIBES"
	contains    = "CONTAINS"
	dependsOn   = "DEPENDS_ON"
)

type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	ID                string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creationInfo   `json:"creationInfo"`
	Packages          []component    `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creationInfo struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

// A component is a package in the terms of SPDX.
type component struct {
	ID                    string        `json:"SPDXID"`
	Name                  string        `json:"name"`
	VersionInfo           string        `json:"versionInfo,omitempty"`
	PrimaryPackagePurpose string        `json:"primaryPackagePurpose"`
	DownloadLocation      string        `json:"downloadLocation"`
	FilesAnalyzed         bool          `json:"filesAnalyzed"`
	Checksums             []checksum    `json:"checksums,omitempty"`
	SourceInfo            string        `json:"sourceInfo,omitempty"`
	LicenseConcluded      string        `json:"licenseConcluded"`
	LicenseDeclared       string        `json:"licenseDeclared"`
	CopyrightText         string        `json:"copyrightText"`
	ExternalRefs          []externalRef `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type externalRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}
