// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// MakeNamespace creates a namespace if it doesn't exist. If the user is not allowed to get namespaces, it assumes that the
// namespace exists.
func (a *Applier) MakeNamespace(ctx context.Context, name string) error {
	o := Object{GroupVersionKind: CoreKind("Namespace"), Name: name}
	u, err := a.Plane.Live(ctx, o)
	switch {
	case kerrors.IsForbidden(err):
		return nil
	case err != nil:
		return err
	case u != nil && u.GetDeletionTimestamp() != nil:
		return errors.Errorf("%s is being deleted: wait until it is gone, or use another --namespace", o.Words())
	case u != nil:
		return a.Report.Add(o, Unchanged)
	}
	var options []client.CreateOption
	if a.DryRun {
		a.absent = name
		options = append(options, client.DryRunAll)
	}
	err = a.Plane.Client.Create(ctx, Wanted(o, nil), append(options, client.FieldOwner(command.FieldManager))...)
	if kerrors.IsAlreadyExists(err) {
		return a.Report.Add(o, Unchanged)
	}
	if err != nil {
		return errors.Wrapf(err, "cannot create %s", o.Words())
	}
	return a.Report.Add(o, Created)
}
