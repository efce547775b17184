// SPDX-License-Identifier: Apache-2.0

package create

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/flags"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
)

// initiation holds the flags of kymactl module init.
type initiation struct {
	e     *command.Environment
	to    string
	over  definition.Definition // Name and version from the flags.
	force bool
}

// NewInit returns the command kymactl module init.
func NewInit(e *command.Environment) *cobra.Command {
	i := &initiation{e: e}
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a module.yaml to start from",
		Long: "Write a commented module.yaml to DIR (default: the working directory), based on what DIR contains: a chart, a " +
			"kubebuilder project, a kustomization, or YAML files. You can pass the result to kymactl module create as it is, but " +
			"check the name and the version first. If DIR contains none of these, comments show what you can put in a module.yaml.\n\n" +
			"If there is already a module.yaml with different content, the command fails with exit code 5. Use --force to replace " +
			"it.",
		Example: "  kymactl module init\n" +
			"  kymactl module init ./chart --name example.org/module/greeter --version 1.2.3\n" +
			"  kymactl module init -o - | less",
		Args: command.Args(0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return i.run(dir)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&i.to, "output", "o", "", "`FILE` to write instead of module.yaml in DIR; - means stdout")
	f.StringVar(&i.over.Name, "name", "", "`NAME` of the component, such as example.org/module/greeter")
	f.StringVar(&i.over.Version, "version", "", "semantic `VERSION` of the module (default: the version of the chart, or 0.1.0)")
	f.BoolVar(&i.force, "force", false, "replace an existing module.yaml")
	return cmd
}

func (i *initiation) run(dir string) error {
	if err := flags.CheckDefinition(&i.over); err != nil {
		return err
	}
	to := i.to
	if to == "" {
		to = filepath.Join(dir, definition.FileName)
	}
	outside := to
	if to == file.Stdout {
		outside = ""
	}
	s, err := openSource(dir, outside)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := definition.Detect(s.fsys)
	if errors.Is(err, definition.ErrNothing) {
		found, err = &definition.Found{Definition: &definition.Definition{}}, nil
		i.e.Warnf("%s contains nothing that can be used as a module without a module.yaml: list the content of the module in %s", dir, definition.FileName)
	}
	if err != nil {
		return errors.Wrap(err, dir)
	}
	for _, w := range found.Warnings {
		i.e.Warnf("%s", w)
	}
	d := *found.Definition
	d.Name, d.Version = found.Suggest(i.over.Name, i.over.Version)
	text, err := definition.Write(&d, found.Kind)
	if err != nil {
		return err
	}
	if to == file.Stdout {
		_, err := i.e.Out.Write(text)
		return err
	}
	write := i.write
	if file.IsDevice(to) {
		write = file.Write
	}
	if err := write(to, text); err != nil {
		return err
	}
	return i.e.Print("%s", to)
}

// write writes a file atomically. Unless --force is set, it does not replace a file with different content.
func (i *initiation) write(to string, text []byte) error {
	have, err := os.ReadFile(to) //nolint:gosec // The user names the file.
	if err == nil && string(have) == string(text) {
		i.e.Sayf("Unchanged: %s", to)
		return nil
	}
	if err == nil && !i.force {
		return existing(to)
	}
	temp, err := writeTemp(to, text)
	if err != nil {
		return errors.Wrapf(err, "cannot write %s", to)
	}
	err = i.move(temp, to)
	if errors.Is(err, fs.ErrExist) {
		return existing(to)
	}
	if err == nil {
		i.e.Sayf("Wrote %s: check its name and version, then run kymactl module create", to)
	}
	return errors.Wrapf(err, "cannot write %s", to)
}

// move moves a complete file to its destination. Unless --force is set, it fails with fs.ErrExist if the destination exists.
func (i *initiation) move(temp, to string) error {
	if i.force {
		err := os.Rename(temp, to)
		if err != nil {
			_ = os.Remove(temp)
		}
		return err
	}
	// Unlike a rename, a link fails if another process created the file first.
	err := os.Link(temp, to)
	if rerr := os.Remove(temp); err == nil {
		err = rerr
	}
	return err
}

// existing returns the error for an existing file that is not replaced.
func existing(to string) error {
	return command.WithCode(command.ExitExists, errors.Errorf("%s exists: use --force to replace it, or -o - to print the new content", to))
}

// writeTemp writes a temporary file into the directory of another file, with the permissions of a new file, and returns its path.
func writeTemp(beside string, text []byte) (string, error) {
	dir, err := os.MkdirTemp(filepath.Dir(beside), "._kymactl-")
	if err != nil {
		return "", err
	}
	// The name of the directory is unique, so the file can use it after the directory is removed.
	temp := dir + ".yaml"
	if err := os.Remove(dir); err != nil {
		return "", err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // It is as public as the files beside it.
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	return temp, nil
}
