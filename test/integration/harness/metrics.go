// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const TargetRequests = "provider_kyma_target_requests_total"

const ControlRequests = "provider_kyma_control_plane_requests_total"

const Reconciles = "controller_runtime_reconcile_total"

// Metrics holds the samples of one scrape, by name with labels as in the exposition format: name{a="b"}.
type Metrics map[string]float64

// Scrape reads the metrics of the provider.
func (p *Provider) Scrape(ctx context.Context) (Metrics, error) {
	text, err := process.Get(ctx, http.DefaultClient, "http://"+p.Metrics+"/metrics")
	if err != nil {
		return nil, err
	}
	m := Metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if v, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			m[line[:at]] = v
		}
	}
	return m, nil
}

// Sum returns the sum of all samples of a metric whose labels contain a text.
func (m Metrics) Sum(name, labels string) float64 {
	total := 0.0
	for sample, v := range m {
		if (sample == name || strings.HasPrefix(sample, name+"{")) && strings.Contains(sample, labels) {
			total += v
		}
	}
	return total
}

// Requests returns the number of requests of a metric by verb.
func (m Metrics) Requests(name string) map[string]float64 {
	out := map[string]float64{}
	for sample, v := range m {
		if _, labels, ok := strings.Cut(sample, name+"{"); ok {
			_, verb, _ := strings.Cut(labels, `verb="`)
			verb, _, _ = strings.Cut(verb, `"`)
			out[verb] += v
		}
	}
	return out
}

// RequestsSince returns the number of requests since an earlier scrape by verb, without verbs that have none.
func (m Metrics) RequestsSince(before Metrics, name string) map[string]float64 {
	out := m.Requests(name)
	for verb, n := range before.Requests(name) {
		out[verb] -= n
	}
	maps.DeleteFunc(out, func(_ string, n float64) bool { return n == 0 })
	return out
}

// WriteNothing matches requests by verb that contain no writes.
func WriteNothing() types.GomegaMatcher {
	return SatisfyAll(
		Not(HaveKey(http.MethodPost)), Not(HaveKey(http.MethodPut)), Not(HaveKey(http.MethodPatch)), Not(HaveKey(http.MethodDelete)),
	)
}

// BeWatchesOnly matches requests by verb that are all watches.
func BeWatchesOnly() types.GomegaMatcher {
	return WithTransform(func(in map[string]float64) map[string]float64 {
		out := maps.Clone(in)
		delete(out, "WATCH")
		return out
	}, BeEmpty())
}

const (
	// AtRest is how long an idle provider is observed.
	AtRest = 20 * time.Second
	// idleAfter is the time without requests after which the provider is idle.
	idleAfter = 3 * time.Second
)

// OtherConfigs returns the ProviderConfigs outside the space, as namespace/name.
func OtherConfigs(ctx SpecContext, s *Space) ([]string, error) {
	list := &v1alpha1.ProviderConfigList{}
	err := Env.ControlClient.List(ctx, list)
	var names []string
	for i := range list.Items {
		if c := &list.Items[i]; c.Namespace != s.Name {
			names = append(names, c.Namespace+"/"+c.Name)
		}
	}
	return names, err
}

// AwaitIdle waits until the provider has sent nothing but watches to targets, and written nothing, for a while.
func AwaitIdle(ctx SpecContext) {
	GinkgoHelper()
	last, since := Must(Env.Provider.Scrape(ctx)), time.Now()
	Eventually(func(g Gomega) {
		// The provider writes about leftovers of earlier specs until they are gone, and again after a restart.
		g.Expect(terminatingConfigs(ctx)).To(BeEmpty(), "ProviderConfigs that are being deleted")
		now, err := Env.Provider.Scrape(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		target, control := now.RequestsSince(last, TargetRequests), now.RequestsSince(last, ControlRequests)
		if !matches(target, BeWatchesOnly()) || !matches(control, WriteNothing()) {
			last, since = now, time.Now()
		}
		g.Expect(time.Since(since)).To(BeNumerically(">", idleAfter), "requests were sent to the target: %v, to the control plane: %v", target, control)
	}).Should(Succeed())
}

// terminatingConfigs returns the ProviderConfigs and ClusterProviderConfigs of all specs that are being deleted, as namespace/name.
func terminatingConfigs(ctx context.Context) ([]string, error) {
	l := &v1alpha1.ProviderConfigList{}
	if err := Env.ControlClient.List(ctx, l); err != nil {
		return nil, err
	}
	var out []string
	for i := range l.Items {
		if c := &l.Items[i]; c.DeletionTimestamp != nil {
			out = append(out, c.Namespace+"/"+c.Name)
		}
	}
	cl := &v1alpha1.ClusterProviderConfigList{}
	if err := Env.ControlClient.List(ctx, cl); err != nil {
		return nil, err
	}
	for i := range cl.Items {
		if c := &cl.Items[i]; c.DeletionTimestamp != nil {
			out = append(out, "/"+c.Name)
		}
	}
	return out, nil
}

func matches(requests map[string]float64, m types.GomegaMatcher) bool {
	ok, err := m.Match(requests)
	return ok && err == nil
}
