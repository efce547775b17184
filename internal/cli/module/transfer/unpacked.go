// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

const (
	// UnpackedFile is the name of the file in an unpacked module that lists the unpacked files. Commands that read directories
	// ignore it, because its name begins with a dot and has no extension of YAML or JSON.
	UnpackedFile = ".kymactl-unpacked"

	// unpackedVersion is the version of the format of this file.
	unpackedVersion = 1

	// maxUnpackedFile bounds this file, in bytes. It is enough for 50000 paths of maximum length.
	maxUnpackedFile = 256 << 20
)

// An unpackedList is the content of UnpackedFile.
type unpackedList struct {
	Version int    `json:"version"`
	Module  string `json:"module"` // Digest of the manifest of the module.
	// Files holds the digests of the unpacked files, by slash-separated path.
	Files map[string]string `json:"files"`
}

func newUnpackedList(module string) *unpackedList {
	return &unpackedList{Version: unpackedVersion, Module: module, Files: map[string]string{}}
}

func (l *unpackedList) add(name string, data []byte) { l.Files[name] = oci.DigestOf(data) }

// write writes the list to an unpacked module.
func (l *unpackedList) write(root *os.Root) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return writeIn(root, UnpackedFile, append(data, '\n'))
}

// checkUnpacked returns why a directory contains something other than the files that module unpack wrote, or "" if it contains only
// these, or is empty. Listed files may be missing.
func checkUnpacked(dir string) (reason string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	c := &unpackedCheck{root: root}
	err = fs.WalkDir(root.FS(), ".", c.visit)
	return c.reason, err
}

// An unpackedCheck compares a directory with its list.
type unpackedCheck struct {
	root *os.Root
	// files and directories hold what may be in the directory. They are nil until the list is read.
	files       map[string]string
	directories map[string]bool
	reason      string
}

// visit checks one entry. It implements fs.WalkDirFunc, and stops the walk at the first entry that was not unpacked.
func (c *unpackedCheck) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case name == ".":
		return nil
	case c.files == nil:
		// The walk has found the first entry, so there must be a list.
		if c.reason = c.read(); c.reason != "" {
			return fs.SkipAll
		}
	}
	if c.reason, err = c.compare(name, d); err != nil {
		return err
	}
	if c.reason != "" {
		return fs.SkipAll
	}
	return nil
}

// compare returns why an entry was not unpacked, or "".
func (c *unpackedCheck) compare(name string, d fs.DirEntry) (string, error) {
	want, listed := c.files[name]
	switch {
	case name == UnpackedFile && d.Type().IsRegular():
		return "", nil
	case d.IsDir() && c.directories[name]:
		return "", nil
	case d.IsDir() || !listed:
		return "contains " + name + ", which module unpack did not write", nil
	case !d.Type().IsRegular():
		return "contains " + name + ", which was a regular file and was replaced", nil
	}
	got, err := c.digest(name)
	if err != nil || got == want {
		return "", err
	}
	return "contains " + name + ", which was changed after it was unpacked", nil
}

func (c *unpackedCheck) digest(name string) (string, error) {
	f, err := c.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), err
}

// read reads the list, and returns why that is not possible.
func (c *unpackedCheck) read() string {
	l, err := readUnpackedList(c.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "contains something other than an unpacked module: the list of unpacked files, " + UnpackedFile + ", is missing"
	case err != nil:
		return "contains a list of unpacked files, " + UnpackedFile + ", that cannot be read (" + err.Error() + ")"
	}
	c.files, c.directories = map[string]string{}, map[string]bool{}
	for name, digest := range l.Files {
		c.files[name] = digest
		for dir := path.Dir(name); dir != "." && dir != "/" && !c.directories[dir]; dir = path.Dir(dir) {
			c.directories[dir] = true
		}
	}
	return ""
}

func readUnpackedList(root *os.Root) (*unpackedList, error) {
	info, err := root.Lstat(UnpackedFile)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxUnpackedFile:
		return nil, errors.New("the file is too large")
	}
	data, err := root.ReadFile(UnpackedFile)
	if err != nil {
		return nil, err
	}
	l := &unpackedList{}
	if json.Unmarshal(data, l) != nil {
		return nil, errors.New("not valid JSON")
	}
	if l.Version != unpackedVersion {
		return nil, errors.Errorf("unsupported version %d", l.Version)
	}
	return l, nil
}
