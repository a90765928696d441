// Package logs builds the logger of a command from --log-level and --log-format.
//
// Logs go to standard error, because standard output carries contract lines only. Text that came from outside (names
// of opponents, addresses) belongs in field values, never in the message: the console form prints messages as they are.
package logs

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// New returns a logger that writes to w.
//
// level is one of trace, debug, info, warn, error, fatal, panic, disabled; format is json or console, the latter
// coloured only if colour is set. An unknown level or format is an error that lists the known ones.
func New(w io.Writer, level, format string, colour bool) (zerolog.Logger, error) {
	l, err := zerolog.ParseLevel(strings.ToLower(level))
	if err != nil || level == "" {
		return zerolog.Nop(), fmt.Errorf("unknown --log-level %q: use trace, debug, info, warn, error or disabled", level)
	}
	switch format {
	case "json":
	case "console":
		w = zerolog.ConsoleWriter{Out: w, NoColor: !colour, TimeFormat: time.TimeOnly}
	default:
		return zerolog.Nop(), fmt.Errorf("unknown --log-format %q: use json or console", format)
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger(), nil
}
