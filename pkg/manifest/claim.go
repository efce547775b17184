// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
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

// refuseForeignRelease reports a Helm release of the same name that is not of this set.
func (w *work) refuseForeignRelease(ctx context.Context, in *Install) error {
	l, err := w.list(ctx, secretKind, in.Namespace, "owner=helm,name="+in.Name, 0)
	if err != nil {
		return errors.Wrapf(err, "cannot look for a Helm release %s in namespace %s", in.Name, in.Namespace)
	}
	for i := range l.Items {
		if strings.HasPrefix(l.Items[i].Name, releasePrefix) && l.Items[i].Labels[labelReleaseOf] != w.id {
			return errors.Errorf("a Helm release %s exists in namespace %s and does not belong to this module; "+
				"uninstall it, or set adopt to take it over", in.Name, in.Namespace)
		}
	}
	return nil
}
