package rendezvous

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTextRunes and MaxTextBytes bound a text from the opponent after cleaning.
const (
	MaxTextRunes = 24
	MaxTextBytes = 96
)

// maxMarks is the most combining marks that may follow one another.
const maxMarks = 2

// CleanText makes a name of a stranger fit for a line of text; see [CleanLine].
func CleanText(s string) string { return CleanLine(s, MaxTextRunes, MaxTextBytes) }

// CleanLine makes what a stranger wrote fit for a line of text: it
// drops invalid UTF-8, control (Cc), format (Cf: bidirectional overrides,
// zero-width joiners), private-use (Co) and surrogate (Cs) characters, line and
// paragraph separators (Zl, Zp) and every combining mark after the second in a
// row, turns other white space into single spaces, trims, and cuts at the given number
// of runes or bytes. To clean twice changes nothing more. What comes out may still be
// any printable text: in logs it belongs into a field value, never the message.
func CleanLine(s string, maxRunes, maxBytes int) string {
	var out strings.Builder
	runes, marks, space := 0, 0, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r == utf8.RuneError && size <= 1 {
			continue
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) {
			continue
		}
		if unicode.Is(unicode.Zs, r) {
			space = out.Len() > 0
			continue
		}
		if unicode.Is(unicode.M, r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		need := utf8.RuneLen(r)
		count := 1
		if space {
			need++
			count++
		}
		if runes+count > maxRunes || out.Len()+need > maxBytes {
			break
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteRune(r)
		runes += count
	}
	return out.String()
}
