// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestCheckSize(t *testing.T) {
	parent := cluster.ObjectRef{Kind: "Secret", Namespace: "kyma-system", Name: "web"}
	cases := map[string]struct {
		reason string
		inv    Inventory
		size   int
		want   string
	}{
		"Fits": {reason: "A size equal to the limit is allowed.", inv: Inventory{Objects: []Entry{{UID: "1"}}}, size: MaxData},
		"Grows": {
			reason: "An object that is not applied yet needs more room once it is applied.",
			inv:    Inventory{Objects: []Entry{{UID: "1"}, {}}}, size: MaxData,
			want: "the inventory of 2 objects has 943782 bytes, but Secret kyma-system/web can store at most 943718; split the module into smaller ones",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.inv.CheckSize(tc.size, parent); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckRoom(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCheckSizeOfThousands verifies that thousands of objects fit, and that entryReserve is large enough.
func TestCheckSizeOfThousands(t *testing.T) {
	const objects = 5000
	b, random := make([]byte, objects*100), rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	text := hex.EncodeToString(b)
	take := func(n int) string {
		out := text[:n]
		text = text[n:]
		return out
	}
	inv := &Inventory{}
	for i := range objects {
		inv.Objects = append(inv.Objects, Entry{
			Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding", Namespace: "team-" + take(8), Name: fmt.Sprintf("binding-%d-%s", i, take(10)), Part: "web",
		})
	}
	intended, err := inv.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := inv.CheckSize(len(intended), cluster.ObjectRef{}); err != nil {
		t.Error(err)
	}
	for i := range inv.Objects {
		e := &inv.Objects[i]
		u := take(32)
		e.UID, e.Intent, e.Owned = strings.Join([]string{u[:8], u[8:12], u[12:16], u[16:20], u[20:]}, "-"), take(16), take(16)
	}
	applied, err := inv.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if grown := len(applied) - len(intended); grown > objects*entryReserve {
		t.Errorf("an inventory of %d bytes grew by %d, and %d were reserved", len(intended), grown, objects*entryReserve)
	}
	t.Logf("%d objects: %d bytes, then %d", objects, len(intended), len(applied))
}

// TestFitted shows what is dropped if the parent does not have room for everything.
func TestFitted(t *testing.T) {
	parent := cluster.ObjectRef{Kind: "Secret", Namespace: "kyma-system", Name: "web"}
	random := rand.New(rand.NewPCG(1, 2))
	// Random text in hexadecimal digits compresses to a little more than half its length.
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return hex.EncodeToString(b)
	}
	type kept struct{ Checkpoint, Last bool }
	cases := map[string]struct {
		reason           string
		entries, reasons int
		checkpoint       int
		want             kept
		fails            bool
	}{
		"All":               {reason: "Everything fits.", entries: 1000, reasons: 1000, checkpoint: 1000, want: kept{Checkpoint: true, Last: true}},
		"BesideCheckpoint":  {reason: "The last known good revision takes precedence over reasons.", entries: 1000, reasons: MaxData / 2, checkpoint: MaxData / 2, want: kept{Checkpoint: true}},
		"BesideAll":         {reason: "Entries take precedence over reasons.", entries: MaxData / 2, reasons: MaxData / 2, want: kept{}},
		"CheckpointTooMuch": {reason: "Entries take precedence over the last known good revision.", entries: MaxData / 2, checkpoint: MaxData * 2 / 3, want: kept{}},
		"TooMuch":           {reason: "Entries are never dropped.", entries: MaxData * 11 / 10, reasons: 1000, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inv := &Inventory{Objects: []Entry{{Version: "v1", Kind: "ConfigMap", Name: noise(tc.entries), UID: "1"}}, Checkpoint: []byte(noise(tc.checkpoint / 2))}
			if tc.reasons > 0 {
				inv.Last = &Reasons{Waiting: noise(tc.reasons)}
			}
			out, data, err := inv.fitted(parent)
			if (err != nil) != tc.fails {
				t.Fatalf("\n%s\nfitted(...): %v", tc.reason, err)
			}
			if tc.fails {
				return
			}
			if diff := cmp.Diff(tc.want, kept{Checkpoint: len(out.Checkpoint) > 0, Last: out.Last != nil}); diff != "" {
				t.Errorf("\n%s\nfitted(...): -want, +got:\n%s", tc.reason, diff)
			}
			if !Fits(len(data), out.Checkpoint) {
				t.Errorf("\n%s\nfitted(...): it has %d bytes", tc.reason, len(data)+len(out.Checkpoint))
			}
			if tc.reasons > 0 && inv.Last == nil {
				t.Errorf("\n%s\nfitted(...): it changes its argument", tc.reason)
			}
		})
	}
}
