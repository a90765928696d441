package page

import "embed"

// web is what the browser gets: plain files, no build step.
//
//go:embed web
var web embed.FS
