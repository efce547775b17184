// SPDX-License-Identifier: Apache-2.0

package panics

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
)

func TestDo(t *testing.T) {
	errPlain := errors.New("plain")
	cases := map[string]struct {
		reason string
		f      func() error
		want   string
	}{
		"Fine":    {reason: "A function that returns nothing has no error.", f: func() error { return nil }},
		"Error":   {reason: "An error stays as it is.", f: func() error { return errPlain }, want: "plain"},
		"Runtime": {reason: "The error contains the text of a panic of the Go runtime.", f: func() error { return []error{}[len("a")] }, want: "cannot process object x because of a bug (runtime error: index out of range [1] with length 0); report the bug with the stack trace from the log"},
		"Reflect": {reason: "The error contains the text of a panic of the package reflect.", f: func() error { reflect.ValueOf(1).Elem(); return nil }, want: "cannot process object x because of a bug (reflect: call of reflect.Value.Elem on int Value); report the bug with the stack trace from the log"},
		"Text":    {reason: "The error does not contain another text, because it can be secret.", f: func() error { panic("s3cret") }, want: "cannot process object x because of a bug (a panic of type string); report the bug with the stack trace from the log"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for how, err := range map[string]error{
				"Do":    Do("object x", tc.f),
				"Value": func() error { _, err := Value("object x", func() (int, error) { return 1, tc.f() }); return err }(),
				"Into":  func() (err error) { defer Into(&err, "object x"); return tc.f() }(),
			} {
				got := ""
				if err != nil {
					got = err.Error()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n%s(...): -want, +got:\n%s", tc.reason, how, diff)
				}
				if want := strings.Contains(tc.want, "bug"); Is(fmt.Errorf("wrapped: %w", err)) != want {
					t.Errorf("%s\nIs(%v): want %t", tc.reason, err, want)
				}
			}
		})
	}
}

// TestLog checks that the stack is logged, but not foreign text.
func TestLog(t *testing.T) {
	var lines []string
	klog.SetLogger(funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
	defer klog.ClearLogger()
	Log("a callback", func() { panic("s3cret") })
	got := strings.Join(lines, "\n")
	if !strings.Contains(got, "TestLog") || !strings.Contains(got, "a callback") {
		t.Errorf("want the stack and the subject, got %s", got)
	}
	if strings.Contains(got, "s3cret") {
		t.Errorf("want no foreign text, got %s", got)
	}
}
