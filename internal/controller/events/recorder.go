// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
)

// Recorder returns a recorder for a component, which writes through the queue.
func (q *Queue) Recorder(component string) record.EventRecorder {
	return &recorder{queue: q, component: component}
}

type recorder struct {
	queue     *Queue
	component string
}

// Event records an event.
func (r *recorder) Event(o runtime.Object, eventType, reason, message string) {
	r.record(o, nil, eventType, reason, message)
}

// Eventf records an event whose message has a format.
func (r *recorder) Eventf(o runtime.Object, eventType, reason, format string, args ...any) {
	r.record(o, nil, eventType, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf records an event with annotations, whose message has a format.
func (r *recorder) AnnotatedEventf(o runtime.Object, annotations map[string]string, eventType, reason, format string, args ...any) {
	r.record(o, annotations, eventType, reason, fmt.Sprintf(format, args...))
}

func (r *recorder) record(o runtime.Object, annotations map[string]string, eventType, reason, message string) {
	ref, err := reference.GetReference(r.queue.scheme, o)
	if err != nil {
		r.queue.log.Info("Cannot record an event", "reason", reason, "error", err.Error())
		r.queue.drop("Rejected")
		return
	}
	now := metav1.NewTime(r.queue.now())
	namespace := ref.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	r.queue.enqueue(&corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name: util.GenerateEventName(ref.Name, now.UnixNano()), Namespace: namespace, Annotations: annotations,
		},
		InvolvedObject: *ref, Reason: reason, Message: conditions.Truncate(message, maxMessage), Type: eventType, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: r.component}, ReportingController: r.component,
	})
}
