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
)

const TargetRequests = "provider_kyma_target_requests_total"

const ControlRequests = "provider_kyma_control_plane_requests_total"

const Reconciles = "controller_runtime_reconcile_total"

// Metrics are the samples of one scrape, by their names with labels as they are written: name{a="b"}.
type Metrics map[string]float64

// Scrape the metrics of the provider.
func (p *Provider) Scrape(ctx context.Context) (Metrics, error) {
	text, err := fetch(ctx, "http://"+p.Metrics+"/metrics")
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

// Sum of all samples of a metric whose labels contain a text.
func (m Metrics) Sum(name, labels string) float64 {
	total := 0.0
	for sample, v := range m {
		if (sample == name || strings.HasPrefix(sample, name+"{")) && strings.Contains(sample, labels) {
			total += v
		}
	}
	return total
}

// Requests of a metric by verb.
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

// RequestsSince an earlier scrape, by verb; those that were not sent are left out.
func (m Metrics) RequestsSince(before Metrics, name string) map[string]float64 {
	out := m.Requests(name)
	for verb, n := range before.Requests(name) {
		out[verb] -= n
	}
	maps.DeleteFunc(out, func(_ string, n float64) bool { return n == 0 })
	return out
}

// WriteNothing matches requests by verb that change nothing.
func WriteNothing() types.GomegaMatcher {
	return SatisfyAll(
		Not(HaveKey(http.MethodPost)), Not(HaveKey(http.MethodPut)), Not(HaveKey(http.MethodPatch)), Not(HaveKey(http.MethodDelete)),
	)
}

// BeWatchesOnly matches requests by verb of which all are watches.
func BeWatchesOnly() types.GomegaMatcher {
	return WithTransform(func(in map[string]float64) map[string]float64 {
		out := maps.Clone(in)
		delete(out, "WATCH")
		return out
	}, BeEmpty())
}

const (
	// AtRest is how long a provider with nothing to do is watched.
	AtRest = 20 * time.Second
	// settled is how long nothing must happen before there is nothing to do.
	settled = 3 * time.Second
)

// OtherConfigs are the ProviderConfigs outside the space.
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

// AwaitSettled waits until nothing but watches has been sent to a target, and nothing was written, for a while.
func AwaitSettled(ctx SpecContext) {
	GinkgoHelper()
	last, since := Must(Env.Provider.Scrape(ctx)), time.Now()
	Eventually(func(g Gomega) {
		// What specs before this one left is written about until it is gone, and again after a restart.
		g.Expect(terminatingConfigs(ctx)).To(BeEmpty(), "ProviderConfigs that are being deleted")
		now, err := Env.Provider.Scrape(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		target, control := now.RequestsSince(last, TargetRequests), now.RequestsSince(last, ControlRequests)
		if !matches(target, BeWatchesOnly()) || !matches(control, WriteNothing()) {
			last, since = now, time.Now()
		}
		g.Expect(time.Since(since)).To(BeNumerically(">", settled), "requests were sent to the target: %v, to the control plane: %v", target, control)
	}).Should(Succeed())
}

// terminatingConfigs are the ProviderConfigs of any spec that are being deleted.
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
	return out, nil
}

func matches(requests map[string]float64, m types.GomegaMatcher) bool {
	ok, err := m.Match(requests)
	return ok && err == nil
}
