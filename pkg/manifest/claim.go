// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// claim an object that exists. It may be ours from a step that was cut off, or ours without its label; any other object
// is taken over only if that was asked for.
func (w *work) claim(o *object, en *entry, m *metav1.PartialObjectMetadata) error {
	if m == nil || w.s.Adopt {
		return nil
	}
	owner := m.Labels[LabelPartOf]
	switch {
	case owner == w.id:
		return nil
	case owner != "":
		return errors.Errorf("exists and belongs to another set of objects (label %s: %s); "+
			"remove it there, or set adopt to take it over", LabelPartOf, owner)
	case en.UID != "" && en.UID == string(m.UID):
		return nil
	case o.stage == stageResource:
		return errors.New("exists and does not belong to this module; set adopt to take it over, or customResourcePolicy to Ignore")
	}
	return errors.New("exists and does not belong to this module; remove it, or set adopt to take it over")
}

// follow the last revision of the release of an install: ours, or with adoption that of somebody else. A release of the
// same name that is not of this set is refused. The first time it is not looked for: there hardly ever is one, its
// objects would be in the way, and so would its record, in which case the next step finds it here.
func (w *work) follow(ctx context.Context, pl *planned) error {
	in, rec := pl.install, &pl.rec
	pl.first = rec.Namespace == "" && !w.s.Adopt
	switch {
	case pl.repair:
		pl.before = max(rec.Revision-1, 0)
		return nil
	case rec.Revision > 0 && rec.Namespace == in.Namespace:
		pl.before = rec.Revision
		return nil
	case rec.Namespace != "" && rec.Namespace != in.Namespace && (rec.Former == "" || rec.Former == in.Namespace):
		// A release cannot move to another namespace: it ends in one and begins in the other.
		rec.Former = rec.Namespace
	}
	rec.Namespace, rec.Revision = in.Namespace, 0
	if pl.first {
		return nil
	}
	return w.lookForRelease(ctx, pl)
}

// lookForRelease of the name of an install.
func (w *work) lookForRelease(ctx context.Context, pl *planned) error {
	in := pl.install
	l, err := w.list(ctx, secretKind, in.Namespace, "owner=helm,name="+in.Name, 0)
	if err != nil {
		return errors.Wrapf(err, "cannot look for a Helm release %s in namespace %s", in.Name, in.Namespace)
	}
	for i := range l.Items {
		m := &l.Items[i]
		if !strings.HasPrefix(m.Name, releasePrefix) {
			continue
		}
		if m.Labels[labelReleaseOf] != w.id && !w.s.Adopt {
			return errors.Errorf("a Helm release %s exists in namespace %s and does not belong to this module; "+
				"uninstall it, or set adopt to take it over", in.Name, in.Namespace)
		}
		n, err := strconv.Atoi(m.Labels[labelRevision])
		if err != nil {
			continue
		}
		if m.Labels[labelReleaseOf] == w.id && m.Labels[labelInputs] == pl.digest {
			// It was recorded by a step that was cut off right after it, or the inventory was lost.
			n--
		}
		pl.before = max(pl.before, n)
	}
	return nil
}
