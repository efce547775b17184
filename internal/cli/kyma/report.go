// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// A report is the output of status: a Kyma with its modules, Manifests and warning events.
type report struct {
	Namespace string `json:"namespace"`
	Kyma      string `json:"kyma"`
	// Channel is the channel of modules that do not set their own.
	Channel string `json:"channel"`
	// ComposedBy is the composite resource of the Kyma, see lookup.Composer; empty if the Kyma is not composed.
	ComposedBy string `json:"composedBy"`
	// Observed is true if the provider has reconciled the current spec of the Kyma.
	Observed   bool            `json:"observed"`
	State      string          `json:"state"`
	Message    string          `json:"message"`
	Conditions []condition     `json:"conditions"`
	Modules    []moduleReport  `json:"modules"`
	Events     []eventReported `json:"events"`
}

// A condition describes a condition of an object, without its transition time.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// A moduleReport describes a module of the Kyma.
type moduleReport struct {
	catalog.EnabledModule

	// Live is the Manifest of the module; nil if there is none.
	Live *manifestReport `json:"live,omitempty"`
}

// A manifestReport is the status of a Manifest, which describes the state in the target cluster.
type manifestReport struct {
	Name       string      `json:"name"`
	State      string      `json:"state"`
	Version    string      `json:"version"`
	Message    string      `json:"message"`
	Conditions []condition `json:"conditions"`
	// ObjectsReady and ObjectsTotal count the objects in the target cluster.
	ObjectsReady int32 `json:"objectsReady"`
	ObjectsTotal int32 `json:"objectsTotal"`
	// Drift is the drift that the provider detected most recently; nil if it never detected any.
	Drift    *v1alpha1.DriftStatus `json:"drift,omitempty"`
	Installs []installReport       `json:"installs"`
}

// An installReport describes one install of a module, such as a chart. Message names the first object that is not Ready.
type installReport struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Version string `json:"version"`
	Message string `json:"message"`
}

// An eventReported is a warning event that Kubernetes has not deleted yet.
type eventReported struct {
	// Object is the kind and name of the object, such as Manifest/default-istio.
	Object string `json:"object"`
	Reason string `json:"reason"`
	// Message is the message of the event.
	Message string `json:"message"`
	// Count is the number of occurrences of the event. Last is the time of the last one in RFC 3339.
	Count int32  `json:"count"`
	Last  string `json:"last"`
}

// Names implements command.Named.
func (r *report) Names() []string { return []string{"kyma.kyma.m.crossplane.io/" + r.Kyma} }

// reportOn returns the report on a Kyma with its Manifests, without events.
func reportOn(k *v1alpha1.Kyma, manifests []v1alpha1.Manifest, offer catalog.Releases) *report {
	at := &k.Status.AtProvider
	v, seen := await.Observed(k)
	out := &report{
		Namespace: k.Namespace, Kyma: k.Name, Channel: catalog.ChannelOf("", k.Spec.ForProvider.Channel), ComposedBy: lookup.Composer(k), Observed: seen,
		State: string(at.State), Message: stated(k, k.Status.Conditions, at.Message), Conditions: conditionsOf(k.Status.Conditions),
		Modules: []moduleReport{}, Events: []eventReported{},
	}
	if !seen && len(k.Status.Conditions) > 0 {
		out.Message = v.Message
	}
	live := make(map[string]*v1alpha1.Manifest, len(manifests))
	for i := range manifests {
		live[manifests[i].Name] = &manifests[i]
	}
	for _, m := range catalog.EnabledModules([]v1alpha1.Kyma{*k}, offer) {
		r := moduleReport{EnabledModule: m}
		if found := manifestOf(k, &m, live); found != nil {
			r.Manifest, r.Live = found.Name, reportManifest(found)
			delete(live, found.Name)
		}
		out.Modules = append(out.Modules, r)
	}
	// Add the Manifests that the status of the Kyma does not list: they are being deleted.
	for _, m := range manifests {
		if live[m.Name] == nil {
			continue
		}
		e := catalog.Entry(k, cmp.Or(m.Labels[v1alpha1.LabelModuleName], m.Name), v1alpha1.ModuleStatus{Manifest: m.Name, State: v1alpha1.StateDeleting})
		e.Available = []catalog.Available{}
		out.Modules = append(out.Modules, moduleReport{EnabledModule: e, Live: reportManifest(&m)})
	}
	return out
}

// manifestOf returns the Manifest of a module, or nil.
func manifestOf(k *v1alpha1.Kyma, m *catalog.EnabledModule, live map[string]*v1alpha1.Manifest) *v1alpha1.Manifest {
	if found := live[m.Manifest]; found != nil {
		return found
	}
	return live[k.Name+"-"+m.Name]
}

func reportManifest(m *v1alpha1.Manifest) *manifestReport {
	at := &m.Status.AtProvider
	out := &manifestReport{
		Name: m.Name, State: string(at.State), Version: at.Version, Message: stated(m, m.Status.Conditions, at.Message),
		Conditions: conditionsOf(m.Status.Conditions), Drift: at.Drift, Installs: []installReport{},
	}
	if at.Resources != nil {
		out.ObjectsReady, out.ObjectsTotal = at.Resources.Ready, at.Resources.Total
	}
	for _, i := range at.Installs {
		out.Installs = append(out.Installs, installReport{Name: i.Name, State: string(i.State), Version: i.Version, Message: i.Message})
	}
	return out
}

// stated returns the message to show for an object: that it is paused, why the last reconcile failed, or else said, the message
// of its status.
func stated(o metav1.Object, conditions []xpv2.Condition, said string) string {
	switch i := slices.IndexFunc(conditions, func(c xpv2.Condition) bool { return c.Type == xpv2.TypeSynced && c.Status == "False" }); {
	case meta.IsPaused(o):
		return "paused by annotation " + meta.AnnotationKeyReconciliationPaused
	case i >= 0 && conditions[i].Message != "" && conditions[i].Reason != xpv2.ReasonReconcilePaused:
		return conditions[i].Message
	case said == "" && len(conditions) == 0:
		return catalog.Unseen
	}
	return said
}

// conditionsOf converts conditions, and sorts them by type.
func conditionsOf(all []xpv2.Condition) []condition {
	out := make([]condition, 0, len(all))
	for _, c := range all {
		out = append(out, condition{Type: string(c.Type), Status: string(c.Status), Reason: string(c.Reason), Message: c.Message})
	}
	slices.SortFunc(out, func(a, b condition) int { return strings.Compare(a.Type, b.Type) })
	return out
}

// statusIn returns the status of the condition of a type, or an empty string if there is none.
func statusIn(all []condition, kind xpv2.ConditionType) string {
	for _, c := range all {
		if c.Type == string(kind) {
			return c.Status
		}
	}
	return ""
}

// ready reports whether the provider has reconciled the current spec of the Kyma, and the Kyma is Synced and Ready.
func (r *report) ready() bool {
	return r.Observed && statusIn(r.Conditions, xpv2.TypeReady) == "True" && statusIn(r.Conditions, xpv2.TypeSynced) == "True"
}
