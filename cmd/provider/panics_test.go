// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A panickingDecoder panics when it decodes an event.
type panickingDecoder struct{ closed chan struct{} }

func (d *panickingDecoder) Decode() (watch.EventType, runtime.Object, error) {
	panic("an event that cannot be decoded")
}
func (d *panickingDecoder) Close() { close(d.closed) }

type noReporter struct{}

func (noReporter) AsObject(error) runtime.Object { return nil }

// TestSurvivePanics checks that a panic in a goroutine of client-go only ends its watch, and not the process.
func TestSurvivePanics(t *testing.T) {
	survivePanics()
	d := &panickingDecoder{closed: make(chan struct{})}
	w := watch.NewStreamWatcher(d, noReporter{})
	if _, ok := <-w.ResultChan(); ok {
		t.Error("want the watch to end")
	}
	<-d.closed
	func() {
		defer utilruntime.HandleCrash()
		panic(errors.New("a handler"))
	}()
}
