// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// A Release is one revision in the JSON output of helm list and helm history.
type Release struct {
	Name       string      `json:"name"`
	Namespace  string      `json:"namespace"`
	Revision   json.Number `json:"revision"`
	Status     string      `json:"status"`
	Chart      string      `json:"chart"`
	AppVersion string      `json:"app_version"`
}

// Helm runs the real helm against the target, in the namespace of the space, and returns its stdout.
func Helm(ctx context.Context, s *Space, args ...string) string {
	GinkgoHelper()
	helm, err := tools.Path(ctx, tools.Helm)
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, helm, append(args, "--namespace", s.Name, "--kubeconfig", Env.Target.KubeconfigFile())...)
	cmd.Env = []string{"HOME=" + Env.Dir, "PATH=" + os.Getenv("PATH")}
	errs := &strings.Builder{}
	cmd.Stderr = errs
	out, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred(), "helm %v: %s", args, errs)
	return string(out)
}

// Template returns the output of helm template for a chart, in the format of helm get manifest.
func Template(ctx context.Context, s *Space, c Chart, set string) string {
	GinkgoHelper()
	return Helm(ctx, s, "template", "web", ChartDirectory(s, c), "--set", set) + "\n"
}

// ChartDirectory writes the files of a chart into a temporary directory, and returns its path.
func ChartDirectory(_ *Space, c Chart) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for name, data := range c.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		Expect(os.WriteFile(path, data, 0o600)).To(Succeed())
	}
	return dir
}

func Decode(text string) []Release {
	GinkgoHelper()
	var out []Release
	Expect(json.Unmarshal([]byte(text), &out)).To(Succeed(), text)
	return out
}
