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
	Profiles     = "profiles"
	EditsAtRest  = "edits"
	Rollout      = "rollout"
	RolloutEdits = "rollout-edits"
	Rotation     = "rotation"
	Restart      = "restart"
	Removal      = "removal"
	Takeover     = "takeover"

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

// These are the names of values of the phase Removal: how many clusters were removed, and how many goroutines there were before.
const (
	Removed          = "removed"
	GoroutinesBefore = "goroutines_before"
)

// appliesOfKymas are server-side applies of Kymas, which only the controller of KymaSets sends, as a key of Phase.ControlPlaneCalls.
const appliesOfKymas = "APPLY kymas "

// A Result is the result of a run. A figure is nil, and not in the file, if the phase that it is derived from was not played: 0 would look like
// a good result.
type Result struct {
	Clusters int `json:"clusters"`
	Modules  int `json:"modules"`

	RSSEmpty *float64 `json:"rss_mib_empty,omitempty"`
	RSSRest  *float64 `json:"rss_mib_rest,omitempty"`
	// RSSPeak is that of all phases.
	RSSPeak float64 `json:"rss_mib_peak"`
	// HeapRest is the memory of live objects at rest.
	HeapRest       *float64 `json:"heap_mib_rest,omitempty"`
	GoroutinesRest *float64 `json:"goroutines_rest,omitempty"`

	TargetRequestsPerModule  *float64 `json:"target_requests_per_module,omitempty"`
	TargetRequestsPerCluster *float64 `json:"target_requests_per_cluster,omitempty"`
	ControlRequestsPerKyma   *float64 `json:"control_plane_requests_per_kyma,omitempty"`
	ReconcilesPerKyma        *float64 `json:"reconciles_per_kyma,omitempty"`
	EtcdBytesPerKyma         *float64 `json:"etcd_bytes_per_kyma,omitempty"`
	CPUPerModule             *float64 `json:"cpu_seconds_per_module,omitempty"`
	IdleRequests             *float64 `json:"idle_requests,omitempty"`
	IdleWrites               *float64 `json:"idle_writes,omitempty"`
	RestartWrites            *float64 `json:"restart_writes,omitempty"`
	RestartRequests          *float64 `json:"restart_requests_per_cluster,omitempty"`
	RotationLists            *float64 `json:"rotation_lists,omitempty"`
	RotationReconciles       *float64 `json:"rotation_manifest_reconciles,omitempty"`
	GoroutinesLeft           *float64 `json:"goroutines_left_per_removed_cluster,omitempty"`

	EditP50Rest    *float64 `json:"edit_p50_s_rest,omitempty"`
	EditP99Rest    *float64 `json:"edit_p99_s_rest,omitempty"`
	EditP50Rollout *float64 `json:"edit_p50_s_rollout,omitempty"`
	EditP99Rollout *float64 `json:"edit_p99_s_rollout,omitempty"`

	PolicyTargetRequests  *float64 `json:"policy_target_requests_per_module,omitempty"`
	PolicyTargetWrites    *float64 `json:"policy_target_writes_per_module,omitempty"`
	PolicyControlRequests *float64 `json:"policy_control_plane_requests_per_kyma,omitempty"`
	PolicyControlWrites   *float64 `json:"policy_control_plane_writes_per_kyma,omitempty"`
	PolicySeconds         *float64 `json:"policy_s,omitempty"`
	EditP50Policy         *float64 `json:"edit_p50_s_policy,omitempty"`
	EditP99Policy         *float64 `json:"edit_p99_s_policy,omitempty"`
	// FailureExposed is the number of clusters that received a version that fails, and FailureBudget is how many may.
	FailureExposed *float64 `json:"failure_exposed,omitempty"`
	FailureBudget  *float64 `json:"failure_budget,omitempty"`
	SetWrites      *float64 `json:"kymaset_writes_per_cluster,omitempty"`
	SetChange      *float64 `json:"kymaset_change_writes_per_cluster,omitempty"`
	SetRestWrites  *float64 `json:"kymaset_rest_writes,omitempty"`

	// Heap and Goroutines are the top entries of the profiles at rest.
	Heap       []Share `json:"heap_at_rest,omitempty"`
	Goroutines []Share `json:"goroutines_at_rest,omitempty"`

	Phases []Phase `json:"phases"`
	// Unknown has the calls that the simulator does not implement.
	Unknown []string `json:"unknown_calls,omitempty"`
}

// Summarize sets the figures that follow from the phases.
func (r *Result) Summarize() {
	for i := range r.Phases {
		p := &r.Phases[i]
		r.RSSPeak = max(r.RSSPeak, p.PeakRSS)
		switch p.Name {
		case Empty:
			r.RSSEmpty = &p.RSS
		case Create:
			r.summarizeCreate(p)
		case Idle:
			r.RSSRest, r.GoroutinesRest = &p.RSS, &p.Goroutines
			r.IdleRequests = new(float64(p.requests("watch")) + p.ControlPlane.Sum(usage.Watch))
			r.IdleWrites = new(p.writes())
		case EditsAtRest:
			r.EditP50Rest, r.EditP99Rest = p.quantiles()
		case RolloutEdits:
			r.EditP50Rollout, r.EditP99Rollout = p.quantiles()
		case Rotation:
			r.RotationLists, r.RotationReconciles = new(float64(p.Target["list"])), new(reconciles(p, "manifest"))
		case Restart:
			r.RestartWrites = new(p.writes())
			r.RestartRequests = per(float64(p.requests()), r.Clusters)
		case Removal:
			r.GoroutinesLeft = r.left(p)
		default:
			r.summarizeReleases(p)
		}
	}
}

// summarizeCreate sets the figures that follow from the phase in which the Kymas are created.
func (r *Result) summarizeCreate(p *Phase) {
	installs, objects := r.Clusters*r.Modules, p.objectRequests()
	r.TargetRequestsPerModule = per(float64(objects), installs)
	r.TargetRequestsPerCluster = per(float64(p.requests()-objects), r.Clusters)
	r.ControlRequestsPerKyma = per(p.ControlPlane.Sum(usage.Watch), r.Clusters)
	r.ReconcilesPerKyma = per(reconciles(p, ""), r.Clusters)
	r.CPUPerModule = per(p.CPUSeconds+p.ChildCPUSeconds, installs)
	if empty := r.phase(Empty); empty != nil {
		r.EtcdBytesPerKyma = per(p.EtcdBytes-empty.EtcdBytes, r.Clusters)
	}
}

// summarizeReleases sets the figures that follow from a phase with releases or a KymaSet.
func (r *Result) summarizeReleases(p *Phase) {
	switch installs := r.Clusters * r.Modules; p.Name {
	case RolloutPolicy:
		r.PolicyTargetRequests = per(float64(p.requests("watch")), installs)
		r.PolicyTargetWrites = per(float64(p.TargetWrites), installs)
		r.PolicyControlRequests = per(p.ControlPlane.Sum(usage.Watch), r.Clusters)
		r.PolicyControlWrites = per(p.ControlPlaneWrites, r.Clusters)
		r.PolicySeconds = &p.Seconds
	case RolloutPolicyEdits:
		r.EditP50Policy, r.EditP99Policy = p.quantiles()
	case RolloutFailure:
		r.FailureExposed, r.FailureBudget = new(p.Values[Exposed]), new(p.Values[Budgeted])
	case Set:
		r.SetWrites = per(p.ControlPlaneCalls[appliesOfKymas], r.Clusters)
	case SetTouched:
		r.SetRestWrites = new(p.writes())
	case SetChanged:
		r.SetChange = per(p.ControlPlaneCalls[appliesOfKymas], r.Clusters)
	}
}

// left returns how many goroutines of a removed cluster remain: the difference from a fleet without it.
func (r *Result) left(p *Phase) *float64 {
	removed, empty := int(p.Values[Removed]), r.phase(Empty)
	if removed == 0 || empty == nil {
		return nil
	}
	before := p.Values[GoroutinesBefore]
	expected := empty.Goroutines + (before-empty.Goroutines)*float64(r.Clusters-removed)/float64(r.Clusters)
	return per(p.Goroutines-expected, removed)
}

// phase returns a phase, or nil if it was not played.
func (r *Result) phase(name string) *Phase {
	for i := range r.Phases {
		if r.Phases[i].Name == name {
			return &r.Phases[i]
		}
	}
	return nil
}

// per returns a share of a total, rounded.
func per(total float64, n int) *float64 { return new(usage.Per(total, n)) }

// writes returns the writes of the provider.
func (p *Phase) writes() float64 { return float64(p.TargetWrites) + p.ControlPlaneWrites }

// quantiles returns those of the edits, or nil if there were none.
func (p *Phase) quantiles() (p50, p99 *float64) {
	if p.Edits == nil {
		return nil, nil
	}
	return &p.Edits.P50, &p.Edits.P99
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
