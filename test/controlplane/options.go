// SPDX-License-Identifier: Apache-2.0

package controlplane

import "github.com/crossplane-contrib/provider-kyma/cluster/tools"

// Options are the options of a cluster. The zero value starts etcd and an API server. This is enough for custom
// resources, but not for features that require a controller.
type Options struct {
	// Name appears in errors and kubeconfigs. The default is "cluster".
	Name string
	// Dir is the directory for data and logs. It is created if necessary, and Stop keeps it. The default is a temporary
	// directory, which Stop removes.
	Dir string

	// ControllerManager runs the controllers, for example for pods of Deployments, deletion of namespaces, garbage
	// collection and service accounts.
	ControllerManager bool
	// Scheduler assigns pods to nodes.
	Scheduler bool
	// Kwok simulates one node with unlimited capacity, and its pods: they become ready immediately, and pods of Jobs
	// complete.
	Kwok bool
	// KwokStages are the behaviors that kwok simulates, by their directory below kustomize/stage in its module. The
	// default is node/fast, node/heartbeat, pod/fast.
	KwokStages []string

	// Kubernetes is an older minor version of Kubernetes, such as 1.34, whose servers must have been built. The default is
	// tools.KubernetesVersion.
	Kubernetes string
	// Controllers is the --controllers flag of the controller manager. By default, it runs all controllers.
	Controllers []string
	// EnableAdmission and DisableAdmission are admission plugins that differ from the defaults. Without the controller
	// manager there are no service accounts, so pods require that ServiceAccount is disabled.
	EnableAdmission, DisableAdmission []string
	// APIServerArgs and ControllerManagerArgs are additional flags.
	APIServerArgs, ControllerManagerArgs []string
	// APIServerEnv is added to the environment of the API server, such as GOMEMLIMIT=8GiB. Its default is 2 GiB.
	APIServerEnv []string
}

// Complete adds all servers that a workload needs to become ready.
func (o Options) Complete() Options {
	o.ControllerManager, o.Scheduler, o.Kwok = true, true, true
	return o
}

// server returns the tool that runs as a server of Kubernetes.
func (o Options) server(t tools.Tool) tools.Tool {
	if o.Kubernetes == "" {
		return t
	}
	return tools.Older(t, o.Kubernetes)
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "cluster"
	}
	if len(o.KwokStages) == 0 {
		o.KwokStages = []string{"node/fast", "node/heartbeat", "pod/fast"}
	}
	return o
}
