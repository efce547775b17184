// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// s is the summary of an object.
func s(uid, rv, owned string) cluster.ObjectState {
	return cluster.ObjectState{UID: uid, ResourceVersion: rv, Set: "set", Owned: owned, Status: cluster.Current}
}

func TestObjects(t *testing.T) {
	x := name{"ns", "x"}
	type step func(o *objects) []change
	put := func(v cluster.ObjectState) step { return func(o *objects) []change { o.put(x, v); return nil } }
	forget := func(o *objects) []change { o.forget(x); return nil }
	one := func(c change, ok bool) []change {
		if !ok {
			return nil
		}
		return []change{c}
	}
	seen := func(v cluster.ObjectState) step { return func(o *objects) []change { return one(o.seen(x, v)) } }
	deleted := func(v cluster.ObjectState) step { return func(o *objects) []change { return one(o.deleted(x, v)) } }
	listed := func(rv string, vs ...cluster.ObjectState) step {
		return func(o *objects) []change {
			list := map[name]cluster.ObjectState{}
			for _, v := range vs {
				list[x] = v
			}
			changes, _ := o.replaced(list, rv)
			return changes
		}
	}
	begin := func(o *objects) []change { o.begin(); return nil }
	// c describes a change by the resource versions before and after.
	type c struct{ Old, Now string }

	cases := map[string]struct {
		reason string
		steps  []step
		want   []c
		known  string
	}{
		"New":                 {reason: "An object that another client created is a change.", steps: []step{seen(s("1", "10", "a"))}, want: []c{{"", "10"}}, known: "10"},
		"Echo":                {reason: "The event of our own write is not a change.", steps: []step{put(s("1", "10", "a")), seen(s("1", "10", "a"))}, known: "10"},
		"EchoOtherwise":       {reason: "The event of our own write is not a change, even if the watch shows it in another version of the kind.", steps: []step{put(s("1", "10", "a")), seen(s("1", "10", "b"))}, known: "10"},
		"LateEvent":           {reason: "An event from before our write changes nothing.", steps: []step{put(s("1", "10", "a")), seen(s("1", "9", "b"))}, known: "10"},
		"LateAnswer":          {reason: "The response to our write changes nothing if the event of a later change came first.", steps: []step{seen(s("1", "11", "b")), put(s("1", "10", "a"))}, want: []c{{"", "11"}}, known: "11"},
		"AnswerAfterDeletion": {reason: "An answer from before a deletion that was reported does not bring the object back.", steps: []step{seen(s("1", "10", "a")), deleted(s("1", "12", "a")), put(s("1", "11", "a"))}, want: []c{{"", "10"}, {"10", ""}}},
		"AnswerAfterOthers":   {reason: "A response from before a deletion does not bring back an object that was known from a response only.", steps: []step{put(s("1", "10", "a")), deleted(s("1", "12", "a")), put(s("1", "11", "a"))}, want: []c{{"10", ""}}},
		"AnswerAfterList":     {reason: "A list without the object is newer than the answer.", steps: []step{begin, listed("12"), put(s("1", "11", "a"))}},
		"WrittenAfterRestore": {reason: "Until the list after a restore has ended, resource versions can be lower.", steps: []step{begin, listed("900"), begin, put(s("1", "11", "a")), listed("10")}, known: "11"},
		"WrittenLater":        {reason: "After the list, resource versions are compared with those of the list.", steps: []step{begin, listed("900"), begin, listed("10"), put(s("1", "11", "a"))}, known: "11"},
		"ManyDigits":          {reason: "Resource versions are numbers of any length.", steps: []step{put(s("1", "99999999999999999999", "a")), seen(s("1", "100000000000000000000", "b"))}, want: []c{{"99999999999999999999", "100000000000000000000"}}, known: "100000000000000000000"},
		"NoNumber":            {reason: "If resource versions are not numbers, the last state counts.", steps: []step{put(s("1", "zz", "a")), seen(s("1", "aa", "b"))}, want: []c{{"zz", "aa"}}, known: "aa"},
		"SameContent":         {reason: "A newer version with an equal summary is not a change.", steps: []step{put(s("1", "10", "a")), seen(s("1", "11", "a"))}, known: "11"},
		"Changed":             {reason: "Another client changed a field of our object.", steps: []step{put(s("1", "10", "a")), seen(s("1", "11", "b"))}, want: []c{{"10", "11"}}, known: "11"},
		"Deleted":             {reason: "Another client deleted our object.", steps: []step{put(s("1", "10", "a")), deleted(s("1", "12", "a"))}, want: []c{{"10", ""}}},
		"DeletedUnknown":      {reason: "The deletion of an unknown object is not a change.", steps: []step{deleted(s("1", "12", "a"))}},
		"LateDeletion":        {reason: "The deletion of a predecessor does not affect the object that we created since.", steps: []step{put(s("2", "13", "a")), deleted(s("1", "12", "a"))}, known: "13"},
		"Forgotten":           {reason: "After our own deletion, neither late events nor the event of the deletion are changes.", steps: []step{put(s("1", "10", "a")), forget, seen(s("1", "11", "b")), deleted(s("1", "12", "b"))}},
		"MadeAgain":           {reason: "An object that another client created after our deletion is a change.", steps: []step{put(s("1", "10", "a")), forget, seen(s("2", "13", "a"))}, want: []c{{"", "13"}}, known: "13"},
		"MadeAgainByUs":       {reason: "An object that we created after our deletion is not a change.", steps: []step{put(s("1", "10", "a")), forget, put(s("2", "13", "a")), deleted(s("1", "12", "a")), seen(s("2", "13", "a"))}, known: "13"},
		"ForgottenTooEarly":   {reason: "A later response that shows the deleted object counts.", steps: []step{put(s("1", "10", "a")), forget, put(s("1", "11", "a"))}, known: "11"},
		"ForgottenAlive":      {reason: "A later response that shows the deleted object counts after events, too, because the deletion was not reported.", steps: []step{put(s("1", "10", "a")), forget, seen(s("1", "12", "a")), put(s("1", "11", "a"))}, known: "11"},
		"ListedWithout":       {reason: "A list without our object is a change.", steps: []step{put(s("1", "10", "a")), begin, listed("11")}, want: []c{{"10", ""}}},
		"ListedOlder":         {reason: "A list without our object is a change, even if its version is older, because the storage of the cluster was restored.", steps: []step{put(s("1", "900", "a")), begin, listed("10")}, want: []c{{"900", ""}}},
		"ListedOther":         {reason: "A list with another object of this name is a change, whatever its version.", steps: []step{put(s("1", "900", "a")), begin, listed("10", s("2", "9", "b"))}, want: []c{{"900", "9"}}, known: "9"},
		"SeenAfterRestore":    {reason: "After a restore, versions are compared with those of the list.", steps: []step{seen(s("1", "900", "a")), begin, listed("10", s("2", "9", "a")), seen(s("2", "11", "b"))}, want: []c{{"", "900"}, {"900", "9"}, {"9", "11"}}, known: "11"},
		"WrittenDuringList":   {reason: "A list cannot contain what we wrote after it began.", steps: []step{begin, put(s("1", "10", "a")), listed("9")}, known: "10"},
		"ChangedDuringList":   {reason: "A list with an older state does not replace what we wrote after it began.", steps: []step{seen(s("1", "8", "b")), begin, put(s("1", "10", "a")), listed("9", s("1", "8", "b"))}, want: []c{{"", "8"}}, known: "10"},
		"ListedLater":         {reason: "A list with a newer state than our write is a change.", steps: []step{begin, put(s("1", "10", "a")), listed("12", s("1", "11", "b"))}, want: []c{{"10", "11"}}, known: "11"},
		"WrittenBefore":       {reason: "The next list without an object that we wrote before is a change.", steps: []step{begin, put(s("1", "10", "a")), listed("9"), begin, listed("11")}, want: []c{{"10", ""}}},
		"Rewritten":           {reason: "If the version of a list is older than that of another list, each object counts as changed.", steps: []step{begin, listed("20", s("1", "10", "a")), begin, listed("15", s("1", "10", "a"))}, want: []c{{"", "10"}, {"10", "10"}}, known: "10"},
		"RewrittenEvent":      {reason: "If the version of a list is older than that of an event, each object counts as changed.", steps: []step{begin, listed("10", s("1", "10", "a")), seen(s("1", "30", "a")), begin, listed("25", s("1", "10", "a"))}, want: []c{{"", "10"}, {"30", "10"}}, known: "10"},
		"ListedAgain":         {reason: "A list that shows what is known is not a change.", steps: []step{begin, listed("20", s("1", "10", "a")), begin, listed("25", s("1", "10", "a"))}, want: []c{{"", "10"}}, known: "10"},
		"ForgottenDuringList": {reason: "A list that began before does not bring back what we deleted.", steps: []step{put(s("1", "10", "a")), begin, forget, listed("10", s("1", "10", "a"))}},
		"ListedForgotten":     {reason: "A list that began after our deletion and shows the object is a change.", steps: []step{put(s("1", "10", "a")), forget, begin, listed("12", s("1", "10", "a"))}, want: []c{{"", "10"}}, known: "10"},
		"OtherSet":            {reason: "An object that another set took over counts there.", steps: []step{put(s("1", "10", "a")), seen(cluster.ObjectState{UID: "1", ResourceVersion: "11", Set: "other"})}, want: []c{{"10", "11"}}, known: "11"},
		"ListedLongForgotten": {reason: "The memory of the deleted ends with a list without them.", steps: []step{put(s("1", "10", "a")), forget, begin, listed("12"), seen(s("1", "13", "a"))}, want: []c{{"", "13"}}, known: "13"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := newObjects()
			var got []c
			for _, f := range tc.steps {
				for _, ch := range f(&o) {
					v := c{}
					if ch.old != nil {
						v.Old = ch.old.ResourceVersion
					}
					if ch.now != nil {
						v.Now = ch.now.ResourceVersion
					}
					got = append(got, v)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nchanges: -want, +got:\n%s", tc.reason, diff)
			}
			known, _ := o.state(x)
			if diff := cmp.Diff(tc.known, known.ResourceVersion); diff != "" {
				t.Errorf("%s\nknown: -want, +got:\n%s", tc.reason, diff)
			}
			members := map[string]int{}
			for _, v := range o.known {
				members[v.Set]++
			}
			if diff := cmp.Diff(members, o.members); diff != "" {
				t.Errorf("%s\nmembers: -want, +got:\n%s", tc.reason, diff)
			}
			if n := slices.Collect(maps.Keys(o.gone)); len(n) > 1 {
				t.Errorf("%s\nthe deleted pile up: %v", tc.reason, n)
			}
		})
	}
}
