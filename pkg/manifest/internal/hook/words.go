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

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

const (
	// wordsTimeout bounds the requests about a hook that failed.
	wordsTimeout = 5 * time.Second

	// maxPods of a Job are looked at.
	maxPods = 20

	labelJobName = "batch.kubernetes.io/job-name"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"} //nolint:gochecknoglobals // Constant.

// Pods is how a Runner reads pods and their logs. A *ssa.Client is one.
type Pods interface {
	// Read an object in the form of a media type; nil where it does not exist.
	Read(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, accept string) ([]byte, error)

	// ListJSON decodes the objects of a kind in a namespace into a list.
	ListJSON(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, namespace string, params map[string]string, list any) error

	// LastLogLine returns the last line of the log of a container, up to a number of bytes.
	LastLogLine(ctx context.Context, namespace, pod, container string, limit int) (string, error)
}

// lastWords returns what a hook that failed said last: the termination message of its container, its last line of log, or why it
// did not start. Errors on the way are ignored: the hook failed, and that is reported in any case.
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

// podsOf returns the pods of a hook, the newest first.
func podsOf(ctx context.Context, pods Pods, ref cluster.ObjectRef) []corev1.Pod {
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

// A remark is what the status of a pod says about its failure. Where the message is empty, the log of the container may say more,
// and the fallback is for a container without a log. The container is empty where none has failed.
type remark struct {
	message, container, fallback string
}

// remarkOf returns the remark of the first container that failed, else of the first one that waits, else of the pod.
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

// readRemark returns the remark of a pod as an excerpt; empty for none. It asks for the log only where that is needed.
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

// excerpt returns the beginning of a text, redacted before it is cut: half a secret would not be recognised.
func excerpt(s string, redact func(string) string) string {
	if redact != nil {
		s = redact(s)
	}
	return text.Excerpt(s)
}
