// SPDX-License-Identifier: Apache-2.0

package create

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/pack"
)

// maxDefinition is the maximum number of bytes read from a module.yaml. Parse accepts less.
const maxDefinition = 4 << 20

// A source is the directory from which a module is built.
type source struct {
	definition *definition.Definition
	fsys       fs.FS
	// name is the path of the directory or the module.yaml, for messages.
	name     string
	warnings []string
	// found describes the detected content of the directory; nil if there is a module.yaml.
	found *definition.Found
	root  *os.Root
}

// Close closes the directory.
func (s *source) Close() error {
	if s.root == nil {
		return nil
	}
	return s.root.Close()
}

// source opens the directory that the command line names, and applies the flags that override fields of the definition.
func (c *creation) source(args []string) (*source, error) {
	dir := "."
	switch {
	case len(args) > 0:
		dir = args[0]
	case c.file != "":
		dir = filepath.Dir(c.file)
	}
	s, err := openSource(dir, c.to, c.file, c.keyFile)
	if err != nil {
		return nil, err
	}
	if err := c.define(s, dir, len(args) > 0); err != nil {
		_ = s.Close()
		return nil, err
	}
	for _, f := range []struct {
		to   *string
		over string
	}{
		{&s.definition.Name, c.over.Name},
		{&s.definition.Version, c.over.Version},
		{&s.definition.Channel, c.over.Channel},
		{&s.definition.Provider, c.over.Provider},
	} {
		if f.over != "" {
			*f.to = f.over
		}
	}
	return s, nil
}

// openSource opens a directory. The file system of the source omits others, the files that the command line uses for other
// purposes.
func openSource(dir string, others ...string) (*source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		if info, serr := os.Stat(dir); serr == nil && !info.IsDir() {
			return nil, command.Usagef("%s is not a directory: specify the directory of the module", dir)
		}
		return nil, command.NotFoundf("directory %s does not exist", dir)
	}
	s := &source{root: root, name: dir}
	var hidden []string
	for _, other := range others {
		name, err := within(dir, other)
		if err != nil {
			_ = s.Close()
			return nil, err
		}
		if name != "" {
			hidden = append(hidden, name)
		}
	}
	s.fsys = pack.Without(root.FS(), hidden...)
	return s, nil
}

// within returns the slash-separated path of a file relative to a directory, or an empty string if the file is outside the
// directory.
func within(dir, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	root, err := resolved(dir)
	if err != nil {
		return "", err
	}
	full, err := resolved(file)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, full)
	switch {
	case err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)):
		return "", nil //nolint:nilerr // Then the file is outside of it.
	case rel == ".":
		return "", command.Usagef("-o %s is the directory of the module itself: use another path", file)
	}
	return filepath.ToSlash(rel), nil
}

// resolved returns the absolute path without symbolic links, as far as the path exists.
func resolved(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := full; ; at = filepath.Dir(at) {
		there, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(there, rest), nil
		}
		if at == filepath.Dir(at) {
			return full, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// define reads the module.yaml of a source, or detects the content of the directory. With --from and no directory on the command
// line (given is false), the source is empty unless there is a module.yaml.
func (c *creation) define(s *source, dir string, given bool) error {
	data, name, err := c.readDefinition(s, dir)
	if err != nil {
		return err
	}
	if data != nil {
		s.definition, err = definition.Parse(data)
		s.name = name
		return errors.Wrap(err, name)
	}
	if c.from != "" && !given {
		// The user did not ask to add the content of the working directory.
		s.definition, s.name = &definition.Definition{}, "--from "+c.from
		return nil
	}
	found, err := definition.Detect(s.fsys)
	if err != nil {
		return errors.Wrap(err, dir)
	}
	c.e.Sayf("%s is %s", dir, found.Kind)
	s.definition, s.warnings, s.found = found.Definition, found.Warnings, found
	return nil
}

// readDefinition reads the file of -f, or else the module.yaml of a source. It returns nil data if the source has none.
func (c *creation) readDefinition(s *source, dir string) (data []byte, name string, err error) {
	if c.file != "" {
		f, err := os.Open(c.file)
		if err != nil {
			return nil, "", command.WithCode(command.ExitUsage, errors.Wrap(err, "-f"))
		}
		defer f.Close()
		data, err := readBounded(f)
		return data, c.file, errors.Wrap(err, c.file)
	}
	name = filepath.Join(dir, definition.FileName)
	f, err := s.fsys.Open(definition.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", errors.Wrap(err, name)
	}
	defer f.Close()
	data, err = readBounded(f)
	return data, name, errors.Wrap(err, name)
}

// complete returns a usage error that names the missing flags, if the source has no module.yaml.
func (s *source) complete() error {
	if s.found == nil {
		return nil
	}
	var missing []string
	if s.definition.Name == "" {
		missing = append(missing, "--name, such as example.org/module/greeter")
	}
	if s.definition.Version == "" {
		missing = append(missing, "--version, such as 1.2.3")
	}
	if len(missing) == 0 {
		return nil
	}
	return command.Usagef("%s is %s without a module.yaml: set %s, or create a module.yaml with kymactl module init",
		s.name, s.found.Kind, strings.Join(missing, ", and "))
}

// readBounded reads up to maxDefinition bytes. The returned data is never nil.
func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDefinition))
	if data == nil {
		data = []byte{}
	}
	return data, err
}
