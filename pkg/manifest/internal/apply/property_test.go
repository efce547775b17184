// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A history is a random sequence of actions of the bundle and of other clients on one object.
type history struct {
	*site

	t   *testing.T
	r   *rand.Rand
	ref cluster.ObjectRef
	// lines describe what happened.
	lines []string
}

// pick returns one of some values.
func pick[V any](r *rand.Rand, values ...V) V { return values[r.IntN(len(values))] }

// text returns a version of the object.
func (h *history) text() string {
	if h.ref.Kind == "Deployment" {
		return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {%s%s%simage: %s}}`,
			pick(h.r, "", "replicas: 1, ", "replicas: 2, "), pick(h.r, "", "", "", "selector: a, ", "selector: b, "),
			pick(h.r, "", "strategy: {type: RollingUpdate}, ", "strategy: {type: Recreate}, "), pick(h.r, "a", "b"))
	}
	var data []string
	for _, k := range []string{"a", "b", "c"} {
		if v := pick(h.r, "", "1", "2"); v != "" {
			data = append(data, k+`: "`+v+`"`)
		}
	}
	return fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps}, %sdata: {%s}}`,
		pick(h.r, "", "", "", "immutable: true, "), strings.Join(data, ", "))
}

// others performs one action of another client.
func (h *history) others() {
	who := pick(h.r, "kubectl-edit", "helm", "some-controller")
	u := h.c.Object(h.ref)
	if u == nil {
		if h.r.IntN(4) == 0 {
			h.c.Create(who, h.text())
			h.notef("%s creates it", who)
		}
		return
	}
	switch h.r.IntN(9) {
	case 0, 1, 2:
		field, v := []string{"data", pick(h.r, "a", "b", "z")}, any(pick(h.r, "1", "2", "9"))
		if h.ref.Kind == "Deployment" {
			field, v = []string{"spec", pick(h.r, "image", "z")}, any(pick(h.r, "a", "b", "c"))
		}
		if immutable, _, _ := unstructured.NestedBool(u.Object, "immutable"); !immutable {
			h.c.Set(who, h.ref, v, field...)
			h.notef("%s sets %v to %v", who, field, v)
		}
	case 3:
		h.c.Edit(who, h.ref, func(u *unstructured.Unstructured) { u.SetLabels(nil) })
		h.notef("%s removes the labels", who)
	case 4:
		set := pick(h.r, "applyset-other", ourSet)
		h.c.Edit(object.DefaultFieldManager, h.ref, label(object.LabelPartOf, set))
		h.notef("it becomes part of %s", set)
	case 5:
		if pick(h.r, true, false) {
			h.c.Edit(who, h.ref, finalize)
		}
		h.c.Delete(h.ref)
		h.notef("%s deletes it", who)
	case 6:
		h.c.Finish(h.ref)
		h.notef("it is gone")
	case 7:
		if h.ref.Kind == "Deployment" {
			n := pick[int64](h.r, 1, 5)
			h.c.Scale("kube-controller-manager", h.ref, n)
			h.notef("it is scaled to %d", n)
		}
	case 8:
		h.now = h.now.Add(pick(h.r, time.Second, 10*time.Minute, time.Hour))
		h.notef("time passes")
	}
}

func (h *history) notef(format string, a ...any) {
	h.lines = append(h.lines, fmt.Sprintf(format, a...))
}

// step applies a version of the object, after a dry run of it.
func (h *history) step(text string) {
	h.t.Helper()
	in := h.input(desired(h.t, text))
	if in.State.Status == cluster.Terminating {
		// A plan waits until the object is deleted.
		return
	}
	// The watch can be outdated.
	switch h.r.IntN(8) {
	case 0, 1:
		in.Drifted = false
	case 2:
		in.State, in.Exists, in.Drifted = cluster.ObjectState{}, false, false
	case 3:
		if in.Entry.UID != "" && h.c.Object(h.ref) == nil {
			in.State, in.Exists, in.Drifted = cluster.ObjectState{UID: in.Entry.UID, Set: ourSet}, true, false
		}
	}
	h.c.Requests()
	before := h.c.All()
	dry := resultOf(h.dryRunner().Apply(h.t.Context(), in))
	h.notef("bundle wants %s, dry run: %+v %v", text, dry, h.c.Requests())
	if diff := cmp.Diff(before, h.c.All(), cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "time" })); diff != "" {
		h.fail("a dry run changes the cluster: -before, +after:\n" + diff)
	}
	out, err := h.writer().Apply(h.t.Context(), in)
	run := resultOf(out, err)
	h.notef("run: %+v %v", run, h.c.Requests())
	h.record(&in, out)
	if why := h.disagree(dry, run, before[h.ref], h.c.All()[h.ref]); why != "" {
		h.fail(why)
	}
	if err == nil && out.Kind == Immutable {
		h.recreate(&in)
	}
}

func (h *history) recreate(in *Subject) {
	uid := in.Entry.UID
	in.Entry.UID, in.Entry.Intent, in.Entry.Owned = "", "", ""
	out, deleted, err := h.writer().Recreate(h.t.Context(), in.Object, uid)
	h.notef("recreated: %+v %t", resultOf(out, err), deleted)
	h.record(in, out)
}

func (h *history) fail(why string) {
	h.t.Helper()
	h.t.Fatalf("%s\n%s", strings.Join(h.lines, "\n"), why)
}

// disagree returns how the result of a dry run differs from that of a run, apart from permitted differences; empty if it does
// not.
func (h *history) disagree(dry, run result, before, after map[string]any) string {
	if h.isAdopted(before) && strings.Contains(dry.Err, "which is owned by field manager helm") {
		// A dry run does not take over the fields of a deployer.
		return ""
	}
	if dry.Err != run.Err || dry.Refused != run.Refused {
		return "they refuse differently"
	}
	var changed []string
	if before != nil && after != nil {
		changed = fieldset.Differences(before, after)
	}
	switch {
	case dry.Kind == "Updated" && run.Kind == "Updated":
		// A dry run does not foresee which fields an adoption removes.
		unseen := slices.DeleteFunc(changed, func(f string) bool { return slices.Contains(dry.Fields, f) })
		if len(unseen) > 0 && !h.isAdopted(before) || len(dry.Fields) > len(fieldset.Differences(before, after)) {
			return fmt.Sprintf("a run changes %v in addition, or not all", unseen)
		}
	case dry.Kind == "Immutable" && !reflect.DeepEqual(dry.Fields, run.Fields):
		return "they find other fields immutable"
	case dry.Kind == run.Kind:
	case dry.Kind == "Unchanged" && run.Kind == "Updated":
		// A run writes objects that a dry run finds to be the same.
		if len(changed) > 0 {
			return fmt.Sprintf("a run changes %v", changed)
		}
	case dry.Kind == "Deleting" && run.Kind == "Updated":
		// A run does not read each object, and does not see that one is gone.
		if before != nil {
			return "the object is there"
		}
	default:
		return "they differ"
	}
	return ""
}

// isAdopted reports whether an existing object is adopted.
func (h *history) isAdopted(before map[string]any) bool {
	owner := (&unstructured.Unstructured{Object: before}).GetLabels()[object.LabelPartOf]
	return before != nil && owner != ourSet && h.adoption.From(owner)
}

// In any situation, a dry run predicts what a run then does, and writes nothing.
func TestDryRunPredictsRun(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := &history{site: newSite(t), t: t, r: r, ref: refOf(pick(r, cm, deploy))}
		h.policy.Recreate = r.IntN(2) == 0
		h.adoption = pick(r, object.AdoptNone, object.AdoptNone, object.AdoptUnowned, object.AdoptAll)
		h.notef("seed %d, adoption %d, recreate %t", seed, h.adoption, h.policy.Recreate)
		if r.IntN(2) == 0 {
			h.c.Create("kubectl", hpa)
			h.notef("there is an autoscaler")
		}
		text := h.text()
		for range 12 {
			for range r.IntN(3) {
				h.others()
			}
			if r.IntN(3) == 0 {
				text = h.text()
			}
			h.step(text)
			last := h.lines[len(h.lines)-1]
			kind, _, _ := strings.Cut(strings.TrimPrefix(last, "run: {Kind:"), " ")
			seen[kind]++
		}
	}
	t.Log(seen)
	for _, kind := range []string{"Created", "Updated", "Deleting", ""} {
		if seen[kind] < 20 {
			t.Errorf("the histories do not try %q: %v", kind, seen)
		}
	}
}
