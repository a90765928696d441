package doctor

import (
	"context"
	"os/exec"
	"time"

	"backstep/natpunch/gateway"
)

func systemMedium(r gateway.Route) Medium {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, "/usr/sbin/networksetup", "-listallhardwareports").Output()
	if err != nil {
		return UnknownMedium
	}
	return parsePorts(string(text), r.Interface)
}
