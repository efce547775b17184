// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// fakePods holds pods, and logs by container name. The zero value has none.
type fakePods struct {
	pods []corev1.Pod
	logs map[string]string
}

func (f fakePods) Read(context.Context, schema.GroupVersionKind, cluster.ObjectRef, string) ([]byte, error) {
	if len(f.pods) == 0 {
		return nil, nil
	}
	return json.Marshal(f.pods[0])
}

func (f fakePods) ListJSON(_ context.Context, _ schema.GroupVersionKind, _ cluster.Mapping, _ string, params map[string]string, list any) error {
	if params["labelSelector"] != "batch.kubernetes.io/job-name=j" || params["limit"] != "20" {
		return errors.Errorf("unexpected parameters %v", params)
	}
	b, err := json.Marshal(corev1.PodList{Items: f.pods})
	if err != nil {
		return err
	}
	return json.Unmarshal(b, list)
}

func (f fakePods) LastLogLine(_ context.Context, _, _, container string, _ int) (string, error) {
	line, ok := f.logs[container]
	if !ok {
		return "", errors.New("no log")
	}
	return line, nil
}

func ended(container string, code int32, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message}}}
}

func TestRemarkOf(t *testing.T) {
	waits := corev1.ContainerStatus{Name: "w", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}}}
	restarted := corev1.ContainerStatus{Name: "r", LastTerminationState: ended("", 2, "Error", "").State}
	cases := map[string]struct {
		reason string
		in     corev1.PodStatus
		want   remark
	}{
		"Nothing": {reason: "A pod may have no message."},
		"Pod":     {reason: "The status of an evicted pod has the reason.", in: corev1.PodStatus{Message: "evicted"}, want: remark{message: "evicted"}},
		"Waits":   {reason: "A container that cannot start has a reason.", in: corev1.PodStatus{Message: "x", ContainerStatuses: []corev1.ContainerStatus{ended("a", 0, "Completed", ""), waits}}, want: remark{message: "ErrImagePull: no such image"}},
		"Failed":  {reason: "A failed container takes precedence over a waiting one.", in: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waits, ended("a", 3, "Error", "no table")}}, want: remark{message: "no table", container: "a", fallback: "Error with exit code 3"}},
		"Init":    {reason: "Init containers take precedence.", in: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{ended("i", 1, "Error", "")}, ContainerStatuses: []corev1.ContainerStatus{ended("a", 3, "Error", "x")}}, want: remark{container: "i", fallback: "Error with exit code 1"}},
		"Again":   {reason: "A restarted container failed before.", in: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{restarted}}, want: remark{container: "r", fallback: "Error with exit code 2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, remarkOf(&tc.in), cmp.AllowUnexported(remark{})); diff != "" {
				t.Errorf("\n%s\nremarkOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLastWords(t *testing.T) {
	pod := func(age int, c ...corev1.ContainerStatus) corev1.Pod {
		p := corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: c}}
		p.CreationTimestamp = metav1.Unix(int64(1000-age), 0)
		return p
	}
	secret := strings.Repeat("x", text.MaxExcerpt-10) + "password-1234567890"
	cases := map[string]struct {
		reason string
		kind   string
		pods   fakePods
		want   string
	}{
		"None":     {reason: "Without pods, there is no output.", kind: "Job"},
		"Other":    {reason: "Objects of other kinds have no pods.", kind: "ConfigMap", pods: fakePods{pods: []corev1.Pod{pod(1, ended("a", 1, "Error", "x"))}}},
		"Pod":      {reason: "A Pod is its own pod.", kind: "Pod", pods: fakePods{pods: []corev1.Pod{pod(1, ended("a", 1, "Error", "no\ntable"))}}, want: "no table"},
		"Newest":   {reason: "The newest pod of a Job is used.", kind: "Job", pods: fakePods{pods: []corev1.Pod{pod(2, ended("a", 1, "Error", "old")), pod(1, ended("a", 1, "Error", "new"))}}, want: "new"},
		"Silent":   {reason: "If the newest pod has no message, the one before is used.", kind: "Job", pods: fakePods{pods: []corev1.Pod{pod(1), pod(2, ended("a", 1, "Error", "old"))}}, want: "old"},
		"Log":      {reason: "Without a message, the log is read.", kind: "Pod", pods: fakePods{pods: []corev1.Pod{pod(1, ended("a", 1, "Error", " "))}, logs: map[string]string{"a": "last line\n"}}, want: "last line"},
		"EmptyLog": {reason: "If the log is empty, the exit code is used.", kind: "Pod", pods: fakePods{pods: []corev1.Pod{pod(1, ended("a", 1, "Error", ""))}, logs: map[string]string{"a": "\n"}}, want: "Error with exit code 1"},
		"NoLog":    {reason: "If the log cannot be read, the exit code is used.", kind: "Pod", pods: fakePods{pods: []corev1.Pod{pod(1, ended("a", 4, "OOMKilled", ""))}}, want: "OOMKilled with exit code 4"},
		"Secret":   {reason: "A text is redacted before it is shortened: half a secret would not be recognized.", kind: "Pod", pods: fakePods{pods: []corev1.Pod{pod(1, ended("a", 1, "Error", secret))}}, want: strings.Repeat("x", text.MaxExcerpt-10) + "***"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := aHook(tc.kind, "j")
			r := Runner{Pods: tc.pods, Redact: func(s string) string { return strings.ReplaceAll(s, "password-1234567890", "***") }, Now: time.Now}
			if diff := cmp.Diff(tc.want, r.lastWords(t.Context(), &h)); diff != "" {
				t.Errorf("\n%s\nlastWords(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
