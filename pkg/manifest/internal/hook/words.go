// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

const (
	// wordsTimeout limits the duration of the requests for the last output of a failed hook.
	wordsTimeout = 5 * time.Second

	// maxPods is the maximum number of pods of a Job that are read.
	maxPods = 20

	labelJobName = "batch.kubernetes.io/job-name"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"} //nolint:gochecknoglobals // Constant.

// Pods reads pods and their logs. *ssa.Client implements it.
type Pods interface {
	// Read returns an object in the given media type, or nil if it does not exist.
	Read(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, accept string) ([]byte, error)

	// ListJSON decodes the objects of a kind in a namespace into a list.
	ListJSON(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, namespace string, params map[string]string, list any) error

	// LastLogLine returns the last line of the log of a container, up to limit bytes.
	LastLogLine(ctx context.Context, namespace, pod, container string, limit int) (string, error)
}

// lastWords returns the last output of a failed hook: the termination message of its container, the last line of its log, or the
// reason why it did not start. It ignores errors, because the failure of the hook is reported anyway.
func (r *Runner) lastWords(ctx context.Context, h *Hook) string {
	ctx, cancel := context.WithTimeout(ctx, wordsTimeout)
	defer cancel()
	for _, p := range podsOf(ctx, r.Pods, h.Ref) {
		if words := readRemark(ctx, r.Pods, &p, r.Redact); words != "" {
			return words
		}
	}
	return ""
}

// podsOf returns the pods of a hook, newest first.
func podsOf(ctx context.Context, pods Pods, ref cluster.ObjectRef) []corev1.Pod {
	ctx, done := decoding.Hold(ctx)
	defer done()
	switch ref.GroupKind() {
	case health.PodKind:
		b, err := pods.Read(ctx, podKind, ref, ssa.JSON)
		p := corev1.Pod{}
		if err != nil || json.Unmarshal(b, &p) != nil {
			return nil
		}
		return []corev1.Pod{p}
	case health.JobKind:
		l := corev1.PodList{}
		m := cluster.Mapping{Resource: "pods", Namespaced: true}
		params := map[string]string{"labelSelector": labelJobName + "=" + ref.Name, "limit": strconv.Itoa(maxPods)}
		if err := pods.ListJSON(ctx, podKind, m, ref.Namespace, params, &l); err != nil {
			return nil
		}
		slices.SortStableFunc(l.Items, func(a, b corev1.Pod) int {
			return cmp.Compare(b.CreationTimestamp.Unix(), a.CreationTimestamp.Unix())
		})
		return l.Items
	}
	return nil
}

// A remark describes a failure according to the status of a pod. If the message is empty, the log of the container may contain
// more information; the fallback is used for a container without a log. The container is empty if none failed.
type remark struct {
	message, container, fallback string
}

// remarkOf returns the remark about the first failed container, or else the first waiting container, or else the pod.
func remarkOf(s *corev1.PodStatus) remark {
	all := slices.Concat(s.InitContainerStatuses, s.ContainerStatuses)
	for i := range all {
		t := cmp.Or(all[i].State.Terminated, all[i].LastTerminationState.Terminated)
		if t == nil || t.ExitCode == 0 {
			continue
		}
		return remark{message: t.Message, container: all[i].Name, fallback: t.Reason + " with exit code " + strconv.Itoa(int(t.ExitCode))}
	}
	for i := range all {
		if w := all[i].State.Waiting; w != nil && w.Reason != "" {
			return remark{message: strings.TrimSuffix(w.Reason+": "+w.Message, ": ")}
		}
	}
	return remark{message: s.Message}
}

// readRemark returns an excerpt of the remark of a pod, or an empty string. It reads the log only if necessary.
func readRemark(ctx context.Context, pods Pods, p *corev1.Pod, redact func(string) string) string {
	m := remarkOf(&p.Status)
	if words := excerpt(m.message, redact); words != "" || m.container == "" {
		return words
	}
	if line, err := pods.LastLogLine(ctx, p.Namespace, p.Name, m.container, 4*text.MaxExcerpt); err == nil {
		if words := excerpt(line, redact); words != "" {
			return words
		}
	}
	return text.Excerpt(m.fallback)
}

// excerpt redacts and then shortens a text. It redacts first, because half a secret would not be recognized.
func excerpt(s string, redact func(string) string) string {
	if redact != nil {
		s = redact(s)
	}
	return text.Excerpt(s)
}
