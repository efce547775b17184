// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"net/http"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestApply(t *testing.T) {
	cases := map[string]scenario{
		"Missing": {
			reason:   "An object that does not exist is created with one request.",
			want:     cm,
			out:      result{Kind: "Created"},
			requests: []string{"apply new ConfigMap apps/web"},
			tries:    []string{"try apply new ConfigMap apps/web"},
		},
		"MissingNamespace": {
			reason:   "Its namespace is created, too, which the dry run notes.",
			others:   func(s *site) { s.c.Finish(refOf(`{apiVersion: v1, kind: Namespace, metadata: {name: apps}}`)) },
			want:     cm,
			out:      result{Kind: "Created"},
			requests: []string{"apply new ConfigMap apps/web", "create Namespace apps", "apply new ConfigMap apps/web"},
			note:     "namespace apps would be created",
			tries:    []string{"try apply new ConfigMap apps/web"},
		},
		"KeptNamespaces": {
			reason: "The config may prevent the creation of the namespace.",
			others: func(s *site) { s.c.Finish(refOf(`{apiVersion: v1, kind: Namespace, metadata: {name: apps}}`)) },
			want:   cm,
			change: func(o *object.Desired) { o.KeepNamespaces = true },
			out:    result{Err: "ConfigMap apps/web: namespace apps does not exist, and the config layer sets CreateNamespace=false; create the namespace"},
			instead: &result{
				Err: "ConfigMap apps/web: namespace apps does not exist, and the config layer sets CreateNamespace=false; create the namespace", Refused: true,
			},
			requests: []string{"apply new ConfigMap apps/web"},
			tries:    []string{"try apply new ConfigMap apps/web"},
		},
		"MissingKind": {
			reason: "Without the kind, there is no request.",
			want:   widget,
			out:    result{Err: "Widget apps/web: the cluster does not serve kind Widget in example.org/v1", Refused: true},
		},
		"ForgottenResource": {
			reason: "A custom resource that its users deleted is not created again.",
			want:   cm,
			change: func(o *object.Desired) { o.Stage = object.StageResource },
			input:  func(in *Subject) { in.Entry.UID = "uid-9" },
			out:    result{Kind: "Unchanged"},

			requests: []string{"metadata ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web"},
		},
		"ResourceOfUsers": {
			reason: "A custom resource that its users created in place of the one that they deleted is theirs.",
			others: func(s *site) { s.c.Create("kubectl-create", cm) },
			want:   cm,
			change: func(o *object.Desired) { o.Stage = object.StageResource },
			input:  func(in *Subject) { in.Entry.UID = "uid-9" },
			out:    result{Kind: "Unchanged"},

			requests: []string{"metadata ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web"},
		},
		"ResourceNotShown": {
			reason: "A custom resource that the watch does not show yet, because it is behind, is not taken for deleted.",
			was:    cm,
			want:   cmNext,
			change: func(o *object.Desired) { o.Stage = object.StageResource },
			input:  func(in *Subject) { in.Exists, in.State = false, cluster.ObjectState{} },
			out:    result{Kind: "Updated", Lost: []string{"data.c"}},

			requests: []string{"metadata ConfigMap apps/web", "metadata ConfigMap apps/web", "apply ConfigMap apps/web"},
			fields:   []string{"data.a", "data.b", "data.c"},
			tries:    []string{"get ConfigMap apps/web", "get ConfigMap apps/web", "try apply ConfigMap apps/web"},
		},
		"NewResource": {
			reason:   "A custom resource that was never applied is created.",
			want:     cm,
			change:   func(o *object.Desired) { o.Stage = object.StageResource },
			out:      result{Kind: "Created"},
			requests: []string{"apply new ConfigMap apps/web"},
			tries:    []string{"try apply new ConfigMap apps/web"},
		},
		"DeletedByOthers": {
			reason:   "Any other object that was deleted is created again.",
			was:      cm,
			others:   func(s *site) { s.c.Finish(refOf(cm)) },
			want:     cm,
			out:      result{Kind: "Created"},
			requests: []string{"apply new ConfigMap apps/web"},
			tries:    []string{"try apply new ConfigMap apps/web"},
		},
		"Updated": {
			reason:   "An object of the bundle is updated without being read. The dry run reads it to compare.",
			was:      cm,
			want:     cmNext,
			out:      result{Kind: "Updated"},
			requests: []string{"apply unforced ConfigMap apps/web"},
			fields:   []string{"data.a", "data.b", "data.c"},
			tries:    []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"},
		},
		"Same": {
			reason:   "Objects that are written differently may mean the same: the run sends the object, and the dry run reports no change.",
			was:      cm,
			want:     cm,
			out:      result{Kind: "Updated"},
			requests: []string{"apply unforced ConfigMap apps/web"},
			instead:  &result{Kind: "Unchanged"},
			tries:    []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"},
		},
		"Lost": {
			reason:   "If the inventory was lost, objects are recognized by their label.",
			was:      cm,
			want:     cmNext,
			input:    func(in *Subject) { *in = Subject{Object: in.Object} },
			out:      result{Kind: "Updated", Lost: []string{"data.c"}},
			requests: []string{"apply new ConfigMap apps/web", "metadata ConfigMap apps/web", "apply ConfigMap apps/web"},
			fields:   []string{"data.a", "data.b", "data.c"},
			tries:    []string{"try apply new ConfigMap apps/web", "get ConfigMap apps/web", "try apply ConfigMap apps/web"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// refuse makes requests with a log line fail, like an API server or a connection.
func refuse(line string, err error) func(*site, string) error {
	return func(_ *site, l string) error {
		if l == line || l == "try "+line {
			return err
		}
		return nil
	}
}

func TestApplyRefused(t *testing.T) {
	configMaps := schema.GroupResource{Resource: "configmaps"}
	forbidden := kerrors.NewForbidden(configMaps, "web", errors.New("no\nquota"))
	outage := kerrors.NewServiceUnavailable("later")
	terminating := kerrors.NewForbidden(configMaps, "web", errors.New("it goes"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NamespaceTerminating"}}
	create, tryCreate := []string{"apply new ConfigMap apps/web"}, []string{"try apply new ConfigMap apps/web"}
	cases := map[string]scenario{
		"Forbidden": {
			reason:   "A refusal of the API server names the object, on one line.",
			want:     cm,
			meet:     refuse("apply new ConfigMap apps/web", forbidden),
			out:      result{Err: `ConfigMap apps/web: configmaps "web" is forbidden: no quota`, Refused: true},
			requests: create, tries: tryCreate,
		},
		"Terminating": {
			reason:   "The error says that the namespace is being deleted.",
			want:     cm,
			meet:     refuse("apply new ConfigMap apps/web", terminating),
			out:      result{Err: `ConfigMap apps/web: the namespace is being deleted: configmaps "web" is forbidden: it goes`, Refused: true},
			requests: create, tries: tryCreate,
		},
		"Outage": {
			reason:   "An outage is not a refusal of the object.",
			want:     cm,
			meet:     refuse("apply new ConfigMap apps/web", outage),
			out:      result{Err: "ConfigMap apps/web: later"},
			requests: create, tries: tryCreate,
		},
		"Connection": {
			reason:   "A broken connection is not a refusal either.",
			want:     cm,
			meet:     refuse("apply new ConfigMap apps/web", errors.New("cut")),
			out:      result{Err: "ConfigMap apps/web: cut"},
			requests: create, tries: tryCreate,
		},
		"Invalid": {
			reason:   "An invalid field that is not immutable is refused with the text of the API server.",
			was:      deploy,
			want:     `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}, spec: {replicas: -1, image: b}}`,
			out:      result{Err: `Deployment apps/web: Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`, Refused: true},
			requests: []string{"apply unforced Deployment apps/web", "get Deployment apps/web"},
			tries:    []string{"get Deployment apps/web", "try apply Deployment apps/web"},
		},
		"UpdateForbidden": {
			reason:   "A refused update is reported in the same way.",
			was:      cm,
			want:     cmNext,
			meet:     updates(forbidden),
			out:      result{Err: `ConfigMap apps/web: configmaps "web" is forbidden: no quota`, Refused: true},
			requests: []string{"apply unforced ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"},
		},
		"RepairForbidden": {
			reason:   "A refused repair is reported in the same way.",
			was:      cm,
			others:   func(s *site) { s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a") },
			want:     cm,
			meet:     updates(forbidden),
			out:      result{Err: `ConfigMap apps/web: configmaps "web" is forbidden: no quota`, Refused: true},
			requests: []string{"metadata ConfigMap apps/web", "apply ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web", "try apply ConfigMap apps/web"},
		},
		"Unread": {
			reason: "Without permission to read, nothing is changed.",
			was:    cm,
			others: func(s *site) { s.c.Set("kubectl-edit", refOf(cm), "9", "data", "a") },
			want:   cm,
			meet: func(_ *site, line string) error {
				if line == "metadata ConfigMap apps/web" || line == "get ConfigMap apps/web" {
					return forbidden
				}
				return nil
			},
			out:      result{Err: `ConfigMap apps/web: configmaps "web" is forbidden: no quota`, Refused: true},
			requests: []string{"metadata ConfigMap apps/web"},
			tries:    []string{"get ConfigMap apps/web"},
		},
		"NotAnAPIServer": {
			reason:   "A 404 that names no object does not come from an API server, and proves nothing.",
			want:     cm,
			meet:     refuse("apply new ConfigMap apps/web", &kerrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}}),
			out:      result{Err: "ConfigMap apps/web: API server http://fake: the 404 Not Found response is not from a Kubernetes API server; check the server in the kubeconfig, and any proxies in between"},
			requests: create, tries: tryCreate,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// updates refuses all updates of the object.
func updates(err error) func(*site, string) error {
	return func(_ *site, line string) error {
		switch line {
		case "apply unforced ConfigMap apps/web", "apply ConfigMap apps/web", "try apply ConfigMap apps/web":
			return err
		}
		return nil
	}
}
