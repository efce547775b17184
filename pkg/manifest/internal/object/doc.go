// SPDX-License-Identifier: Apache-2.0

// Package object prepares rendered objects for server-side apply.
//
// A Desired is the form of an object that the engine applies. Its metadata and its other fields are encoded separately, so that a
// patch can add a precondition, such as a resource version, without encoding the object again. A PartID identifies the part of
// the bundle that contains the object: an install, the CRDs, or the custom resource. An Identity contains the field manager and
// the label value by which an engine recognizes its fields and objects. The package also contains the labels and annotations that
// mark objects, and the stages in which objects are applied.
package object
