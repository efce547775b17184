// SPDX-License-Identifier: Apache-2.0

package manifest

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
	// wordsTimeout and maxWords bound what is asked of a cluster about a hook that failed, and what is taken of it.
	wordsTimeout = 5 * time.Second

	// maxPods of a Job are looked at.
	maxPods = 20

	labelJobName = "batch.kubernetes.io/job-name"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"} //nolint:gochecknoglobals // Constant.

// lastWords of a hook that failed: what its container left as a message when it ended, its last line of log, or why it
// did not start. Whatever goes wrong on the way is of no interest: the hook failed, and that is told in any case.
func (h *hookRunner) lastWords(ctx context.Context, hk *hook) string {
	ctx, cancel := context.WithTimeout(ctx, wordsTimeout)
	defer cancel()
	for _, p := range h.podsOf(ctx, hk) {
		if words := h.wordsOf(ctx, &p); words != "" {
			return words
		}
	}
	return ""
}

// podsOf a hook, the last one first.
func (h *hookRunner) podsOf(ctx context.Context, hk *hook) []corev1.Pod {
	m := cluster.Mapping{Resource: "pods", Namespaced: true}
	switch hk.Ref.GroupKind() {
	case health.PodKind:
		b, err := h.Read(ctx, podKind, hk.Ref, ssa.JSON)
		p := corev1.Pod{}
		if err != nil || json.Unmarshal(b, &p) != nil {
			return nil
		}
		return []corev1.Pod{p}
	case health.JobKind:
		l := corev1.PodList{}
		params := map[string]string{"labelSelector": labelJobName + "=" + hk.Ref.Name, "limit": strconv.Itoa(maxPods)}
		if err := h.ListJSON(ctx, podKind, m, hk.Ref.Namespace, params, &l); err != nil {
			return nil
		}
		slices.SortStableFunc(l.Items, func(a, b corev1.Pod) int {
			return cmp.Compare(b.CreationTimestamp.Unix(), a.CreationTimestamp.Unix())
		})
		return l.Items
	}
	return nil
}

// wordsOf a pod: of the containers that failed, else of those that wait.
func (h *hookRunner) wordsOf(ctx context.Context, p *corev1.Pod) string {
	all := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	for i := range all {
		t := all[i].State.Terminated
		if t == nil {
			t = all[i].LastTerminationState.Terminated
		}
		if t == nil || t.ExitCode == 0 {
			continue
		}
		if words := h.shown(t.Message); words != "" {
			return words
		}
		if words := h.lastLine(ctx, p, all[i].Name); words != "" {
			return words
		}
		return text.Excerpt(t.Reason + " with exit code " + strconv.Itoa(int(t.ExitCode)))
	}
	for i := range all {
		if w := all[i].State.Waiting; w != nil && w.Reason != "" {
			return h.shown(strings.TrimSuffix(w.Reason+": "+w.Message, ": "))
		}
	}
	return h.shown(p.Status.Message)
}

// lastLine of the log of a container.
func (h *hookRunner) lastLine(ctx context.Context, p *corev1.Pod, container string) string {
	line, err := h.LastLogLine(ctx, p.Namespace, p.Name, container, 4*text.MaxExcerpt)
	if err != nil {
		return ""
	}
	return h.shown(line)
}

// shown returns the beginning of a text of a hook, redacted before it is cut.
func (h *hookRunner) shown(s string) string {
	if h.s.Redact != nil {
		s = h.s.Redact(s)
	}
	return text.Excerpt(s)
}
