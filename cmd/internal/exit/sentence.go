package exit

import (
	"strings"
	"unicode"

	"backstep/natpunch/rendezvous"
)

// mostRunes is more than a failure has to tell.
const mostRunes = 1000

// Sentence is an error as one line for a terminal: parts of it may come from files and from the network. Several errors
// are joined by semicolons; control and format characters become question marks, stacked marks are cut.
func Sentence(err error) string {
	text := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '?'
		}
		return r
	}, strings.ReplaceAll(err.Error(), "\n", "; "))
	return rendezvous.CleanLine(text, mostRunes, 4*mostRunes)
}
