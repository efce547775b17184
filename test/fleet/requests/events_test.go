// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/events"
)

// TestEvents checks that no event of 500 objects at the same time is lost, with a real API server.
func TestEvents(t *testing.T) {
	const objects, each = 500, 10
	c, err := corev1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := control.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "events"}}); err != nil {
		t.Fatal(err)
	}
	q := events.NewQueue(c.Events(""), scheme.Scheme, logging.NewNopLogger(), func(cause string) { t.Errorf("an event was dropped: %s", cause) })
	r := q.Recorder("test")
	for i := range objects {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "events", Name: fmt.Sprintf("o%d", i), UID: types.UID(strconv.Itoa(i))}}
		for range each {
			r.Event(o, corev1.EventTypeNormal, "Installed", "Installed a")
			r.Event(o, corev1.EventTypeWarning, "RemovalBlocked", "waiting for b")
		}
		r.Event(o, corev1.EventTypeWarning, "RolledBack", "c failed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- q.Start(ctx) }()
	list := &corev1.EventList{}
	for begin := time.Now(); len(list.Items) < 3*objects && time.Since(begin) < limit; time.Sleep(100 * time.Millisecond) {
		if err := control.List(t.Context(), list, client.InNamespace("events")); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := len(list.Items); got != 3*objects {
		t.Errorf("want 3 events of each of %d objects, which are merged before they are written, got %d in total", objects, got)
	}
}
