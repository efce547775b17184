// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNewGrowing adds a value after texts have been redacted, as lookup does while a chart is rendered.
func TestNewGrowing(t *testing.T) {
	late := &Values{}
	r := NewGrowing(late, hunter)
	if got := r.Text("late-value " + hunter); got != "late-value (hidden)" {
		t.Errorf("before: %q", got)
	}
	for range 2 {
		if err := late.Add("late-value"); err != nil {
			t.Fatal(err)
		}
	}
	with := r.With("third-value")
	if diff := cmp.Diff("(hidden) (hidden) third-value", r.Text("late-value "+hunter+" third-value")); diff != "" {
		t.Errorf("after: -want, +got:\n%s", diff)
	}
	if err := late.Add("later-value"); err != nil {
		t.Fatal(err)
	}
	// The output of toJson for a Secret.
	if diff := cmp.Diff(`{"a":"(hidden)"} (hidden)`, with.Text(`{"a":"bGF0ZXItdmFsdWU="} third-value`)); diff != "" {
		t.Errorf("of another redactor: -want, +got:\n%s", diff)
	}
	if got := NewGrowing(&Values{}).Text("any text"); got != "any text" {
		t.Errorf("without values: %q", got)
	}
}

func TestValuesAreBounded(t *testing.T) {
	v := &Values{}
	if err := v.Add(strings.Repeat("a", maxBytes)); err != nil {
		t.Fatal(err)
	}
	if err := v.Add("another"); err == nil || !strings.Contains(err.Error(), "4 MiB") {
		t.Errorf("more than can be redacted: want an error that names the limit, got %v", err)
	}
	if err := v.Add(strings.Repeat("a", maxBytes)); err != nil {
		t.Errorf("the same value again: %v", err)
	}
}

func TestValuesAtOnce(t *testing.T) {
	v := &Values{}
	r := NewGrowing(v)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			value := strings.Repeat(string(rune('a'+i)), 20)
			if err := v.Add(value); err != nil {
				t.Error(err)
			}
			if got := r.Text(value); got != Mark {
				t.Errorf("Text(...): %q", got)
			}
		})
	}
	wg.Wait()
}
