// SPDX-License-Identifier: Apache-2.0

package release

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
)

// maxFailureMessage is the maximum length of the message of a Kyma that failed, in bytes.
const maxFailureMessage = 256

func truncate(message string) string { return conditions.Truncate(message, maxFailureMessage) }

// setConditions sets the conditions of a ModuleReleaseMeta: Ready is True if all rollouts are complete. If there is a problem, the release
// is not used. It is Stalled if someone must change it: because of the problem, or because a rollout failed.
func setConditions(m *v1alpha1.ModuleReleaseMeta, problem string, stalled bool) {
	has := func(phases ...v1alpha1.RolloutPhase) (bool, string) {
		var in []string
		for i := range m.Status.Channels {
			if c := &m.Status.Channels[i]; slices.Contains(phases, c.Phase) {
				in = append(in, describe(c))
			}
		}
		return len(in) > 0, conditions.Truncate(strings.Join(in, "; "), conditions.MaxMessage)
	}
	progressing, progress := has(v1alpha1.RolloutProgressing, v1alpha1.RolloutRollingBack)
	paused, pauses := has(v1alpha1.RolloutPaused)
	failed, failures := has(v1alpha1.RolloutFailed, v1alpha1.RolloutRollingBack, v1alpha1.RolloutRolledBack)
	ready := xpv2.Available()
	switch {
	case problem != "":
		ready = unready(v1alpha1.ReasonInvalidRelease, problem)
	case failed:
		ready = unready(v1alpha1.ReasonRolloutFailed, failures)
	case paused:
		ready = unready(v1alpha1.ReasonRolloutPaused, pauses)
	case progressing:
		ready = unready(v1alpha1.ReasonProgressing, progress)
	}
	set := func(t xpv2.ConditionType, is bool, message string) {
		c := xpv2.Condition{Type: t, Status: corev1.ConditionFalse, Reason: ready.Reason, LastTransitionTime: metav1.Now()}
		if is {
			c.Status, c.Message = corev1.ConditionTrue, message
		}
		conditions.Mark(&m.Status.ConditionedStatus, m.Generation, c)
	}
	set(v1alpha1.TypeProgressing, progressing, progress)
	set(v1alpha1.TypePaused, paused, pauses)
	set(v1alpha1.TypeFailed, failed, failures)
	set(v1alpha1.TypeComplete, ready.Status == corev1.ConditionTrue, "")
	conditions.MarkReady(&m.Status.ConditionedStatus, m.Generation, ready, stalled || failed)
	m.Status.ObservedGeneration = m.Generation
}

func unready(reason xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{
		Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: reason, Message: conditions.Truncate(message, conditions.MaxMessage),
		LastTransitionTime: metav1.Now(),
	}
}

// describe describes a rollout without numbers, which change often.
func describe(c *v1alpha1.ChannelRollout) string {
	out := fmt.Sprintf("channel %s: version %s is %s", c.Channel, c.Version, phrase(c.Phase))
	if c.WaveName != "" && c.Phase != v1alpha1.RolloutComplete {
		out += " in wave " + c.WaveName
	}
	if c.Message != "" && c.Phase != v1alpha1.RolloutPaused {
		out += ": " + c.Message
	}
	return out
}

func phrase(p v1alpha1.RolloutPhase) string {
	switch p {
	case v1alpha1.RolloutProgressing:
		return "rolled out"
	case v1alpha1.RolloutPaused:
		return "paused"
	case v1alpha1.RolloutFailed:
		return "stopped, because its rollout failed,"
	case v1alpha1.RolloutRollingBack:
		return "being rolled back"
	case v1alpha1.RolloutRolledBack:
		return "rolled back"
	case v1alpha1.RolloutComplete:
	}
	return "complete"
}

// These are the reasons of events.
const (
	reasonStarted    event.Reason = "RolloutStarted"
	reasonWave       event.Reason = "RolloutWaveStarted"
	reasonPaused     event.Reason = "RolloutPaused"
	reasonResumed    event.Reason = "RolloutResumed"
	reasonFailed     event.Reason = "RolloutFailed"
	reasonRolledBack event.Reason = "RolloutRolledBack"
	reasonComplete   event.Reason = "RolloutComplete"
	reasonInvalid    event.Reason = "InvalidRelease"
)

// eventsOf returns the events for the differences between two states of a ModuleReleaseMeta.
func eventsOf(before, after *v1alpha1.ModuleReleaseMeta) []event.Event {
	var out []event.Event
	was, is := before.Status.GetCondition(xpv2.TypeReady), after.Status.GetCondition(xpv2.TypeReady)
	if is.Reason == v1alpha1.ReasonInvalidRelease && was.Message != is.Message {
		out = append(out, event.Warning(reasonInvalid, errors.New(is.Message)))
	}
	for i := range after.Status.Channels {
		c := &after.Status.Channels[i]
		out = append(out, eventOf(statusOf(before, c.Channel), c)...)
	}
	return out
}

// eventOf returns the event for the difference between two states of a rollout, if there is one.
func eventOf(was, is *v1alpha1.ChannelRollout) []event.Event {
	normal := func(r event.Reason, format string, args ...any) []event.Event {
		return []event.Event{event.Normal(r, fmt.Sprintf("Channel %s: ", is.Channel)+fmt.Sprintf(format, args...))}
	}
	isNew := was == nil || was.Version != is.Version
	if is.Phase == v1alpha1.RolloutProgressing {
		return progressOf(was, is, normal)
	}
	switch {
	case !isNew && was.Phase == is.Phase:
		return nil
	case is.Phase == v1alpha1.RolloutComplete:
		return normal(reasonComplete, "all Kymas that can be reached have version %s: %d of %d are Ready%s", is.Version, is.Ready, is.Total, others(is))
	case is.Phase == v1alpha1.RolloutPaused:
		return normal(reasonPaused, "the rollout of version %s is paused%s", is.Version, inWave(is))
	case is.Phase == v1alpha1.RolloutRolledBack:
		return normal(reasonRolledBack, "the Kymas%s have version %s again instead of %s", inWave(is), is.Previous, is.Version)
	}
	return []event.Event{event.Warning(reasonFailed, errors.Errorf("Channel %s: the rollout of version %s failed: %s%s", is.Channel, is.Version,
		is.Message, first(is)))}
}

// progressOf returns the event for a rollout that begins, or that continues with another wave or after a pause, if there is one.
func progressOf(was, is *v1alpha1.ChannelRollout, normal func(r event.Reason, format string, args ...any) []event.Event) []event.Event {
	switch {
	case was == nil || was.Version != is.Version:
		return normal(reasonStarted, "the rollout of version %s to %d Kymas begins%s", is.Version, is.Total, inWave(is))
	case was.Wave != is.Wave:
		return normal(reasonWave, "version %s continues%s", is.Version, inWave(is))
	case was.Phase != is.Phase:
		return normal(reasonResumed, "the rollout of version %s continues%s", is.Version, inWave(is))
	}
	return nil
}

// others counts the Kymas that a complete rollout did not wait for.
func others(is *v1alpha1.ChannelRollout) string {
	out := ""
	if is.Offline > 0 {
		out += fmt.Sprintf(", offline: %d", is.Offline)
	}
	if is.Waiting > 0 {
		out += fmt.Sprintf(", waiting: %d", is.Waiting)
	}
	return out
}

// first names the first Kyma that failed.
func first(c *v1alpha1.ChannelRollout) string {
	if len(c.Failures) == 0 {
		return ""
	}
	f := c.Failures[0]
	return strings.TrimSuffix(fmt.Sprintf("; the first is %s/%s: %s", f.Namespace, f.Name, f.Message), ": ")
}

func inWave(c *v1alpha1.ChannelRollout) string {
	if c.WaveName == "" {
		return ""
	}
	return " in wave " + c.WaveName
}
