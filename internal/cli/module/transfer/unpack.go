// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
)

// unpacked is the output of module unpack in JSON and YAML.
type unpacked struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Digest    string   `json:"digest"`
	Directory string   `json:"directory"`
	Files     []string `json:"files"` // Slash-separated paths relative to the directory.
}

// unpacking holds the flags of kymactl module unpack.
type unpacking struct {
	e        *command.Environment
	registry command.RegistryFlags
	output   command.Output
	check    verification
	to       string
	force    bool
}

// NewUnpack returns the command kymactl module unpack.
func NewUnpack(e *command.Environment) *cobra.Command {
	u := &unpacking{e: e}
	c := &cobra.Command{
		Use:   "unpack MODULE",
		Short: "Unpack a module into files: charts, manifests, CRDs and the default custom resource",
		Long: "Unpack the content of a module into a directory with these entries: charts/INSTALL contains a chart that helm can " +
			"read; manifests/INSTALL contains plain manifests; crds, config and default-cr.yaml contain the CRDs, the configuration " +
			"and the default custom resource; resources contains the resources that are not installed, unchanged; and " +
			"component-descriptor.json is the component descriptor. A layer that consists of a single file is unpacked as that " +
			"file, for example config.yaml. Referenced components, and charts in other registries, are also unpacked. Images are " +
			"not.\n\n" + open.ReferenceHelp + "\n\n" +
			"The directory is written completely or not at all. If it exists and is not empty, the command fails with exit code 5. " +
			"With --force, it replaces a previously unpacked module, but never a directory that contains anything else. The file " +
			UnpackedFile + " in the directory lists the unpacked files with their digests. If you changed one of them, or added a " +
			"file, a link or a directory, or if the list is missing, the command replaces nothing and fails with exit code 5. Files " +
			"that you deleted are restored.\n\n" +
			"With --key, the command first verifies the module in the same way as kymactl module verify, and writes nothing if " +
			"verification fails. A module can contain at most 50000 files and 1 GiB. No file is written outside the directory.\n\n" +
			"To get an exact copy of a module with its signatures, use kymactl module pull. The last line on stdout is the digest " +
			"of the manifest, and the line before it is the path of the directory.",
		Example: "  kymactl module unpack registry.example.org/modules//example.org/module/greeter:1.0.0\n" +
			"  kymactl module unpack greeter.tar -o greeter-files --force && helm template greeter-files/charts/greeter",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return u.run(cmd.Context(), args[0])
		},
	}
	f := c.Flags()
	f.StringVarP(&u.to, "output", "o", "", "`DIR` to create (default: the last element of the module name)")
	f.BoolVar(&u.force, "force", false, "replace a previously unpacked module, unless its files were changed or others were added")
	u.registry.AddFlags(f)
	u.check.addFlags(f)
	u.output.AddFlag(f, true)
	return c
}

func (u *unpacking) run(ctx context.Context, reference string) error {
	if err := u.output.Check(); err != nil {
		return err
	}
	keys, err := u.check.read()
	if err != nil {
		return err
	}
	if u.to != "" {
		u.to = filepath.Clean(u.to)
	}
	if err := u.vacant(); err != nil {
		return err
	}
	b, err := openVerified(ctx, u.e, &u.registry, reference, keys)
	if err != nil {
		return err
	}
	defer b.Close()
	if u.to == "" {
		u.to = baseName(b.Descriptor())
		if err := u.vacant(); err != nil {
			return err
		}
	}
	out := &unpacked{Name: b.Descriptor().Name(), Version: b.Descriptor().Version(), Digest: b.Digest, Directory: u.to, Files: []string{}}
	if err := u.unpack(ctx, b, out); err != nil {
		return err
	}
	u.e.Sayf("Unpacked: %d files in %s", len(out.Files), u.to)
	if u.output.Table() {
		return u.e.Print("%s\n%s", u.to, b.Digest)
	}
	return u.output.Write(u.e.Out, out, nil)
}

// vacant returns an error if the directory exists and must not be replaced.
func (u *unpacking) vacant() error {
	switch u.to {
	case "":
		return nil
	case ".", "..", string(filepath.Separator), file.Stdout:
		return command.Usagef("-o %s: use a directory that does not exist yet, or can be replaced", u.to)
	}
	info, err := os.Lstat(u.to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errors.Wrapf(err, "cannot read %s", u.to)
	case !info.IsDir():
		return command.WithCode(command.ExitExists, errors.Errorf("%s exists and is not a directory", u.to))
	}
	entries, err := os.ReadDir(u.to)
	switch {
	case err != nil:
		return errors.Wrapf(err, "cannot read %s", u.to)
	case len(entries) == 0:
		return nil
	case !u.force:
		return u.occupied()
	}
	return u.replaceable(u.to)
}

// replaceable returns an error with the exit code ExitExists unless dir, which is the destination or was moved from there, contains
// nothing but files that module unpack wrote.
func (u *unpacking) replaceable(dir string) error {
	reason, err := checkUnpacked(dir)
	if err != nil {
		return errors.Wrapf(err, "cannot read %s", u.to)
	}
	if reason == "" {
		return nil
	}
	return command.WithCode(command.ExitExists, errors.Errorf("%s %s: delete or move it, or use another directory with -o DIR", u.to, reason))
}

// occupied returns the error for a directory that is not empty. Its exit code is ExitExists.
func (u *unpacking) occupied() error {
	return command.WithCode(command.ExitExists, errors.Errorf("%s is not empty: use --force to replace the module in it, or -o DIR", u.to))
}

// unpack unpacks a module into a temporary directory next to its destination, and moves the complete directory there. It appends
// the names of the files to out.
func (u *unpacking) unpack(ctx context.Context, b *bundle.Bundle, out *unpacked) error {
	temp, err := os.MkdirTemp(filepath.Dir(filepath.Clean(u.to)), ".kymactl-*")
	if err != nil {
		return errors.Wrapf(err, "cannot create %s", u.to)
	}
	defer func() {
		// If the replaced directory could not be restored, it is still in temp, which is not removed then.
		if err := os.RemoveAll(filepath.Join(temp, "new")); err != nil {
			u.e.Sayf("Cannot remove the temporary directory %s: %s", temp, err)
		}
		_ = os.Remove(temp)
	}()
	made := filepath.Join(temp, "new")
	if err := os.Mkdir(made, 0o755); err != nil { //nolint:gosec // It is as public as other directories of the user.
		return errors.Wrapf(err, "cannot create %s", u.to)
	}
	root, err := os.OpenRoot(made)
	if err != nil {
		return errors.Wrapf(err, "cannot create %s", u.to)
	}
	l := newUnpackedList(b.Digest)
	err = bundle.Unpack(ctx, b, func(name string, data []byte) error {
		out.Files = append(out.Files, name)
		l.add(name, data)
		return errors.Wrapf(writeIn(root, name, data), "cannot write %s", path.Join(filepath.ToSlash(u.to), name))
	})
	if err == nil {
		err = errors.Wrapf(l.write(root), "cannot write %s", filepath.Join(u.to, UnpackedFile))
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	return u.publish(made, filepath.Join(temp, "old"))
}

// writeIn writes a new file below a directory. It fails if name is outside the directory.
func writeIn(root *os.Root, name string, data []byte) error {
	local, err := filepath.Localize(name)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// publish moves a complete directory to its destination. It moves the directory that it replaces, if any, to old, and removes it in
// the end, or reports that it cannot. After an error, the previous directory is at its place again.
func (u *unpacking) publish(made, old string) error {
	replaced, err := u.moveAway(old)
	if err == nil {
		if err = os.Rename(made, u.to); errors.Is(err, fs.ErrExist) {
			err = u.occupied()
		} else {
			err = errors.Wrapf(err, "cannot create %s", u.to)
		}
	}
	switch {
	case err != nil && replaced:
		return errors.Join(err, errors.Wrapf(os.Rename(old, u.to), "cannot restore %s, which is now %s", u.to, old))
	case replaced:
		if err := os.RemoveAll(old); err != nil {
			u.e.Sayf("Cannot remove the replaced directory %s: %s", old, err)
		}
	}
	return err
}

// moveAway moves the directory at the destination, if --force is set and there is one, to old, and reports whether it did so. It
// checks the directory again, because the user may have changed it during the download: before it moves it, and again when it is no
// longer at a path that others know.
func (u *unpacking) moveAway(old string) (moved bool, err error) {
	if !u.force {
		return false, nil
	}
	if err := u.vacant(); err != nil {
		return false, err
	}
	err = os.Rename(u.to, old)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, errors.Wrapf(err, "cannot replace %s", u.to)
	}
	return true, u.replaceable(old)
}
