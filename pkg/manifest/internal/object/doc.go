// SPDX-License-Identifier: Apache-2.0

// Package object prepares rendered objects for server-side apply.
//
// A Desired is what the engine sends for an object. Its metadata and its other fields are encoded separately, so that a patch can
// add a precondition, such as a resource version, without encoding the object again. A PartID names the part of the bundle that
// contains the object: an install, the CRDs, or the custom resource. An Identity has the field manager and the label value by which
// an engine recognizes its fields and objects. The package also defines the labels and annotations that mark objects, and the
// stages in which they are applied.
package object
