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

// changeLogs returns options that send changes to a change log service on a Unix socket. The service can start later: the
// connection is established with the first change. The returned function closes the connection.
func changeLogs(socket string) (*controller.ChangeLogOptions, func(), error) {
	// The service runs in a container of the same pod, so the file system controls who can open the socket.
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, errors.Wrapf(err, "--changelogs-socket-path %q", socket)
	}
	return &controller.ChangeLogOptions{
		ChangeLogger: managed.NewGRPCChangeLogger(v1alpha1.NewChangeLogServiceClient(conn),
			managed.WithProviderVersion("provider-kyma:"+version.Version)),
	}, func() { _ = conn.Close() }, nil
}
