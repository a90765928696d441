package peer

import (
	"backstep/natpunch"
	"backstep/natpunch/portmap"
)

// portMapper asks this machine's router for an outside port while a match lasts.
func (c *Config) portMapper() natpunch.PortMapper {
	if c.NoPortMap {
		return nil // not a nil *portmap.Keeper
	}
	return &portmap.Keeper{Log: c.Log}
}
