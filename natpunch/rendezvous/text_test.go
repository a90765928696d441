package rendezvous

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCleanText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "Daigo", "Daigo"},
		{"other scripts", "梅原 Дайго", "梅原 Дайго"},
		{"trimmed", "  a   b\u00a0\u3000c  ", "a b c"},
		{"escape sequence", "\x1b[31mred\x07", "[31mred"},
		{"newline cannot start a second log line", "a\r\nlevel=error", "alevel=error"},
		{"bidirectional override", "abc\u202egnp", "abcgnp"},
		{"zero width", "a\u200b\u200d\ufeffb", "ab"},
		{"separators", "a\u2028b\u2029c", "abc"},
		{"private use", "a\ue000\U000f0000b", "ab"},
		{"invalid UTF-8", "a\xff\xc0\xafb", "ab"},
		{"replacement character itself is text", "a\ufffdb", "a\ufffdb"},
		{"surrogate", "a\xed\xa0\x80b", "ab"},
		{"two marks stay", "e\u0301\u0323", "e\u0301\u0323"},
		{"a tower of marks", "e\u0301\u0301\u0301\u0301x\u0301", "e\u0301\u0301x\u0301"},
		{"marks hidden behind spaces", "e\u0301\u0301 \u0301\u0301", "e\u0301\u0301"},
		{"24 runes", strings.Repeat("a", 30), strings.Repeat("a", 24)},
		{"96 bytes", strings.Repeat("𝒳", 30), strings.Repeat("𝒳", 24)},
		{"no space at the cut", strings.Repeat("a", 23) + " b", strings.Repeat("a", 23)},
		{"empty", "\u200b \n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CleanText(c.in); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("a\u202e b\u0301\u0301\u0301\xff\x1b[0m")
	f.Fuzz(func(t *testing.T, s string) {
		out := CleanText(s)
		if utf8.RuneCountInString(out) > MaxTextRunes || len(out) > MaxTextBytes || !utf8.ValidString(out) {
			t.Fatalf("%q is too long or not UTF-8", out)
		}
		marks := 0
		for _, r := range out {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) {
				t.Fatalf("%q holds %U", out, r)
			}
			if !unicode.Is(unicode.M, r) {
				marks = 0
			} else if marks++; marks > maxMarks {
				t.Fatalf("%q holds %d marks in a row", out, marks)
			}
		}
		if again := CleanText(out); again != out {
			t.Fatalf("%q cleans to %q", out, again)
		}
		line := CleanLine(s, 120, 400)
		if utf8.RuneCountInString(line) > 120 || len(line) > 400 || CleanLine(line, 120, 400) != line || CleanText(line) != out {
			t.Fatalf("%q is a line of %q", line, s)
		}
	})
}
