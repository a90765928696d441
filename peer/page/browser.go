package page

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// NoBrowser is the --browser value that opens nothing.
const NoBrowser = "none"

// ErrNoDisplay: there is no screen a browser could appear on.
var ErrNoDisplay = errors.New("there is no display here")

// OpenBrowser starts command with the address as its last argument, or what
// the system uses for addresses if command is empty. It does not wait for the
// browser. An error is a hint for the player, never a reason to stop.
func OpenBrowser(command, url string) error {
	if command == NoBrowser {
		return nil
	}
	args := strings.Fields(command)
	if len(args) == 0 {
		switch runtime.GOOS {
		case "windows":
			args = []string{"rundll32", "url.dll,FileProtocolHandler"}
		case "darwin":
			args = []string{"open"}
		default:
			if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
				return ErrNoDisplay
			}
			args = []string{"xdg-open"}
		}
	}
	cmd := exec.Command(args[0], append(args[1:], url)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	// Its end is its own business; waiting keeps it from becoming a zombie.
	go func() { _ = cmd.Wait() }()
	return nil
}
