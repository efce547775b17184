// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"
	"time"
)

func TestConfigOf(t *testing.T) {
	in := install("web", tmplConfig)
	s := setOf(in)
	config := ConfigOf(map[string]Flags{"web": {
		ReleaseName: "other", CreateNamespace: new(false), SkipCRDs: true, DisableHooks: true, Timeout: time.Minute, Wait: true, SkipSchemaValidation: true,
	}})
	s.Config = &config
	w := &work{s: s}
	got, err := w.configure(t.Context(), &s.Installs[0])
	if err != nil {
		t.Fatal(err)
	}
	c := got.config
	if got.home.Name != "other" || !got.keepNamespaces || !c.SkipCRDs || !c.DisableHooks || c.Timeout != time.Minute || !c.Wait || !c.SkipSchemaValidation {
		t.Errorf("flags are lost: %+v", got)
	}
	for _, empty := range []map[string]Flags{nil, {"web": {}}} {
		config = ConfigOf(empty)
		if _, err := (&work{s: s}).configure(t.Context(), &s.Installs[0]); err != nil {
			t.Errorf("no flags change nothing: %v", err)
		}
	}
}
