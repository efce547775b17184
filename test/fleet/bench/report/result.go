// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
)

// These are the names of the phases that the figures of a run are derived from.
const (
	Empty        = "empty"
	Connect      = "connect"
	Create       = "create"
	Idle         = "idle"
	EditsAtRest  = "edits"
	Rollout      = "rollout"
	RolloutEdits = "rollout-edits"
	Rotation     = "rotation"
	Restart      = "restart"
	Removal      = "removal"

	RolloutPolicy      = "rollout-policy"
	RolloutPolicyEdits = "rollout-policy-edits"
	RolloutFailure     = "rollout-failure"
	// Set, SetTouched and SetChanged are the phases in which a KymaSet is created, its clusters change in a way that does not matter, and
	// its template changes.
	Set        = "kymaset"
	SetTouched = "kymaset-rest"
	SetChanged = "kymaset-change"
)

// These are the names of values of the phase RolloutFailure: how many clusters received the version, and how many may.
const (
	Exposed  = "exposed"
	Budgeted = "budget"
)

// appliesOfKymas are server-side applies of Kymas, which only the controller of KymaSets sends, as a key of Phase.ControlPlaneCalls.
const appliesOfKymas = "APPLY kymas "

// A Result is the result of a run. A figure is 0 if its phase was not part of the run.
type Result struct {
	Clusters int `json:"clusters"`
	Modules  int `json:"modules"`

	RSSEmpty float64 `json:"rss_mib_empty"`
	RSSRest  float64 `json:"rss_mib_rest"`
	RSSPeak  float64 `json:"rss_mib_peak"`
	// HeapRest is the memory of live objects at rest.
	HeapRest       float64 `json:"heap_mib_rest"`
	GoroutinesRest float64 `json:"goroutines_rest"`

	TargetRequestsPerModule  float64 `json:"target_requests_per_module"`
	TargetRequestsPerCluster float64 `json:"target_requests_per_cluster"`
	ControlRequestsPerKyma   float64 `json:"control_plane_requests_per_kyma"`
	ReconcilesPerKyma        float64 `json:"reconciles_per_kyma"`
	EtcdBytesPerKyma         float64 `json:"etcd_bytes_per_kyma"`
	CPUPerModule             float64 `json:"cpu_seconds_per_module"`
	IdleRequests             float64 `json:"idle_requests"`
	IdleWrites               float64 `json:"idle_writes"`
	RestartWrites            float64 `json:"restart_writes"`
	RestartRequests          float64 `json:"restart_requests_per_cluster"`
	RotationLists            float64 `json:"rotation_lists"`
	RotationReconciles       float64 `json:"rotation_manifest_reconciles"`
	GoroutinesLeft           float64 `json:"goroutines_left_per_removed_cluster"`

	EditP50Rest    float64 `json:"edit_p50_s_rest"`
	EditP99Rest    float64 `json:"edit_p99_s_rest"`
	EditP50Rollout float64 `json:"edit_p50_s_rollout"`
	EditP99Rollout float64 `json:"edit_p99_s_rollout"`

	PolicyTargetRequests  float64 `json:"policy_target_requests_per_module"`
	PolicyTargetWrites    float64 `json:"policy_target_writes_per_module"`
	PolicyControlRequests float64 `json:"policy_control_plane_requests_per_kyma"`
	PolicyControlWrites   float64 `json:"policy_control_plane_writes_per_kyma"`
	PolicySeconds         float64 `json:"policy_s"`
	EditP50Policy         float64 `json:"edit_p50_s_policy"`
	EditP99Policy         float64 `json:"edit_p99_s_policy"`
	// FailureExposed is the number of clusters that received a version that fails, and FailureBudget is how many may.
	FailureExposed float64 `json:"failure_exposed"`
	FailureBudget  float64 `json:"failure_budget"`
	SetWrites      float64 `json:"kymaset_writes_per_cluster"`
	SetChange      float64 `json:"kymaset_change_writes_per_cluster"`
	SetRestWrites  float64 `json:"kymaset_rest_writes"`

	// Heap and Goroutines are the top entries of the profiles at rest.
	Heap       []Share `json:"heap_at_rest,omitempty"`
	Goroutines []Share `json:"goroutines_at_rest,omitempty"`

	Phases []Phase `json:"phases"`
	// Unknown has the calls that the simulator does not implement.
	Unknown []string `json:"unknown_calls,omitempty"`
}

// Summarize sets the figures that follow from the phases.
func (r *Result) Summarize() {
	installs := r.Clusters * r.Modules
	empty := r.phase(Empty)
	for i := range r.Phases {
		p := &r.Phases[i]
		r.RSSPeak = max(r.RSSPeak, p.PeakRSS)
		switch p.Name {
		case Empty:
			r.RSSEmpty = p.RSS
		case Create:
			objects := p.objectRequests()
			r.TargetRequestsPerModule = usage.Per(float64(objects), installs)
			r.TargetRequestsPerCluster = usage.Per(float64(p.requests()-objects), r.Clusters)
			r.ControlRequestsPerKyma = usage.Per(p.ControlPlane.Sum(usage.Watch), r.Clusters)
			r.ReconcilesPerKyma = usage.Per(reconciles(p, ""), r.Clusters)
			r.CPUPerModule = usage.Per(p.CPUSeconds+p.ChildCPUSeconds, installs)
			r.EtcdBytesPerKyma = usage.Per(p.EtcdBytes-empty.EtcdBytes, r.Clusters)
		case Idle:
			r.RSSRest, r.GoroutinesRest = p.RSS, p.Goroutines
			r.IdleRequests = float64(p.requests("watch")) + p.ControlPlane.Sum(usage.Watch)
			r.IdleWrites = float64(p.TargetWrites) + p.ControlPlaneWrites
		case EditsAtRest:
			r.EditP50Rest, r.EditP99Rest = p.quantiles()
		case RolloutEdits:
			r.EditP50Rollout, r.EditP99Rollout = p.quantiles()
		case Rotation:
			r.RotationLists, r.RotationReconciles = float64(p.Target["list"]), reconciles(p, "manifest")
		case Restart:
			r.RestartWrites = float64(p.TargetWrites) + p.ControlPlaneWrites
			r.RestartRequests = usage.Per(float64(p.requests()), r.Clusters)
		case Removal:
			r.GoroutinesLeft = r.left(p)
		default:
			r.summarizeReleases(p)
		}
	}
}

// summarizeReleases sets the figures that follow from a phase with releases or a KymaSet.
func (r *Result) summarizeReleases(p *Phase) {
	switch installs := r.Clusters * r.Modules; p.Name {
	case RolloutPolicy:
		r.PolicyTargetRequests = usage.Per(float64(p.requests("watch")), installs)
		r.PolicyTargetWrites = usage.Per(float64(p.TargetWrites), installs)
		r.PolicyControlRequests = usage.Per(p.ControlPlane.Sum(usage.Watch), r.Clusters)
		r.PolicyControlWrites = usage.Per(p.ControlPlaneWrites, r.Clusters)
		r.PolicySeconds = p.Seconds
	case RolloutPolicyEdits:
		r.EditP50Policy, r.EditP99Policy = p.quantiles()
	case RolloutFailure:
		r.FailureExposed, r.FailureBudget = p.Values[Exposed], p.Values[Budgeted]
	case Set:
		r.SetWrites = usage.Per(p.ControlPlaneCalls[appliesOfKymas], r.Clusters)
	case SetTouched:
		r.SetRestWrites = float64(p.TargetWrites) + p.ControlPlaneWrites
	case SetChanged:
		r.SetChange = usage.Per(p.ControlPlaneCalls[appliesOfKymas], r.Clusters)
	}
}

// left returns how many goroutines of a removed cluster remain: the difference from a fleet without it.
func (r *Result) left(p *Phase) float64 {
	removed := int(p.Values["removed"])
	base := r.phase(Empty).Goroutines
	before := p.Values["goroutines_before"]
	if removed == 0 || r.Clusters == 0 {
		return 0
	}
	expected := base + (before-base)*float64(r.Clusters-removed)/float64(r.Clusters)
	return usage.Per(p.Goroutines-expected, removed)
}

func (r *Result) phase(name string) Phase {
	for _, p := range r.Phases {
		if p.Name == name {
			return p
		}
	}
	return Phase{}
}

// quantiles returns those of the edits.
func (p *Phase) quantiles() (p50, p99 float64) {
	if p.Edits == nil {
		return 0, 0
	}
	return p.Edits.P50, p.Edits.P99
}

// objectRequests returns the requests that concern objects of modules. The others are those of the connection: discovery, lists,
// watches, and namespaces, which have the identity of the cluster and the inventories.
func (p *Phase) objectRequests() int {
	total := 0
	for call, n := range p.Calls {
		verb, resource, _ := strings.Cut(call, " ")
		if strings.HasPrefix(resource, "/") || slices.Contains([]string{"list", "watch"}, verb) || resource == "namespaces" {
			continue
		}
		total += n
	}
	return total
}

// reconciles returns the number of reconciles of managed resources, or of those whose controller contains a word.
func reconciles(p *Phase, word string) float64 {
	total := 0.0
	for controller, n := range p.Reconciles {
		if kind, ok := strings.CutPrefix(controller, "managed/"); ok && strings.Contains(kind, word) {
			total += n
		}
	}
	return total
}
