// SPDX-License-Identifier: Apache-2.0

package manifest

import "fmt"

// awaitInstalls holds the custom resource of the set back until all installs are applied: only then is all there that
// serves it.
func (st *step) awaitInstalls() {
	for _, pl := range st.plans {
		if pl.install != nil && !st.stopped(pl.name) {
			st.complete(pl)
		}
	}
	for _, pl := range st.plans {
		if pl.resource == nil || st.stopped(pl.name) {
			continue
		}
		for i := range st.parts {
			p := &st.parts[i]
			if p.resource == nil && (st.stopped(p.name) || st.held[p.name]) {
				st.wait(pl.name, fmt.Sprintf("%s waits until %s is applied", pl.title(), p.title()))
				break
			}
		}
	}
}
