// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const patience = 60 * time.Second

// eventually polls until check succeeds. If it never does, it fails the test with the last result.
func eventually(t *testing.T, what string, check func(context.Context) (bool, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		ok, last := check(ctx)
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %s, last: %s", what, patience, last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func clientOf(t *testing.T, c *rest.Config) kubernetes.Interface {
	t.Helper()
	k, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestManyServices creates more Services in a cluster than a /24 network has addresses.
func TestManyServices(t *testing.T) {
	c, err := Start(t.Context(), Options{Name: "services"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	services := clientOf(t, c.Config()).CoreV1().Services("default")
	for i := range 300 {
		s := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s-%d", i)},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		}
		if _, err := services.Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatalf("Service %d: %v", i, err)
		}
	}
}

// TestCluster starts only one cluster for all checks, because starting it is slow.
func TestCluster(t *testing.T) {
	c, err := Start(t.Context(), Options{Name: "everything"}.Complete())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	k := clientOf(t, c.Config())

	t.Run("Version", func(t *testing.T) {
		v, err := k.Discovery().ServerVersion()
		if err != nil {
			t.Fatal(err)
		}
		if v.GitVersion != "v1.36.3" || v.Major != "1" || v.Minor != "36" {
			t.Errorf("the server calls itself %q, %q.%q", v.GitVersion, v.Major, v.Minor)
		}
	})
	t.Run("WorkloadsRunAndNamespacesGo", func(t *testing.T) { testWorkloads(t, k) })
	t.Run("UsersHaveTheRightsThatTheyAreGiven", func(t *testing.T) { testUsers(t, c) })
	t.Run("APIServerGoesAndComesBack", func(t *testing.T) { testOutage(t, c) })
	t.Run("NothingIsLeft", func(t *testing.T) { testStop(t, c) })
}

func testWorkloads(t *testing.T, k kubernetes.Interface) {
	ctx := t.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "workloads"}}
	if _, err := k.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "x"}
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "example.org/x:1"}}},
	}
	replicas := int32(2)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod,
	}}
	if _, err := k.AppsV1().Deployments(ns.Name).Create(ctx, d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	once := pod.DeepCopy()
	once.Labels, once.Spec.RestartPolicy = nil, corev1.RestartPolicyNever
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: batchv1.JobSpec{Template: *once}}
	if _, err := k.BatchV1().Jobs(ns.Name).Create(ctx, j, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	eventually(t, "the Deployment is available", func(ctx context.Context) (bool, string) {
		d, err := k.AppsV1().Deployments(ns.Name).Get(ctx, "x", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == replicas, d.Status.String()
	})
	eventually(t, "the Job is complete", func(ctx context.Context) (bool, string) {
		j, err := k.BatchV1().Jobs(ns.Name).Get(ctx, "x", metav1.GetOptions{})
		return err == nil && j.Status.Succeeded == 1, j.Status.String()
	})

	if err := k.AppsV1().Deployments(ns.Name).Delete(ctx, "x", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pods of a deleted Deployment are collected", func(ctx context.Context) (bool, string) {
		pods, err := k.CoreV1().Pods(ns.Name).List(ctx, metav1.ListOptions{LabelSelector: "app=x"})
		return err == nil && len(pods.Items) == 0, pods.String()
	})
	if err := k.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func(ctx context.Context) (bool, string) {
		got, err := k.CoreV1().Namespaces().Get(ctx, ns.Name, metav1.GetOptions{})
		return kerrors.IsNotFound(err), got.Status.String()
	})
}

func testUsers(t *testing.T, c *Cluster) {
	user, err := c.User("visitor", "visitors")
	if err != nil {
		t.Fatal(err)
	}
	account, err := c.ServiceAccount(t.Context(), "default", "default")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		config *rest.Config
		names  string
	}{
		"Certificate": {config: user, names: `User "visitor" cannot`},
		"Token":       {config: account, names: `User "system:serviceaccount:default:default" cannot`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := clientOf(t, tc.config).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
			if !kerrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.names) {
				t.Errorf("listing secrets: want forbidden for %s, got %v", tc.names, err)
			}
		})
	}
}

func testOutage(t *testing.T, c *Cluster) {
	k := clientOf(t, c.Config())
	list := func(timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		_, err := k.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		return err
	}
	c.Pause()
	// The signal takes effect once all threads have received it.
	eventually(t, "a paused API server does not answer", func(context.Context) (bool, string) {
		return list(time.Second) != nil, "it answers"
	})
	c.Resume()
	if err := list(patience); err != nil {
		t.Errorf("a resumed API server does not answer: %v", err)
	}
	c.StopAPIServer()
	if err := list(patience); err == nil {
		t.Error("a stopped API server answers")
	}
	if err := c.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := list(patience); err != nil {
		t.Errorf("an API server that came back does not answer: %v", err)
	}
	if err := c.Err(); err != nil {
		t.Errorf("an outage that was asked for counts as a crash: %v", err)
	}
}

func testStop(t *testing.T, c *Cluster) {
	var pids []int
	for _, p := range append([]*process.Process{c.etcd, c.apiserver}, c.others...) {
		pids = append(pids, p.PID())
	}
	if len(pids) != 5 {
		t.Errorf("a complete cluster has 5 servers, this one has %d", len(pids))
	}
	c.Stop()
	for _, pid := range pids {
		if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process group %d is still there: %v", pid, err)
		}
	}
	if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
		t.Errorf("the data directory is still there: %v", err)
	}
	if err := c.Err(); err != nil {
		t.Errorf("a stop counts as a crash: %v", err)
	}
	c.Stop()
}

func TestStartReportsTheLog(t *testing.T) {
	_, err := Start(t.Context(), Options{Dir: t.TempDir(), APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("want an error with the end of the server's log, got %v", err)
	}
}

func TestCrashIsReported(t *testing.T) {
	c, err := Start(t.Context(), Options{Name: "crash", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	c.etcd.Signal(syscall.SIGKILL)
	select {
	case <-c.Crashed():
	case <-time.After(patience):
		t.Fatal("a crash of etcd is not reported")
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), `cluster "crash": etcd exited unexpectedly`) {
		t.Errorf("want an error that names cluster and server, got %v", err)
	}
}

// TestAPIServerRestarts kills an API server twice. The first time it is restarted with its data, and the second time it counts as a
// crash.
func TestAPIServerRestarts(t *testing.T) {
	c, err := Start(t.Context(), Options{Name: "restart", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	admin, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	maps := admin.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	first := c.apiserver
	first.Signal(syscall.SIGKILL)
	<-first.Done()
	eventually(t, "the API server serves its data again", func(ctx context.Context) (bool, string) {
		_, err := maps.Get(ctx, "kept", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	if err := c.Err(); err != nil {
		t.Errorf("the first end counts as a crash: %v", err)
	}
	c.signal(syscall.SIGKILL)
	select {
	case <-c.Crashed():
	case <-time.After(patience):
		t.Fatal("the second end of the API server is not reported")
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), `cluster "restart": kube-apiserver exited unexpectedly`) {
		t.Errorf("want an error that names cluster and server, got %v", err)
	}
}
