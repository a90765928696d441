package gateway

import (
	"fmt"
	"os"
)

func defaultRoute() (Route, error) {
	b, err := os.ReadFile("/proc/net/route")
	if err != nil {
		return Route{}, fmt.Errorf("gateway: %w", err)
	}
	return parseProcRoute(string(b))
}
