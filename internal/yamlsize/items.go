// SPDX-License-Identifier: Apache-2.0

package yamlsize

import "github.com/crossplane/crossplane-runtime/v2/pkg/errors"

// members is the number of members of a JSON object that are not items, in addition to the first one. A struct in a list has about as
// many members, and so few members of a map take little more memory than the map itself.
const members = 12

// CheckItems returns an error if JSON has more than most items. Call it before decoding JSON into structs: an item can become a struct of
// hundreds of bytes, although it can be a single digit. Each list, each object and each element of a list is an item, and so is each
// further member of an object with more than 13 members, which can be a map. Texts have no items, whatever they contain.
//
// CheckItems takes time in proportion to the length of data. Invalid JSON can pass, because encoding/json refuses it before decoding it.
func CheckItems(data []byte, most int) error {
	// open contains the number of commas in each list and each object that is open. A list begins with those that an object has for free.
	items, open := 0, []int(nil)
	for i := 0; i < len(data) && items <= most; i++ {
		last := len(open) - 1
		switch data[i] {
		case '"':
			i += endOfText(data[i:])
		case '[':
			items, open = items+1, append(open, members)
		case '{':
			items, open = items+1, append(open, 0)
		case ']', '}':
			open = open[:max(last, 0)]
		case ',':
			if last < 0 {
				continue
			}
			if open[last]++; open[last] > members {
				items++
			}
		}
	}
	if items > most {
		return &limitError{errors.Errorf("JSON contains too many values: more than %d lists, objects and elements", most)}
	}
	return nil
}

// endOfText returns the index of the quote that ends a JSON text, or the length of data.
func endOfText(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(data)
}
