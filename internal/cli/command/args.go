// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// NoMaximum is the maximum number of arguments of a command that accepts any number.
const NoMaximum = -1

// Args returns a check of the number of arguments of a command: from least to most, which can be NoMaximum. The error
// contains the names of the arguments in the usage line of the command.
func Args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (len(args) <= most || most == NoMaximum) {
			return nil
		}
		got := strconv.Itoa(len(args))
		if len(args) == 0 {
			got = "none"
		}
		_, names, _ := strings.Cut(cmd.Use, " ")
		if names != "" {
			names = " (" + names + ")"
		}
		return errors.Errorf("expected %s%s, got %s", expected(least, most), names, got)
	}
}

// expected describes how many arguments a command accepts.
func expected(least, most int) string {
	switch {
	case most == 0:
		return "no arguments"
	case most == NoMaximum:
		return "at least " + arguments(least)
	case least == most:
		return arguments(most)
	case least == 0:
		return "at most " + arguments(most)
	}
	return fmt.Sprintf("%d to %s", least, arguments(most))
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
