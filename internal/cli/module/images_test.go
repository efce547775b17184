// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestListedImages checks that a module with a list of its images can be signed, pushed, verified and installed like any other,
// and that a module built on top of it lists other images.
func TestListedImages(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: a, image: \"example.org/web:IMAGE\"}\n"
	r := startRegistry(t, controlplane.WebOptions{})
	private, public := keyFiles(t)
	t.Chdir(t.TempDir())
	write := func(dir, version, image string) {
		t.Helper()
		moduleYAML := "name: " + greeter + "\nversion: " + version + "\nlistImages: true\nmanifests:\n- path: pod.yaml\n"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string]string{"module.yaml": moduleYAML, "pod.yaml": strings.Replace(pod, "IMAGE", image, 1)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	resources := func(module string) string {
		t.Helper()
		return kymactl(t, "module", "inspect", module, "-o", "jsonpath={range .resources[*]}{.name} {.version} {.where}{\"\\n\"}{end}").
			want(t, command.ExitOK, "").out
	}
	write("one", "1.0.0", "1.2.3")
	kymactl(t, "module", "create", "one", "-o", "built", "--key", private).want(t, command.ExitOK, "")
	kymactl(t, "module", "push", "built", r.Host()+"/modules").want(t, command.ExitOK, "")
	reference := r.Host() + "/modules//" + greeter + ":1.0.0"
	kymactl(t, "module", "verify", reference, "--key", public).want(t, command.ExitOK, "")
	if got := resources(reference); !strings.Contains(got, "image-web 1.2.3 example.org/web:1.2.3\n") {
		t.Errorf("got\n%s", got)
	}
	kymactl(t, "module", "template", reference).want(t, command.ExitOK, "")
	if got := kymactl(t, "module", "manifest", reference).want(t, command.ExitOK, ""); strings.Contains(got.out, "example.org/web") {
		t.Errorf("the image became part of the Manifest:\n%s", got.out)
	}

	write("two", "1.1.0", "1.3.0")
	kymactl(t, "module", "create", "two", "--from", reference, "-o", "next").want(t, command.ExitOK, "")
	if got := resources("next"); !strings.Contains(got, "image-web 1.3.0 example.org/web:1.3.0\n") || strings.Contains(got, "1.2.3") {
		t.Errorf("got\n%s", got)
	}
}
