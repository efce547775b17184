// SPDX-License-Identifier: Apache-2.0

// Command crds makes the schemas of generated CRDs refuse the times that the provider cannot decode. An API server accepts a list, a lower case t
// and an offset of 99 hours for the format date-time, and one such object would stop the watch of its kind for all tenants. Markers
// cannot change the schemas of times in types of other modules, such as conditions.
package main
