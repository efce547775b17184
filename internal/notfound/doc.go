// SPDX-License-Identifier: Apache-2.0

// Package notfound determines what a response "404 Not Found" means. All such decisions are made here.
//
// Any server between the provider and a cluster may respond with 404, too: a proxy, an ingress without a backend, or a
// gateway whose cluster sleeps. client-go gives each of these errors the reason NotFound. Only two responses prove that
// something does not exist: a Status in which an API server names the object, and a discovery document that does not
// contain the kind. Objects of a kind exist as long as the cluster serves it in any version, see Elsewhere. For a path that
// it does not serve, an API server responds with plain text. Any web server could have sent that, so it proves nothing.
package notfound
