// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/attacktest"
)

// attacks returns the expected results of the charts of attacktest.
func attacks() map[string]struct {
	reason  string
	reasons []Reason // Which limit is reached first depends on the machine.
	err     string   // Set if the chart has an error that does not depend on a limit.
} {
	return map[string]struct {
		reason  string
		reasons []Reason
		err     string
	}{
		"Uniq":      {reason: "A function with quadratic time is limited.", reasons: []Reason{ReasonCPU}},
		"Without":   {reason: "A product of lists is limited.", reasons: []Reason{ReasonCPU, ReasonMemory}},
		"Regex":     {reason: "A large regular expression on a large text is limited.", reasons: []Reason{ReasonCPU, ReasonMemory}},
		"Range":     {reason: "A loop without end is limited.", reasons: []Reason{ReasonCPU}},
		"Doubling":  {reason: "A text that doubles repeatedly is limited.", reasons: []Reason{ReasonMemory, ReasonCPU}},
		"Memory":    {reason: "A list of large texts is limited.", reasons: []Reason{ReasonMemory, ReasonCPU}},
		"Output":    {reason: "The output is limited, for example to less than a gigabyte.", reasons: []Reason{ReasonMemory, ReasonCPU}},
		"Included":  {reason: "Output that is never printed is limited.", reasons: []Reason{ReasonMemory, ReasonCPU}},
		"Recursion": {reason: "Templates that call each other recursively are limited.", err: "templates call each other recursively too many times"},
		"Template":  {reason: "Recursion without a function is limited.", err: "exceeded maximum template depth (100000)"},
		"Calls":     {reason: "Twice as many calls at each level, but no level too deep.", reasons: []Reason{ReasonCPU, ReasonMemory}},
		"Repeat":    {reason: "A number can determine how much memory is used.", reasons: []Reason{ReasonMemory}},
		"Until":     {reason: "The length of a list is limited by the memory.", reasons: []Reason{ReasonMemory, ReasonCPU}},
		"Indent":    {reason: "The number of spaces is limited by the memory.", reasons: []Reason{ReasonMemory, ReasonCPU}},
		"Random":    {reason: "The number of random bytes is limited by the memory.", reasons: []Reason{ReasonMemory, ReasonCPU}},
		"Nesting":   {reason: "The parser follows nesting without a limit.", reasons: []Reason{ReasonEnded, ReasonMemory, ReasonCPU}},
		"Schema":    {reason: "A schema that is slow to check.", reasons: []Reason{ReasonCPU, ReasonMemory}},
		"Self":      {reason: "A value that contains itself.", reasons: []Reason{ReasonEnded, ReasonMemory, ReasonCPU}},
		"FromYAML":  {reason: "Aliases in a text that is decoded."},
		"Documents": {reason: "Twelve documents of aliases.", reasons: []Reason{ReasonOutput, ReasonMemory, ReasonCPU}},
		"Objects":   {reason: "More objects than a cluster should have.", reasons: []Reason{ReasonOutput}},
	}
}

// attackLimits returns limits that each attack reaches quickly.
func attackLimits() Limits {
	return Limits{CPU: 2 * time.Second, Memory: 128 << 20, Output: 8 << 20, Objects: 1000, Values: 200_000}
}

// TestAttacks checks that each attack ends with a specific error while other charts are rendered, and that it uses no memory of
// this process.
func TestAttacks(t *testing.T) {
	all := attacks()
	p := newPool(t, Options{Limits: attackLimits(), Processes: 2 * len(all), Spares: 1, Wait: time.Hour})
	good := chartOf(t, tree{"templates/a.yaml": configMap("a", "x")})
	charts := map[string]*render.Chart{}
	for name, files := range attacktest.Charts() {
		charts[name] = chartOf(t, tree(files))
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(charts))); diff != "" {
		t.Fatalf("charts: -want, +got:\n%s", diff)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)

	errs := map[string]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for name, c := range charts {
		wg.Go(func() {
			_, err := p.Chart(t.Context(), "team-a", c, render.Options{ReleaseName: "rel"})
			mu.Lock()
			defer mu.Unlock()
			errs[name] = err
		})
	}
	const others = 5
	for i := range others {
		r, err := p.Chart(t.Context(), "team-b", good, render.Options{ReleaseName: "rel"})
		if err != nil || len(r.Objects) != 1 {
			t.Errorf("chart %d of another tenant: %v", i, err)
		}
	}
	wg.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)

	for name, tc := range all {
		err := errs[name]
		e := (*Error)(nil)
		switch {
		case errors.As(err, &e) && e.Reason == ReasonCPU: // On a slow machine, the CPU time can be exceeded first.
		case tc.reasons == nil && (err == nil) != (tc.err == ""), !strings.Contains(text(err), tc.err):
			t.Errorf("\n%s: %s\nwant error %q, got %v", name, tc.reason, tc.err, err)
		case tc.reasons != nil && !errors.As(err, &e):
			t.Errorf("\n%s: %s\nwant an *Error, got %v", name, tc.reason, err)
		case tc.reasons != nil && !slices.Contains(tc.reasons, e.Reason):
			t.Errorf("\n%s: %s\nwant a reason of %v, got %s: %v", name, tc.reason, tc.reasons, e.Reason, err)
		}
		t.Logf("%s: %v", name, err)
	}
	const most = 64 << 20
	if grown := int64(after.TotalAlloc) - int64(before.TotalAlloc); grown > most {
		t.Errorf("the parent allocated %d bytes, want at most %d", grown, most)
	}
}

// TestReceive checks that the parent limits the output of a child, even if an attacker has taken over the child.
func TestReceive(t *testing.T) {
	frame := func(k kind, content string) string {
		var b bytes.Buffer
		if err := writeFrame(&b, k, []byte(content)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	object := frame(kindObject, `{"a": ["x, y: {[\"", 1]}`)
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Objects":  {reason: "The number of objects is limited.", args: strings.Repeat(object, 4), want: "renders more than 3 objects"},
		"Values":   {reason: "The number of values is limited.", args: frame(kindObject, `{"a": [`+strings.Repeat("[],", 30)+`1]}`), want: "the rendered objects have more than 50 values"},
		"Bytes":    {reason: "The sum of all messages is bounded.", args: strings.Repeat(frame(kindObject, `{"a": "`+strings.Repeat("x", 4500)+`"}`), 3), want: "message exceeds the size limit"},
		"Long":     {reason: "A message is bounded before it is read.", args: "o\x7f\xff\xff\xff", want: "message exceeds the size limit"},
		"Unknown":  {reason: "An unknown message ends it.", args: frame('?', ""), want: "unknown message"},
		"List":     {reason: "An object is a map.", args: frame(kindObject, `[1]`), want: "cannot decode an object"},
		"Null":     {reason: "Null is not an object.", args: frame(kindObject, `null`), want: "must be an object"},
		"Deep":     {reason: "Objects are not deeper than the decoder follows.", args: frame(kindObject, strings.Repeat(`{"a":`, 2000)), want: "the rendered objects have more than 50 values"},
		"Details":  {reason: "The end must be readable.", args: frame(kindDetails, `{`), want: "cannot decode the result"},
		"Cut":      {reason: "A message may end early.", args: object[:8], want: "unexpected EOF"},
		"Template": {reason: "The name of a template is a line.", args: frame(kindTemplate, "a\nb") + frame(kindError, "e"), want: "e"},
		"Fine":     {reason: "All else is accepted.", args: object + frame(kindDetails, `{"notes": "n"}`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := &exchange{
				subject: `chart "app"`, limits: Limits{Output: 10_000, Objects: 3, Values: 50},
				from: bufio.NewReader(strings.NewReader(tc.args)),
			}
			err := x.receive()
			if tc.want == "" && err != nil || tc.want != "" && !strings.Contains(text(err), tc.want) {
				t.Errorf("\n%s\nreceive(): want error %q, got %v", tc.reason, tc.want, err)
			}
			if diff := cmp.Diff(map[bool]string{true: "a b"}[name == "Template"], x.template); diff != "" {
				t.Errorf("\n%s\ntemplate: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLookups checks that a chart cannot make the parent do an unlimited number of lookups.
func TestLookups(t *testing.T) {
	p := newPool(t, Options{Limits: Limits{Lookups: 10}})
	calls := 0
	o := render.Options{ReleaseName: "rel", Lookup: func(string, string, string, string) (map[string]any, error) {
		calls++
		return map[string]any{}, nil
	}}
	_, err := p.Chart(t.Context(), "", chartOf(t, tree{"templates/a.yaml": `{{ range until 100 }}{{ $x := lookup "v1" "Pod" "" "" }}{{ end }}`}), o)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Reason != ReasonOutput || calls != 10 {
		t.Errorf("want reason %s after 10 calls, got %v after %d", ReasonOutput, err, calls)
	}
	if diff := cmp.Diff(`chart "app": templates/a.yaml: calls lookup more than 10 times`, text(err)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
