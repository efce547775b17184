// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// holdBack the parts that come after an install whose config says Wait, as long as that one is not ready. What was applied
// before with the same inputs is not held back: its drift is repaired whatever the others are like.
func (st *step) holdBack(ctx context.Context) error {
	st.mem.held = nil
	reason := ""
	for i := range st.parts {
		p := &st.parts[i]
		if pl := st.planOf(p.name); reason != "" && (pl == nil || !pl.repair) && st.inv.Parts[p.name].Digest != p.digest {
			st.hold(p.name, reason)
		}
		if reason != "" || p.install == nil || !st.awaits(p) {
			continue
		}
		var err error
		if reason, err = st.notReady(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// hold a part back.
func (st *step) hold(name, reason string) {
	if st.mem.held == nil {
		st.mem.held = map[string]string{}
	}
	st.mem.held[name] = reason
	st.waits[name] = reason
}

// noteHeld is what the step waits for if it waits for nothing else.
func (st *step) noteHeld() {
	for i := range st.parts {
		if reason := st.mem.held[st.parts[i].name]; reason != "" {
			st.noteWaiting(reason)
			return
		}
	}
}

func (st *step) planOf(name string) *planned {
	for _, pl := range st.plans {
		if pl.name == name {
			return pl
		}
	}
	return nil
}

// awaits says whether what comes after an install is to wait for it: as its config says, or said when it was last read.
func (st *step) awaits(p *part) bool {
	if pl := st.planOf(p.name); pl != nil {
		return pl.rec.Wait
	}
	if st.configs != nil && st.configs.err == nil {
		return st.configs.by[p.name].Wait
	}
	return st.inv.Parts[p.name].Wait
}

// notReady says why an install is not ready; empty where it is.
func (st *step) notReady(ctx context.Context, p *part) (string, error) {
	waits := "waits until install " + p.name + " is ready, as config asks for with Wait: "
	if err := st.errs[p.name]; err != nil {
		return waits + text.OneLine(err.Error()), nil
	}
	if st.inv.Parts[p.name].Digest != p.digest {
		return waits + "it is being applied", nil
	}
	what, err := st.unready(ctx, p.name)
	if err != nil || what == "" {
		return "", err
	}
	return waits + what, nil
}

// unready is the first object of a part that is not ready, and why; empty where all are.
func (st *step) unready(ctx context.Context, partName string) (string, error) {
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		if en.Part != partName || en.Pruned {
			continue
		}
		sum, exists := st.known[en.Ref()]
		if !exists || en.UID == "" {
			return en.Ref().String() + " is missing", nil
		}
		state, message, err := st.ready(ctx, en, sum)
		if err != nil {
			return "", err
		}
		if state != Ready {
			return en.Ref().String() + ": " + message, nil
		}
	}
	return "", nil
}

// asked is what the config of an install wants in the record of its release.
func (i *installation) asked(o *render.RecordOptions) {
	o.Description = cmp.Or(i.config.Description, o.Description)
	for k, v := range i.config.Labels {
		if _, ours := o.Labels[k]; !ours {
			o.Labels[k] = v
		}
	}
}

// noteConfig records what the config of an install says and must be known without the config.
func noteConfig(r *inventory.Part, in *installation) {
	r.Wait, r.Atomic, r.Own = in.config.Wait, in.config.Atomic, in.config.TakeOwnership
	r.HookTimeout = int64(in.config.Timeout / time.Second)
}
