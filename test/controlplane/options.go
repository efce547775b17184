// SPDX-License-Identifier: Apache-2.0

package controlplane

// Options say what a cluster consists of. The zero value is etcd and an API
// server: enough for custom resources, not for anything that a controller does.
type Options struct {
	// Name appears in errors and kubeconfigs. Default "cluster".
	Name string
	// Dir is the directory for data and logs, made when it does not exist and kept by
	// Stop. Default: a temporary directory, removed by Stop.
	Dir string

	// ControllerManager runs the controllers: Deployments make pods, namespaces
	// terminate, garbage is collected, service accounts appear.
	ControllerManager bool
	// Scheduler assigns pods to nodes.
	Scheduler bool
	// Kwok plays one node with room for everything, and its pods: they become
	// ready at once, and those of Jobs complete.
	Kwok bool
	// KwokStages are the behaviours that kwok plays, by their directory below
	// kustomize/stage in its module. Default node/fast, node/heartbeat, pod/fast.
	KwokStages []string

	// Controllers is the --controllers flag of the controller manager. Default all.
	Controllers []string
	// EnableAdmission and DisableAdmission name admission plugins, beside those
	// that are on by default. Without the controller manager no one makes service
	// accounts, and pods need ServiceAccount among the disabled.
	EnableAdmission, DisableAdmission []string
	// APIServerArgs and ControllerManagerArgs are appended to the flags.
	APIServerArgs, ControllerManagerArgs []string
}

// Complete adds everything that a workload needs to become ready.
func (o Options) Complete() Options {
	o.ControllerManager, o.Scheduler, o.Kwok = true, true, true
	return o
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
