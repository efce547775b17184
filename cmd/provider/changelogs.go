// SPDX-License-Identifier: Apache-2.0

package main

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// changeLogs sends what is changed to a service behind a socket. The service may start later: it is connected to when there
// is a change to tell. The function that is returned ends the connection.
func changeLogs(socket string) (*controller.ChangeLogOptions, func(), error) {
	// Who may open the socket is up to the file system, as the service is a container of the same pod.
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, errors.Wrapf(err, "--changelogs-socket-path %q", socket)
	}
	return &controller.ChangeLogOptions{
		ChangeLogger: managed.NewGRPCChangeLogger(v1alpha1.NewChangeLogServiceClient(conn),
			managed.WithProviderVersion("provider-kyma:"+version.Version)),
	}, func() { _ = conn.Close() }, nil
}
